import HubCore
import HubServer
import Support
import Testing

@testable import HubCLI

/// `hub chat` that a provider answers, once.
@Suite struct ChatRemoteTests {
    private static let keys =
        "model provider text reasoning finish_reason usage tool_calls ttft_seconds tokens_per_second conversation"

    @Test func theTextIsAllThatGoesToAPipe() async throws {
        let stage = try RemoteStage()
        for mode in [[], ["-q"]] {
            let result = try await stage.stage.run(
                ["chat", RemoteStage.chat, "Hello", "there", "--provider", "hf"] + mode, with: stage.variables)
            #expect(result.status == 0 && result.error.isEmpty)
            #expect(result.output == "You said: Hello there 🙂\n")
        }
        let sent = try #require(stage.calls.last)
        #expect(sent.path == "/v1/chat/completions" && sent.json["model"]?.string == RemoteStage.chat)
        #expect(sent.headers["Authorization"] == "Bearer \(RemoteStage.token)")
    }

    @Test func theDocumentOfTheContract() async throws {
        let stage = try RemoteStage()
        let document = try await stage.run(
            "chat", "-m", "\(RemoteStage.chat):together", "Hello", "you", "--json", "--system", "Be brief.",
            "--provider", "hf"
        ).document()
        document.expectKeys(Self.keys)
        #expect(document["model"]?.string == RemoteStage.chat && document["provider"]?.string == "hf:together")
        #expect(document["text"]?.string == "You said: Hello you 🙂" && document["finish_reason"]?.string == "stop")
        let usage = try #require(document["usage"]?.object)
        usage.expectKeys("prompt_tokens completion_tokens cached_tokens")
        #expect(usage["prompt_tokens"]?.int == 7 && usage["completion_tokens"]?.int == 3)
        #expect(document["tool_calls"]?.array?.isEmpty == true && document["ttft_seconds"]?.double != nil)
        let sent = try #require(stage.calls.last).json
        #expect(sent["model"]?.string == "\(RemoteStage.chat):together")
        #expect(sent["messages"]?.array?.first?["content"]?.string == "Be brief.")
    }

    @Test func aProviderOfTheFlagIsThatOfTheSuffix() async throws {
        let stage = try RemoteStage()
        let document = try await stage.run("chat", RemoteStage.chat, "Hi", "--provider", "hf:together", "--json")
            .document()
        #expect(document["provider"]?.string == "hf:together")
        #expect(stage.calls.last?.json["model"]?.string == "\(RemoteStage.chat):together")
        let both = try await stage.run("chat", "\(RemoteStage.chat):groq", "Hi", "--provider", "hf:together")
        #expect(both.status == 2 && both.error.contains("names groq, and --provider names together"))
    }

    /// Where the router chose, its answer says whom.
    @Test func whoWasChosenIsTold() async throws {
        let stage = try RemoteStage.chatting { _ in
            .events(
                [.text("data: \(piece("Hi", reason: "stop"))\n\ndata: [DONE]\n\n")],
                headers: [("x-inference-provider", "groq")])
        }
        let document = try await stage.run("chat", RemoteStage.chat, "Hi", "--provider", "hf", "--json").document()
        #expect(document["provider"]?.string == "hf:groq")
    }

    /// Each of the three ways to write a server's address, and no token of the Hub.
    @Test(arguments: ["", "/v1", "/v1/chat/completions"])
    func aServerIsAskedWithItsOwnKeyAlone(_ path: String) async throws {
        let stage = try RemoteStage()
        let address = stage.server.address
        let document = try await stage.run(
            "chat", "--provider", address + path, "some model", "Hi", "--json",
            with: ["HUB_PROVIDER_KEY": "own-key-1"]
        ).document()
        #expect(document["provider"]?.string == address && document["model"]?.string == "some model")
        #expect(document["text"]?.string == "You said: Hi 🙂")
        #expect(stage.server.requests.map(\.path) == ["/v1/chat/completions"])
        #expect(stage.calls[0].headers["Authorization"] == "Bearer own-key-1")
        _ = try await stage.run("chat", "--provider", address + path, "m", "Hi")
        #expect(stage.calls.count == 2 && stage.calls[1].headers["Authorization"] == nil)
    }

