import HubChatTemplates
import HubCore
import Support
import Testing

@testable import InferenceKit

/// Tools in a conversation.
@Suite struct SessionToolTests {
    private static func call(_ name: String = "look", _ arguments: String = "{}", id: String? = nil)
        -> GeneratedToolCall
    {
        GeneratedToolCall(id: id, name: name, arguments: arguments)
    }

    /// Calls these once, then answers with what the tools said.
    private static func calling(_ calls: GeneratedToolCall...) -> ScriptedModel {
        ScriptedModel { request in
            guard request.messages.last?.role == .tool else { return [.say("I look."), .call(calls)] }
            return [.say(request.messages.filter { $0.role == .tool }.compactMap(\.content).joined(separator: "|"))]
        }
    }

    private func outputs(_ session: ModelSession) -> [Transcript.ToolOutput] {
        session.transcript.entries.compactMap { if case .toolOutput(let output) = $0 { output } else { nil } }
    }

    @Test func aToolIsCalledAndItsAnswerGoesBack() async throws {
        let model = Self.calling(Self.call("look", #"{"at": "the sea"}"#, id: "c1"))
        let session = ModelSession(
            model: model, tools: [TestTool { "\($0["at"]?.string ?? "-") is blue" }])
        var events: [String] = []
        let response = try await session.streamResponse(to: "See?").response { event in
            switch event {
            case .chunk(let chunk): if !chunk.text.isEmpty { events.append(chunk.text) }
            case .toolCall(let call): events.append("call \(call.name)")
            case .toolOutput(let output): events.append("answer \(output.text)")
            case .shortened, .response: break
            }
        }
        #expect(events == ["I look.", "call look", "answer the sea is blue", "the sea is blue"])
        #expect(response.text == "the sea is blue" && response.toolCalls.map(\.name) == ["look"])
        #expect(model.requests[0].options.tools.map { $0["function"]?["name"]?.string } == ["look"])
        #expect(
            model.requests[1].messages == [
                .user("See?"),
                .assistant("I look.", toolCalls: [.init(id: "c1", name: "look", arguments: ["at": "the sea"])]),
                .tool("the sea is blue", callID: "c1", name: "look"),
            ])
        #expect(response.entries.count == 4 && session.transcript.entries == response.entries)
    }

    /// Each call waits until the other runs; the answers are in the order of the calls.
    @Test func callsOfOneAnswerRunAtTheSameTime() async throws {
        let running = Monitor(0)
        let tool = TestTool { arguments in
            running.update { $0 += 1 }
            _ = try await running.value("both calls") { $0 >= 2 ? true : nil }
            return arguments["n"]?.string ?? ""
        }
        let session = ModelSession(
            model: Self.calling(Self.call("look", #"{"n": "1"}"#), Self.call("look", #"{"n": "2"}"#)), tools: [tool]
        )
        #expect(try await session.respond(to: "See?").text == "1|2")
        let ids = outputs(session).map(\.callID)
        #expect(Set(ids).count == 2 && !ids.contains(""))
    }

    struct Broken: Error, CustomStringConvertible { var description: String { "the lamp is broken" } }

    @Test(arguments: [
        (call("lamp"), "there is no tool lamp; the tools are: look, fail"),
        (call("look", "{\"a\""), "the arguments are not a JSON object"),
        (call("look", "[1]"), "the arguments are not a JSON object"),
        (call("", "???"), "the call cannot be read: ???"),
        (call("fail"), "the lamp is broken"),
    ]) func whatFailsGoesBackToTheModel(call: GeneratedToolCall, message: String) async throws {
        let session = ModelSession(
            model: Self.calling(call, Self.call("look")),
            tools: [TestTool { _ in "fine" }, TestTool("fail") { _ in throw Broken() }])
        let text = try await session.respond(to: "See?").text
        #expect(text.hasPrefix(message) && text.hasSuffix("|fine"), "\(text)")
        #expect(outputs(session).map(\.isError) == [true, false])
        // Every call that is sent has arguments, and an output.
        let turn = session.transcript.messages.first { !$0.toolCalls.isEmpty }
        #expect(turn?.toolCalls.count == 2)
    }

    @Test func callsAreAllowedOneByOne() async throws {
        let asked = Monitor<[String]>([])
        var settings = ModelSession.Settings()
        settings.approve = { call in
            asked.update { $0.append(call.arguments) }
            return call.arguments.contains("bad") ? .refused("the person does not allow it") : .allowed
        }
        let ran = Monitor<[String]>([])
        let session = ModelSession(
            model: Self.calling(
                Self.call("look", #"{"n":"bad"}"#), Self.call("look", #"{"n":"good"}"#), Self.call("none")),
            tools: [
                TestTool { arguments in
                    ran.update { $0.append(arguments["n"]?.string ?? "") }
                    return "fine"
                }
            ], settings: settings)
        #expect(
            try await session.respond(to: "See?").text.hasPrefix(
                "the person does not allow it|fine|there is no tool"))
        // Nobody is asked about what cannot run.
        #expect(asked.update { $0 } == [#"{"n":"bad"}"#, #"{"n":"good"}"#] && ran.update { $0 } == ["good"])
    }

    @Test func aModelThatCallsWithoutEndIsStopped() async throws {
        var settings = ModelSession.Settings()
        settings.maxToolRounds = 3
        let model = ScriptedModel { _ in [.call([Self.call()])] }
        let session = ModelSession(model: model, tools: [TestTool { _ in "again" }], settings: settings)
        let error = try await thrown { try await session.respond(to: "See?") }
        #expect(error.code == .generationFailed && error.message.contains("called tools 3 times"))
        #expect(model.requests.count == 4 && outputs(session).count == 3)
        // What the tools did stays, and the turn is closed.
        #expect(session.transcript.messages.last == .assistant("(no answer)"))
    }

    /// The rest of what it was to say is not known.
    @Test(arguments: [FinishReason.length, .stopSequence, .contentFilter, FinishReason(rawValue: "max_tokens")])
    func aCallThatWasCutDoesNotRun(reason: FinishReason) async throws {
        let ran = Monitor(false)
        let model = ScriptedModel { _ in [.say("I clean up."), .call([Self.call("look", "")]), .finish(reason)] }
        let session = ModelSession(
            model: model,
            tools: [
                TestTool { _ in
                    ran.update { $0 = true }
                    return "done"
                }
            ])
        let response = try await session.respond(to: "Clean up")
        #expect(!ran.update { $0 } && model.requests.count == 1)
        #expect(response.result.finishReason == reason && response.text == "I clean up.")
        #expect(session.transcript.messages == [.user("Clean up"), .assistant("I clean up.")])
    }

    @Test func aDemandIsForTheFirstTurn() async throws {
        for choice in [ToolChoice.required, .tool("look")] {
            let model = Self.calling(Self.call())
            let session = ModelSession(model: model, tools: [TestTool { _ in "fine" }])
            _ = try await session.respond(to: "See?", options: ChatOptions(toolChoice: choice))
            #expect(model.requests.map(\.options.toolChoice) == [choice, .auto])
        }
    }

    @Test func cancellingEndsTheToolsAndKeepsTheirTrace() async throws {
        let running = Monitor(false)
        let model = Self.calling(Self.call("look", #"{"n":1}"#), Self.call("quick"))
        let session = ModelSession(
            model: model,
            tools: [
                TestTool { _ in
                    running.update { $0 = true }
                    while !Task.isCancelled { await Task.yield() }
                    throw CancellationError()
                }, TestTool("quick") { _ in "done" },
            ])
        let task = Task { try await session.respond(to: "See?") }
        _ = try await running.value("the tool") { $0 ? true : nil }
        task.cancel()
        #expect(try await thrown { try await task.value }.code == .cancelled)
        #expect(outputs(session).first?.text == "the call was interrupted" && outputs(session).count == 2)
        #expect(
            session.transcript.entries.last == .response(.init(text: "", reasoning: nil, finishReason: .cancelled)))
        #expect(!session.isResponding && model.requests.count == 1)
        // The next turn can be said in every template: roles alternate.
        #expect(session.transcript.messages.map(\.role) == [.user, .assistant, .tool, .tool, .assistant])
    }

    @Test func aFailureAfterToolsKeepsTheTurn() async throws {
        let model = ScriptedModel { request in
            request.index == 0 ? [.call([Self.call()])] : [.fail(AIError(.connectionLost, "the line is cut"))]
        }
        let session = ModelSession(model: model, tools: [TestTool { _ in "sent" }])
        #expect(try await thrown { try await session.respond(to: "Send it") }.code == .connectionLost)
        #expect(session.transcript.messages.map(\.role) == [.user, .assistant, .tool, .assistant])
    }

    @Test func reasoningIsSentWithTheCallsOfTheTurnUnderWay() async throws {
        let model = ScriptedModel { request in
            request.messages.last?.role == .user ? [.think("Look first."), .call([Self.call()])] : [.say("Yes")]
        }
        let session = ModelSession(model: model, tools: [TestTool { _ in "fine" }])
        _ = try await session.respond(to: "One")
        #expect(model.requests[1].messages[1].reasoning == "Look first.")
        _ = try await session.respond(to: "Two")
        #expect(model.requests[2].messages.allSatisfy { $0.reasoning == nil })
    }
}
