import HubCore
import Support
import Testing

@testable import HubCLI

/// `hub chat --web`.
@Suite struct ChatWebTests {
    /// A model that calls a tool once, and then says what it was told.
    private func stage(_ name: String, _ arguments: String) throws -> RemoteStage {
        try RemoteStage { request in
            if request.path == "/search" {
                return .json(#"{"results":[{"url":"http://found.example/","title":"Found","content":"words"}]}"#)
            }
            guard request.path.hasSuffix("/chat/completions") else { return nil }
            let last = request.json["messages"]?.array?.last
            if last?["role"]?.string == "tool" {
                return .chunks([piece("Told: \(last?["content"]?.string ?? "")", reason: "stop")])
            }
            let call = JSON.object(["name": .string(name), "arguments": .string(arguments)]).text()
            return .chunks([
                #"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","type":"function","function":\#(call)}]}}]}"#,
                #"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
            ])
        }
    }

    private func ask(_ stage: RemoteStage, _ prompt: String = "Hi", _ flags: [String] = ["--web"]) async throws
        -> ProcessResult
    {
        try await stage.stage.run(
            ["chat", RemoteStage.chat, prompt, "--provider", "hf"] + flags,
            with: stage.variables.merging(["HUB_SEARXNG_URL": stage.server.address]) { $1 })
    }

    @Test func theModelSearchesAndEachCallIsShown() async throws {
        let stage = try stage("web_search", #"{"query":"the sea"}"#)
        let result = try await ask(stage)
        #expect(result.status == 0 && result.output.contains("1. Found\n   http://found.example/\n   words"))
        #expect(result.error.contains(#"the model calls web_search {"query":"the sea"}"#))
        let tools = stage.calls.first?.json["tools"]?.array ?? []
        #expect(tools.compactMap { $0["function"]?["name"]?.string } == ["web_search", "read_page"])
    }

    /// Off by default.
    @Test func withoutTheFlagThereIsNoWeb() async throws {
        let stage = try RemoteStage()
        _ = try await ask(stage, "Hi", [])
        #expect(stage.calls.first?.json["tools"] == nil)
    }

    @Test func machinesOfThisNetworkAreNotAsked() async throws {
        for address in ["http://127.0.0.1:1/", "http://localhost/", "http://[::1]/", "http://169.254.169.254/"] {
            let stage = try stage("read_page", JSON.object(["address": .string(address)]).text())
            let result = try await ask(stage, "Read \(address)")
            #expect(result.output.contains("which is not an address of the public Internet"), "\(result.output)")
            let unnamed = try await ask(stage, "Read it")
            #expect(unnamed.output.contains("neither the user nor a search named"))
        }
    }

    /// The model chooses the words of a search: they could be those of a file.
    @Test(arguments: [["--attach"], ["--with"], []])
    func aSearchNeedsAYesWhereFilesAre(flag: [String]) async throws {
        let folder = try TemporaryFolder("files")
        let file = try folder.write("notes.txt", Array("the sea".utf8))
        for isAllowed in [false, true] {
            let stage = try stage("web_search", #"{"query":"the sea"}"#)
            let words = flag.flatMap { [$0, file] } + ["--web", "--yes"]
            let result = try await stage.stage.run(
                ["chat", RemoteStage.chat, "Hi", "--provider", "hf"] + words
                    + (isAllowed ? ["--allow-tool", "web_search"] : []),
                with: stage.variables.merging(["HUB_SEARXNG_URL": stage.server.address]) { $1 },
                // Without a file, something from a pipe.
                input: flag.isEmpty ? "the sea" : "")
            let isSearched = stage.server.requests.contains { $0.path == "/search" }
            #expect(result.status == 0 && isSearched == isAllowed, "\(result.error)")
            #expect(result.output.contains("nobody is there to allow it") != isAllowed)
        }
    }

    /// A page that comes through a pipe is not a person.
    @Test func aTextFromAPipeNamesNoPages() async throws {
        let address = "http://127.0.0.1:1/"
        let stage = try stage("read_page", JSON.object(["address": .string(address)]).text())
        let result = try await stage.run(
            "chat", RemoteStage.chat, "Sum up", "--provider", "hf", "--web", input: "See \(address) for more.")
        #expect(result.status == 0 && result.output.contains("neither the user nor a search named"))
        let named = try await stage.run(
            "chat", RemoteStage.chat, "Sum up \(address)", "--provider", "hf", "--web", input: "text")
        #expect(named.output.contains("which is not an address of the public Internet"))
    }

    @Test func withoutASearchEngineItIsSaid() async throws {
        let stage = try RemoteStage()
        let words = ["chat", RemoteStage.chat, "Hi", "--provider", "hf", "--web"]
        let result = try await stage.stage.run(words, with: stage.variables)
        #expect(result.status == 0 && result.error.contains("HUB_SEARXNG_URL is not set"))
        let wrong = try await stage.stage.run(
            words, with: stage.variables.merging(["HUB_SEARXNG_URL": "nowhere"]) { $1 })
        #expect(wrong.status == 2 && wrong.error.contains("HUB_SEARXNG_URL: "))
    }
}