    @Test func aPipeIsThePrompt() async throws {
        let stage = try RemoteStage()
        let piped = try await stage.run("chat", "--provider", "hf", RemoteStage.chat, input: "From a\npipe\n\n")
        #expect(piped.output == "You said: From a\npipe 🙂\n")
        let dash = try await stage.run("chat", "--provider", "hf", RemoteStage.chat, "-", input: "Dash")
        #expect(dash.output == "You said: Dash 🙂\n")
        let empty = try await stage.run("chat", "--provider", "hf", RemoteStage.chat, input: " \n")
        #expect(empty.status == 2 && empty.error.contains("stdin has no text"))
        let both = try await stage.run(
            "chat", "--provider", "hf", "-m", RemoteStage.chat, "Write", "a", "message", input: "+ a line\n")
        #expect(both.output == "You said: Write a message\n\n+ a line 🙂\n")
        #expect(stage.calls.count == 3)
    }

    /// The reader of a pipe has a piece before the next one is sent.
    @Test func textComesAsItIsSent() async throws {
        let gate = Gate()
        let stage = try RemoteStage.chatting { _ in
            .events([
                .text("data: \(piece("First "))\n\n"), .wait(gate),
                .text("data: \(piece("second", reason: "stop"))\n\ndata: [DONE]\n\n"),
            ])
        }
        let process = try stage.stage.start(
            "chat", RemoteStage.chat, "Hi", "--provider", "hf", with: stage.variables)
        try await process.wait(forText: "First ")
        gate.release()
        #expect(try await process.wait().output == "First second\n")
    }

    @Test func whatIsReasonedIsApart() async throws {
        let stage = try RemoteStage.chatting { _ in
            .chunks([thought("Hm. "), thought("Well."), piece("Yes", reason: "stop")])
        }
        let words = ["chat", RemoteStage.chat, "Hi", "--provider", "hf"]
        let piped = try await stage.stage.run(words, with: stage.variables)
        #expect(piped.output == "Yes\n")
        let document = try await stage.stage.run(words + ["--json"], with: stage.variables).document()
        #expect(document["reasoning"]?.string == "Hm. Well." && document["text"]?.string == "Yes")
        // It counts while it comes, and leaves one line.
        let folded = try await stage.stage.run(
            words + ["--color", "always"], with: stage.variables, terminal: .init())
        #expect(Screen(folded.terminal, columns: 80).text == "reasoning: 1 line\n\nYes")
        #expect(folded.terminal.contains("\u{1B}[2mreasoning: 1 line"))
        let plain = try await stage.stage.run(
            words + ["--color", "never"], with: stage.variables, terminal: .init())
        #expect(plain.terminal == "reasoning: 1 line\r\n\r\nYes\r\n")
        let shown = try await stage.stage.run(
            words + ["--color", "always", "--verbose"], with: stage.variables, terminal: .init())
        #expect(shown.terminal.contains("\u{1B}[2mHm. \u{1B}[0m\u{1B}[2mWell.\u{1B}[0m\r\n\r\nYes\r\n"))
    }

    @Test func anAnswerThatWasCutByTheLimitSaysSo() async throws {
        let stage = try RemoteStage.chatting { _ in .chunks([piece("Half", reason: "length")]) }
        let result = try await stage.run("chat", RemoteStage.chat, "Hi", "--provider", "hf", "--max-tokens", "1")
        #expect(result.status == 0 && result.output == "Half\n")
        #expect(result.error == "hub: the answer was cut: it reached --max-tokens, or the provider's limit\n")
        #expect(stage.calls[0].json["max_tokens"]?.int == 1)
        let odd = try RemoteStage.chatting { _ in .chunks([piece("A", reason: "made_up")]) }
        let document = try await odd.run("chat", RemoteStage.chat, "Hi", "--provider", "hf", "--json").document()
        #expect(document["finish_reason"]?.string == "made_up")
    }

