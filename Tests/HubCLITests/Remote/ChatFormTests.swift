import HubCore
import HubGrammar
import Support
import Testing

@testable import HubCLI

/// `hub chat --schema`, `--grammar` and `--regex`.
@Suite struct ChatFormTests {
    private static let flags = ["--temperature", "1.5", "--top-p", "1", "--seed", "4"]

    private static func local(_ words: [String], _ folder: TemporaryFolder) async throws -> ProcessResult {
        let stage = try RemoteStage()
        let model = try Fixtures.path("tiny-shakespeare")
        return try await stage.stage.run(["chat", model, "Who?"] + words + flags, with: stage.variables)
    }

    private static func file(_ text: String, _ name: String = "schema.json") throws -> (TemporaryFolder, String) {
        let folder = try TemporaryFolder()
        try folder.write(name, Array(text.utf8))
        return (folder, Path.join(folder.path, name))
    }

    @Test func aLocalAnswerFitsItsSchema() async throws {
        let (folder, file) = try Self.file(
            #"{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":30},"s":{"enum":["x","y"]}},"required":["n","s"]}"#
        )
        let document = try await Self.local(["--schema", file, "--json"], folder).document()
        let value = try #require(document["value"])
        #expect(
            value["n"]?.int.map { (1...30).contains($0) } == true && ["x", "y"].contains(value["s"]?.string ?? ""))
        #expect(
            try JSON.parse(document["text"]?.string ?? "") == value && document["finish_reason"]?.string == "stop")
        let plain = try await Self.local(["--schema", file], folder)
        #expect(plain.status == 0 && plain.error.isEmpty)
        #expect(try JSON.parse(plain.output) == value)
    }

    @Test func anAnswerThatIsCutSaysSo() async throws {
        let (folder, file) = try Self.file(#"{"type":"string","minLength":400}"#)
        let result = try await Self.local(["--schema", file, "--json", "--max-tokens", "5"], folder)
        #expect(result.status == 7 && result.error.contains("cut before it was complete"))
        let document = try JSON.parse(result.output)
        #expect(document["finish_reason"]?.string == "length" && document["value"] == nil)
        #expect(document["text"]?.string?.hasPrefix("\"") == true)
    }

    @Test func expressionsAndGrammars() async throws {
        let (folder, file) = try Self.file("root ::= (\"ja\" | \"nein\") \"!\"{1,2}\n", "form.gbnf")
        let grammar = try await Self.local(["--grammar", file], folder)
        #expect(["ja!", "ja!!", "nein!", "nein!!"].contains(grammar.output.trimming("\n")) && grammar.status == 0)
        let regex = try await Self.local(["--regex", "[0-9]{3}-[a-c]", "--json"], folder).document()
        #expect(try OutputGrammar(regularExpression: "[0-9]{3}-[a-c]").allows(regex["text"]?.string ?? ""))
        #expect(regex["value"] == nil)
    }

    /// Before a model is opened or asked: the model does not even exist.
    @Test(arguments: [
        (["--schema"], #"{"properties":{"a":{"not":{}}}}"#, "/properties/a/not: the keyword \"not\""),
        (["--schema"], #"{"type":"#, "not JSON"),
        (
            ["--schema"], #"{"properties":{"a":{"oneOf":[]}}}"#,
            "/properties/a/oneOf: \"oneOf\" must be a list with a schema"
        ),
        (["--grammar"], "root ::= x", "line 1: there is no rule x"),
    ])
    func whatIsNotSupportedIsRefusedFirst(flag: [String], text: String, message: String) async throws {
        let (folder, file) = try Self.file(text)
        for provider in [[], ["--provider", "http://127.0.0.1:9"]] {
            let stage = try RemoteStage()
            let result = try await stage.stage.run(
                ["chat", "./no-such-model", "Hi"] + flag + [file] + provider, with: stage.variables)
            #expect(result.status == 2 && result.error.contains(message), "\(result.error)")
            #expect(stage.server.requests.isEmpty)
        }
        _ = folder
    }

    @Test func wrongFlagsAreRefused() async throws {
        let stage = try RemoteStage()
        let (folder, file) = try Self.file("true")
        #expect(try await stage.run("chat", "m", "Hi", "--schema", file, "--regex", "a").status == 2)
        #expect(try await stage.run("chat", "m", "Hi", "--schema", file, "--tool", file).status == 2)
        #expect(try await stage.run("chat", "m", "Hi", "--regex", "a(?=b)").error.contains("lookaround"))
        #expect(try await stage.run("chat", "m", "Hi", "--schema", file + "x").status == 3)
        let remote = try await stage.run(
            "chat", RemoteStage.chat, "Hi", "--provider", stage.server.address, "--regex", "a")
        #expect(remote.status == 2 && remote.error.contains("regular expression") && stage.calls.isEmpty)
        _ = folder
    }

    @Test func aRemoteAnswerIsHeldAgainstItsSchema() async throws {
        let (folder, file) = try Self.file(#"{"type":"object","properties":{"a":{"type":"integer"}}}"#)
        for (answer, status) in [(#"{\"a\":  3}"#, Int32(0)), (#"{\"a\":\"x\"}"#, 7), ("no", 7)] {
            let stage = try RemoteStage.chatting { _ in
                .events([
                    .text(
                        #"data: {"choices":[{"index":0,"delta":{"content":"\#(answer)"},"finish_reason":"stop"}]}"#
                            + "\n\ndata: [DONE]\n\n")
                ])
            }
            let result = try await stage.run(
                "chat", "m", "Hi", "--provider", stage.server.address, "--schema", file, "--json")
            #expect(result.status == status, "\(result.error)")
            #expect(stage.calls.last?.json["response_format"]?["type"]?.string == "json_schema")
            #expect((try JSON.parse(result.output)["value"] != nil) == (status == 0))
        }
        _ = folder
    }
}

extension String {
    fileprivate func trimming(_ end: Character) -> String { last == end ? String(dropLast()) : self }
}
