import HubChatTemplates
import HubCore
import InferenceKit
import Support
import Testing

@testable import RemoteKit

/// Traps 1 to 13 of streams: what providers really send.
@Suite struct ChatStreamTests {
    private func result(_ events: String) async throws -> GenerationResult {
        try await RemotePlace { _ in .events(events) }.answer()
    }

    private func chunks(_ documents: [String], done: Bool = true) async throws -> GenerationResult {
        try await RemotePlace { _ in .chunks(documents, done: done) }.answer()
    }

    // MARK: Trap 1

    @Test(arguments: [
        "data:[DONE]\n\n", "data: [DONE] \n\n", "data: [DONE]", "data: [DONE]\n", "data: [DONE] {}\n\n",
    ])
    func theMarkOfTheEndIsKnownInEverySpelling(_ end: String) async throws {
        let result = try await result("data: \(said("Hi"))\n\n\(end)")
        #expect(result.text == "Hi" && result.finishReason == .stop)
    }

    // MARK: Traps 2 and 3

    @Test(arguments: ["\n", "\r\n", "\r"])
    func lineEndsAndCutsOfWritesChangeNothing(_ end: String) async throws {
        let text = ["Grüße ", "🙂👩‍👩‍👧", " end"]
        let events = text.map { "data: \(said($0))\(end)\(end)" }.joined() + "data: [DONE]\(end)\(end)"
        let bytes = Array(events.utf8)
        #expect(try await result(events).text == text.joined())
        let single = try RemotePlace { _ in .events(bytes.map { .send([$0]) }) }
        #expect(try await single.answer().text == text.joined())
    }

    // MARK: Traps 4 and 5

    @Test func commentsNamesAndTheMarkOfTheByteOrderAreIgnored() async throws {
        let result = try await result(
            "\u{FEFF}: ping\n\nevent: message\nid: 1\nretry: 5\ndata: \(said("Hi"))\n\n: ping\n\ndata: [DONE]\n\n")
        #expect(result.text == "Hi")
    }

    @Test func aDocumentOverTwoLinesIsOne() async throws {
        let result = try await result(
            "data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n")
        #expect(result.text == "Hi")
    }

    // MARK: Trap 6

    @Test func anEndBeforeTheEndIsAnErrorWithTheTextSoFar() async throws {
        let error = await fault { try await chunks([said("Half an "), said("ans")], done: false) }
        #expect(error?.code == .streamInterrupted && error?.exitStatus == 5)
        #expect(error?.partialResult?.text == "Half an ans")
    }

    @Test func aResetBeforeTheEndIsAnErrorWithTheTextSoFar() async throws {
        let gate = Gate()
        let place = try RemotePlace { _ in
            .init(
                headers: [("Content-Type", "text/event-stream"), ("Content-Length", "10000")],
                steps: [.text("data: \(said("Half"))\n\n"), .wait(gate), .reset])
        }
        var text = ""
        let error = await fault {
            for try await chunk in try await place.compatible().stream(messages: [.user("x")], config: .default) {
                text += chunk.text
                gate.release()
            }
        }
        #expect(text == "Half")
        #expect(error?.code == .streamInterrupted && error?.partialResult?.text == "Half")
        #expect(place.server.requests.count == 1)
    }

    /// What came in the same packet as the error is out before it.
    @Test func whatCameWithTheErrorIsReadBeforeIt() async throws {
        let place = try RemotePlace { _ in .events("data: \(said("Half"))\n\ndata: {\"error\":\"no luck\"}\n\n") }
        var text = ""
        let error = await fault {
            for try await chunk in try await place.compatible().stream(messages: [.user("x")], config: .default) {
                text += chunk.text
            }
        }
        #expect(text == "Half" && error?.partialResult?.text == "Half")
    }

    @Test func anEndAfterTheReasonIsTheEnd() async throws {
        let result = try await chunks([said("Whole"), delta("", reason: "length")], done: false)
        #expect(result.text == "Whole" && result.finishReason == .length)
    }

    @Test(arguments: ["", "data: [DONE]\n\n", ": ping\n\n"])
    func aStreamWithoutAnAnswerIsAnError(_ events: String) async throws {
        let error = await fault { try await result(events) }
        #expect(error?.code == .streamInterrupted && error?.partialResult == nil)
    }

    // MARK: Trap 7

