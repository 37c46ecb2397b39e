import HubCore
import InferenceKit
import Support
import Testing

@testable import RemoteKit

/// Conversations with remote models.
@Suite struct RemoteSessionTests {
    private struct Look: Tool {
        let name = "look"
        let description = "Looks something up."
        func call(arguments: JSONObject) async throws -> String { "seen \(arguments["at"]?.string ?? "-")" }
    }

    /// Two calls in one answer, their arguments in pieces.
    private static let calls: [String] = [
        delta(#""content":"I look.""#),
        delta(#""tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{\"at\":"}}]"#),
        delta(#""tool_calls":[{"index":1,"id":"b","function":{"name":"look","arguments":"{}"}}]"#),
        delta(#""tool_calls":[{"index":0,"function":{"arguments":"\"the sea\"}"}}]"#),
        delta("", reason: "tool_calls"),
    ]

    @Test func toolsAnswerARemoteModel() async throws {
        let place = try RemotePlace { request in
            request.index == 0 ? .chunks(Self.calls) : .chunks([said("Blue."), delta("", reason: "stop")])
        }
        let session = ModelSession(model: try place.compatible(), instructions: "Be kind.", tools: [Look()])
        let response = try await session.respond(to: "See?")
        #expect(response.text == "Blue." && response.toolCalls.map(\.id) == ["a", "b"])
        let messages = place.server.requests.last?.json["messages"]?.array ?? []
        #expect(messages.map { $0["role"]?.string } == ["system", "user", "assistant", "tool", "tool"])
        #expect(messages.suffix(2).map { $0["tool_call_id"]?.string } == ["a", "b"])
        #expect(messages.suffix(2).map { $0["content"]?.string } == ["seen the sea", "seen -"])
        #expect(messages[2]["tool_calls"]?.array?.count == 2)
        #expect(place.server.requests.allSatisfy { $0.json["tools"]?.array?.count == 1 })
    }

    @Test func cancellingClosesTheConnection() async throws {
        let place = try RemotePlace { request in
            request.index == 0
                ? .events([.text("data: \(said("Well, "))\n\n"), .silence])
                : .chunks([said("Yes."), delta("", reason: "stop")])
        }
        let session = ModelSession(model: try place.compatible())
        let seen = Monitor(false)
        let task = Task {
            try await session.streamResponse(to: "Speak").response {
                if case .chunk = $0 { seen.update { $0 = true } }
            }
        }
        _ = try await seen.value("a chunk") { $0 ? true : nil }
        task.cancel()
        #expect(try await task.value.text == "Well, ")
        try await place.server.abandoned()
        #expect(try await session.respond(to: "Again").text == "Yes.")
        let messages = place.server.requests.last?.json["messages"]?.array ?? []
        #expect(messages.map { $0["content"]?.string } == ["Speak", "Well, ", "Again"])
    }

    @Test func aBrokenAnswerIsTakenBack() async throws {
        let place = try RemotePlace { request in
            request.index == 0
                ? .events([.text("data: \(said("Well, "))\n\n")])
                : .chunks([said("Yes."), delta("", reason: "stop")])
        }
        let session = ModelSession(model: try place.compatible())
        let error = await fault { try await session.respond(to: "Speak") }
        #expect(error?.code == .streamInterrupted && error?.partialResult?.text == "Well, ")
        #expect(session.transcript.entries.isEmpty)
        #expect(try await session.respond(to: "Again").text == "Yes.")
        #expect(place.server.requests.last?.json["messages"]?.array?.count == 1)
    }

    /// The provider's own count says when its context is full.
    @Test func aRemoteConversationIsShortened() async throws {
        let place = try RemotePlace { request in
            let bytes = request.json["messages"]?.text().utf8.count ?? 0
            return .chunks([
                said("Indeed, it is so."),
                delta(
                    "", reason: "stop",
                    usage: #"{"prompt_tokens":\#(bytes / 4),"completion_tokens":5,"total_tokens":9}"#),
            ])
        }
        var settings = ModelSession.Settings()
        settings.policy = .dropOldestTurns
        var own = OpenAICompatibleProvider.Settings()
        (own.limits, own.contextLength) = (RemotePlace.limits(), 300)
        let model = try OpenAICompatibleProvider(
            address: place.server.address + "/v1", model: "m", settings: own, context: place.context)
        let session = ModelSession(model: model, instructions: "Be kind.", settings: settings)
        for turn in 0..<60 { _ = try await session.respond(to: "Turn \(turn)", config: .default.maxTokens(32)) }
        #expect(session.transcript.turnCount == 60 && session.transcript.lastShortening != nil)
        for request in place.server.requests {
            #expect((request.json["messages"]?.text().utf8.count ?? 0) / 4 + 32 <= 300)
        }
    }
}