    // MARK: What breaks

    /// A stream that ends early, and an error in the middle of one.
    @Test(arguments: ["", #"data: {"error":{"message":"out of luck"}}\#n\#ndata: [DONE]\#n\#n"#])
    func aBrokenStreamGivesWhatCameAndTheError(_ end: String) async throws {
        let stage = try RemoteStage.chatting { _ in .events("data: \(piece("Half an ans"))\n\n" + end) }
        let words = ["chat", RemoteStage.chat, "Hi", "--provider", "hf"]
        let human = try await stage.stage.run(words, with: stage.variables)
        #expect(human.status == 5 && human.output == "Half an ans\n" && human.error.hasPrefix("hub: "))
        if !end.isEmpty { #expect(human.error.contains("out of luck")) }
        let result = try await stage.stage.run(words + ["--json"], with: stage.variables)
        #expect(result.status == 5)
        let document = try result.document()
        document.expectKeys("model provider text error")
        #expect(document["text"]?.string == "Half an ans" && document["provider"]?.string == "hf")
        #expect(try !result.errorCode().isEmpty)
    }

    @Test(arguments: [
        (401, "unauthorized", Int32(4)), (402, "payment_required", 4), (403, "forbidden", 4),
        (404, "model_not_served", 3), (410, "model_retired", 3), (400, "request_rejected", 5),
        (422, "request_rejected", 5), (500, "server_error", 5), (503, "service_unavailable", 5),
    ])
    func aRefusalHasItsExitStatus(_ status: Int, _ code: String, _ exit: Int32) async throws {
        let stage = try RemoteStage.chatting { _ in .json(#"{"error":"no: \#(status)"}"#, status: status) }
        let result = try await stage.run("chat", RemoteStage.chat, "Hi", "--provider", "hf", "--json")
        #expect(try result.status == exit && result.errorCode() == code)
        #expect(try result.document()["text"] == nil)
        #expect(stage.calls.count == 1)
    }

    @Test func aModelThatNobodyServesIsNotFound() async throws {
        let stage = try RemoteStage.chatting { _ in
            .json(
                #"{"error":{"message":"The requested model 'org/none' is not supported by any provider you have enabled.","code":"model_not_supported"}}"#,
                status: 400)
        }
        let result = try await stage.run("chat", "org/none", "Hi", "--provider", "hf", "--json")
        #expect(try result.status == 3 && result.errorCode() == "model_not_served")
        let unknown = try await stage.run("embed", "org/none", "Hi", "--provider", "hf", "--json")
        #expect(try unknown.status == 3 && unknown.errorCode() == "repository_not_found")
    }

    @Test func withoutANetworkNothingIsSent() async throws {
        let stage = try RemoteStage()
        for provider in ["hf", "auto", stage.server.address] {
            let result = try await stage.run(
                "chat", RemoteStage.chat, "Hi", "--provider", provider, "--offline", "--json")
            #expect(try result.status == 5 && result.errorCode() == "offline", "\(provider)")
        }
        #expect(stage.server.requests.isEmpty)
    }

    @Test func theTimeIsABudget() async throws {
        let stage = try RemoteStage.chatting { _ in .events([.text("data: \(piece("Half"))\n\n"), .silence]) }
        let result = try await stage.run(
            "chat", RemoteStage.chat, "Hi", "--provider", "hf", "--timeout", "0.5", "--json")
        #expect(try result.status == 5 && result.errorCode() == "timed_out")
        #expect(try result.document()["text"]?.string == "Half")
        try await stage.server.abandoned()
    }

    @Test func anInterruptionClosesTheConnection() async throws {
        let stage = try RemoteStage.chatting { _ in .events([.text("data: \(piece("Half"))\n\n"), .silence]) }
        let process = try stage.stage.start(
            "chat", RemoteStage.chat, "Hi", "--provider", "hf", with: stage.variables)
        try await process.wait(forText: "Half")
        process.send(2)
        #expect(try await process.wait().status == 130)
        try await stage.server.abandoned()
    }
}