    @Test(
        arguments: [
            (#"{"error":"Input is too long","error_type":"validation"}"#, "Input is too long", .streamInterrupted),
            (
                #"{"error":{"message":"tokenizer says no","http_status_code":422}}"#, "tokenizer says no",
                .requestRejected
            ),
            (
                #"{"error":{"message":"slow down","type":"tokens","code":"rate_limit_exceeded"}}"#, "slow down",
                .streamInterrupted
            ),
            (#"{"error":{"message":"credits","code":402}}"#, "credits", .paymentRequired),
            (#"{"error":["one","two"]}"#, "one; two", .streamInterrupted),
        ] as [(String, String, ErrorCode)])
    func anErrorInTheMiddleIsAFailureWithItsWords(_ event: String, _ words: String, _ code: ErrorCode) async throws
    {
        let error = await fault { try await chunks([said("So far"), event]) }
        #expect(error?.message.contains(words) == true && error?.code == code)
        #expect(error?.partialResult?.text == "So far")
    }

    @Test func anEventNamedErrorIsAnError() async throws {
        let error = await fault { try await result("event: error\ndata: {\"message\":\"down\"}\n\n") }
        #expect(error?.code == .streamInterrupted && error?.message.contains("down") == true)
    }

    @Test func anEventThatIsNotJSONIsAnError() async throws {
        let error = await fault { try await result("data: \(said("a"))\n\ndata: {oops\n\n") }
        #expect(error?.code == .protocolViolation && error?.partialResult?.text == "a")
    }

    // MARK: Traps 8 and 9

    @Test(
        arguments: [
            [
                said("Hi"), delta("", reason: "stop"),
                #"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}"#,
            ],
            [said("Hi"), delta("", reason: "stop", usage: #"{"prompt_tokens":5,"completion_tokens":2}"#)],
            [
                delta(#""content":"Hi""#, usage: "null"),
                delta("", reason: "stop", usage: #"{"prompt_tokens":5,"completion_tokens":1}"#),
                #"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}"#,
            ],
            [said("Hi"), #"{"choices":[],"x_groq":{"usage":{"prompt_tokens":5,"completion_tokens":2}}}"#],
        ])
    func usageIsCountedOnce(_ documents: [String]) async throws {
        let usage = try await chunks(documents).usage
        #expect(usage == TokenUsage(promptTokens: 5, completionTokens: 2))
    }

    @Test func rolesAndNullsPrintNothing() async throws {
        let documents = [
            delta(#""role":"assistant","content":null"#), delta(#""role":"","content":"""#),
            delta(#""content":"a""#),
            delta(#""role":"assistant","content":"b""#), delta("", reason: "stop"),
        ]
        let place = try RemotePlace { _ in .chunks(documents) }
        var pieces: [String] = []
        for try await chunk in try await place.compatible().stream(messages: [.user("x")], config: .default) {
            pieces.append(chunk.text)
        }
        #expect(pieces == ["a", "b", ""])
    }

    // MARK: Trap 10

    private static let weather = GeneratedToolCall(id: "c1", name: "weather", arguments: #"{"city":"Bonn"}"#)
    private static let clock = GeneratedToolCall(id: "c2", name: "clock", arguments: #"{"zone":"CET"}"#)

    @Test(
        arguments: [
            // Two calls, their fragments interleaved.
            [
                #"[{"index":0,"id":"c1","type":"function","function":{"name":"weather","arguments":""}}]"#,
                #"[{"index":1,"id":"c2","function":{"name":"clock","arguments":"{\"zone\""}}]"#,
                #"[{"index":0,"function":{"name":null,"arguments":"{\"city\":\"Bo"}}]"#,
                #"[{"index":1,"id":"","function":{"arguments":":\"CET\"}"}},{"index":0,"id":"c1","function":{"name":"weather","arguments":"nn\"}"}}]"#,
            ],
            // No index; the id comes once.
            [
                #"[{"id":"c1","function":{"name":"weather","arguments":"{\"city\":"}}]"#,
                #"[{"function":{"arguments":"\"Bonn\"}"}}]"#,
                #"[{"id":"c2","function":{"name":"clock","arguments":null}}]"#,
                #"[{"function":{"name":"","arguments":"{\"zone\":\"CET\"}"}}]"#,
            ],
            // Whole calls at once, all with index 0.
            [
                #"[{"index":0,"id":"c1","function":{"name":"weather","arguments":"{\"city\":\"Bonn\"}"}}]"#,
                #"[{"index":0,"id":"c2","function":{"name":"clock","arguments":{"zone":"CET"}}}]"#,
            ],
        ])
    func toolCallsAreJoined(_ fragments: [String]) async throws {
        let result = try await chunks(
            fragments.map { delta("\"tool_calls\":\($0)") } + [delta("", reason: "tool_calls")])
        #expect(result.toolCalls == [Self.weather, Self.clock] && result.finishReason == .toolCalls)
        #expect(try result.toolCalls[0].parsed().arguments == ["city": "Bonn"])
    }

    /// No ids: the one before is whole, and another name or its own again begins the next.
    @Test(arguments: ["\"index\":0,", ""])
    func wholeCallsWithoutIdsAreSeveral(_ index: String) async throws {
        func call(_ city: String) -> String {
            delta(
                #""tool_calls":[{\#(index)"id":"","function":{"name":"weather","arguments":"{\"city\":\"\#(city)\"}"}}]"#
            )
        }
        let result = try await chunks([call("Bonn"), call("Köln"), delta("", reason: "tool_calls")])
        #expect(result.toolCalls.map(\.arguments) == [#"{"city":"Bonn"}"#, #"{"city":"Köln"}"#])
    }

    @Test func aToolCallWithoutANameIsAnErrorAndBadArgumentsAreTheModels() async throws {
        let error = await fault {
            try await chunks([delta(#""tool_calls":[{"index":0,"function":{"arguments":"{}"}}]"#)])
        }
        #expect(error?.code == .protocolViolation)
        let result = try await chunks([
            delta(#""tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{oops"}}]"#)
        ])
        let call = try #require(result.toolCalls.first)
        #expect(throws: AIError.self) { try call.parsed() }
    }

    // MARK: Traps 11 and 12

    @Test(arguments: ["eos_token", "stop_sequence", "function_call", "content_filter", "something_new"])
    func aReasonPassesThrough(_ reason: String) async throws {
        let result = try await chunks([said("Hi"), delta("", reason: reason)])
        #expect(result.finishReason.rawValue == reason)
    }

    @Test(arguments: ["reasoning", "reasoning_content", "reasoning_text"])
    func reasoningIsKeptApart(_ name: String) async throws {
        let result = try await chunks([
            delta("\"\(name)\":\"Let me \""), delta("\"\(name)\":\"think.\",\"content\":null"), said("Four."),
        ])
        #expect(result.reasoning == "Let me think." && result.text == "Four.")
    }

    @Test func reasoningUnderTwoNamesIsTakenOnce() async throws {
        let result = try await chunks([delta(#""reasoning":"Hm","reasoning_content":"Hm""#), said("A")])
        #expect(result.reasoning == "Hm")
    }

    // MARK: Trap 13

    @Test(arguments: ["application/json", "application/json; charset=utf-8", "text/plain", ""])
    func anAnswerInOnePieceIsTaken(_ type: String) async throws {
        let body =
            #"{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#
        let place = try RemotePlace { _ in .bytes(Array(body.utf8), type: type.isEmpty ? nil : type) }
        let result = try await place.answer()
        #expect(result.text == "Hi" && result.usage?.totalTokens == 2)
    }

    @Test func aStreamUnderAnotherTypeIsTaken() async throws {
        let place = try RemotePlace { _ in
            .bytes(Array("data: \(said("Hi"))\n\ndata: [DONE]\n\n".utf8), type: "text/plain")
        }
        #expect(try await place.answer().text == "Hi")
    }

    @Test func aWebPageIsAClearError() async throws {
        let place = try RemotePlace { _ in .html("<html><title>Sign in</title></html>") }
        let error = await fault { try await place.answer() }
        #expect(error?.code == .protocolViolation && error?.message.contains("web page") == true)
    }

    @Test func anErrorWithStatus200IsAnError() async throws {
        let place = try RemotePlace { _ in .json(#"{"error":{"message":"no capacity"}}"#) }
        let error = await fault { try await place.answer() }
        #expect(error?.message.contains("no capacity") == true)
    }

    // MARK: More than the traps

    @Test func aRefusalIsAnErrorWithItsWords() async throws {
        let error = await fault {
            try await chunks([delta(#""refusal":"I cannot help"# + #" with that""#), delta("", reason: "stop")])
        }
        #expect(error?.code == .requestRejected && error?.message.contains("I cannot help with that") == true)
        #expect(error?.exitStatus == 5)
    }

    @Test func logProbabilitiesComeWithEachToken() async throws {
        let document =
            #"{"choices":[{"index":0,"delta":{"content":"Hi!"},"logprobs":{"content":[{"token":"Hi","logprob":-0.1,"top_logprobs":[{"token":"Hi","logprob":-0.1},{"token":"Yo","logprob":-2}]},{"token":"!","logprob":-0.5,"top_logprobs":[]}]}}]}"#
        let place = try RemotePlace { _ in .chunks([document]) }
        var chunks: [GenerationChunk] = []
        for try await chunk in try await place.compatible().stream(
            messages: [.user("x")], config: .default.topLogprobs(2))
        { chunks.append(chunk) }
        #expect(chunks.map(\.text) == ["Hi", "!", ""] && chunks.map(\.logprob) == [-0.1, -0.5, nil])
        #expect(chunks[0].topLogprobs.map(\.text) == ["Hi", "Yo"] && chunks[0].tokenCount == 1)
        let body = place.server.requests[0].json
        #expect(body["logprobs"]?.bool == true && body["top_logprobs"]?.int == 2)
    }

    @Test func anAnswerIsTheSameAsAStreamAndInOnePiece() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        let provider = try place.compatible()
        let stream = try await provider.stream(messages: [.user("Hi")], config: .default).collectWithMetadata()
        let whole = try await provider.respond(messages: [.user("Hi")], options: ChatOptions(), config: .default)
        #expect(stream.text == "You said: Hi 🙂" && whole.text == stream.text)
        #expect(whole.usage == stream.usage && whole.finishReason == stream.finishReason)
        #expect(place.server.requests.map { $0.json["stream"]?.bool } == [true, nil])
    }

    @Test func theTimeToTheFirstTokenIsTold() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        let stream = try await place.compatible().stream(messages: [.user("Hi")], config: .default)
        #expect(try await stream.timeToFirstToken() > .zero)
    }
}
