import HubChatTemplates
import HubCore
import Support
import Testing

@testable import InferenceKit

/// Conversations that outgrow the context. The scripted model fails if more reaches it than it takes.
@Suite struct SessionContextTests {
    private func session(
        _ policy: ContextPolicy, context: Int = 400, tools: [any Tool] = [],
        _ answer: @escaping @Sendable (ScriptedModel.Request) -> [ScriptedModel.Step] = { _ in
            [.say("Indeed, it is so.")]
        }
    ) -> (ModelSession, ScriptedModel) {
        var settings = ModelSession.Settings()
        settings.policy = policy
        let model = ScriptedModel(context: context) { request in
            request.last.hasPrefix("Sum up this conversation")
                ? [.say("They talked of \(request.last.utf8.count).")] : answer(request)
        }
        return (ModelSession(model: model, instructions: "Be kind.", tools: tools, settings: settings), model)
    }

    private static func shortenings(_ session: ModelSession) -> [Transcript.Shortening] {
        session.transcript.entries.compactMap { if case .shortening(let trace) = $0 { trace } else { nil } }
    }

    @Test func aFullContextIsAnErrorWithBothNumbers() async throws {
        let (session, model) = session(.none)
        var turns = 0
        while turns < 200 {
            let before = session.transcript
            do {
                _ = try await session.respond(
                    to: "Turn \(turns) of this conversation", config: .default.maxTokens(32))
                turns += 1
            } catch {
                #expect(session.transcript == before)
                let error = AIError.wrapping(error)
                let numbers = try #require(error.cause as? FullContext)
                #expect(error.code == .contextFull)
                #expect(numbers.promptTokens >= 400 && numbers.contextTokens == 400)
                #expect(error.message.contains("\(numbers.promptTokens) tokens") && error.message.contains("400"))
                break
            }
        }
        #expect(turns > 3 && turns < 20 && model.requests.count == turns)
    }

    @Test(arguments: [ContextPolicy.dropOldestTurns, .summarize])
    func twoHundredTurnsStayWithinTheContext(policy: ContextPolicy) async throws {
        let (session, model) = session(policy, tools: [TestTool { _ in "seen" }]) { request in
            request.last.contains("look") && request.messages.last?.role == .user
                ? [.call([GeneratedToolCall(id: "c\(request.index)", name: "look", arguments: "{}")])]
                : [.say("Indeed, it is so.")]
        }
        for turn in 0..<200 {
            _ = try await session.respond(
                to: "Turn \(turn)\(turn % 3 == 0 ? ", look" : "")", config: .default.maxTokens(32))
        }
        #expect(session.transcript.turnCount == 200)
        let traces = Self.shortenings(session)
        #expect(traces.count > 5 && traces.count < 100)
        #expect(traces.allSatisfy { $0.policy == policy && $0.droppedTurns > 0 && $0.contextTokens == 400 })
        #expect(traces.allSatisfy { ($0.summary != nil) == (policy == .summarize) })
        for request in model.requests where !request.last.hasPrefix("Sum up") {
            check(
                request.messages,
                hasSummary: request.messages.contains { $0.content?.contains("in short") ?? false })
            #expect(ScriptedModel.tokens(request.messages) + 32 <= 400)
        }
        if policy == .summarize {
            #expect(
                model.requests.last?.messages.first { $0.role == .user }?.content?.hasPrefix(
                    "(What was said before, in short: They talked of") == true)
            // A summary takes up the one before it.
            #expect(
                model.requests.last { $0.last.hasPrefix("Sum up") }?.last.contains("in short: They talked of")
                    == true)
        }
    }

    /// Instructions first, and no call without its output, and no output without its call.
    private func check(_ messages: [Message], hasSummary: Bool) {
        #expect(messages.first == .system("Be kind."))
        #expect(messages.dropFirst().first?.role == .user)
        var open: [String?] = []
        for message in messages {
            if message.role == .tool {
                #expect(open.first == message.toolCallID)
                open.removeFirst()
            } else {
                #expect(open.isEmpty)
                open = message.toolCalls.map(\.id)
            }
        }
        #expect(open.isEmpty)
    }

    /// The trace stays where the conversation was shortened, and continues with it.
    @Test func aShortenedConversationContinuesSo() async throws {
        let (session, _) = session(.dropOldestTurns)
        for turn in 0..<12 {
            _ = try await session.respond(to: "Turn \(turn) of this", config: .default.maxTokens(32))
        }
        let json = session.transcript.json
        let again = try Transcript(json: json)
        #expect(again.messages == session.transcript.messages && again.messages.count < again.entries.count)
        #expect(!Self.shortenings(session).isEmpty)
    }

    /// It was told, and its summary paid for.
    @Test func aShorteningStaysWhenThePromptIsTakenBack() async throws {
        let (session, model) = session(.summarize) { request in
            request.last.hasSuffix("now fail")
                ? [.fail(AIError(.connectionLost, "the line is cut"))] : [.say("So.")]
        }
        var prompt = ""
        while Self.shortenings(session).isEmpty, prompt.utf8.count < 300 {
            prompt += "Another turn of this, and "
            _ = try? await session.respond(to: prompt + "now fail", config: .default.maxTokens(32))
            if Self.shortenings(session).isEmpty {
                _ = try await session.respond(to: prompt, config: .default.maxTokens(32))
            }
        }
        let turns = session.transcript.turnCount
        #expect(Self.shortenings(session).count == 1 && turns > 0)
        guard case .shortening? = session.transcript.entries.last else {
            Issue.record("\(session.transcript.entries)")
            return
        }
        let summaries = model.requests.count { $0.last.hasPrefix("Sum up") }
        _ = try await session.respond(to: "Yes?", config: .default.maxTokens(32))
        #expect(model.requests.count { $0.last.hasPrefix("Sum up") } == summaries)
        #expect(Self.shortenings(session).count == 1 && session.transcript.turnCount == turns + 1)
        #expect(
            model.requests.last?.messages.first { $0.role == .user }?.content?.contains("in short: They talked of")
                == true)
    }

    @Test func aTurnThatDoesNotFitAloneIsAnError() async throws {
        for policy in ContextPolicy.allCases {
            let (session, model) = session(policy)
            _ = try await session.respond(to: "Hi", config: .default.maxTokens(32))
            let before = session.transcript
            let error = try await thrown { try await session.respond(to: String(repeating: "x", count: 500)) }
            #expect(error.code == .contextFull, "\(policy): \(error)")
            #expect(session.transcript == before || policy == .summarize)
            #expect(session.transcript.turnCount == 1)
            #expect(model.requests.allSatisfy { ScriptedModel.tokens($0.messages) < 400 })
        }
    }

    @Test func toolsThatFillTheContextEndTheTurn() async throws {
        let (session, _) = session(.dropOldestTurns, tools: [TestTool { _ in String(repeating: "y", count: 300) }])
        { request in
            [.call([GeneratedToolCall(name: "look", arguments: "{}")])]
        }
        let error = try await thrown { try await session.respond(to: "See?", config: .default.maxTokens(32)) }
        #expect(error.code == .contextFull)
        // The calls were made: the turn stays, closed.
        #expect(session.transcript.messages.last == .assistant("(no answer)"))
    }

    @Test func anEmptySummaryIsAnError() async throws {
        var settings = ModelSession.Settings()
        settings.policy = .summarize
        let model = ScriptedModel(context: 200) { [.say($0.last.hasPrefix("Sum up") ? " " : "Indeed, it is so.")] }
        let session = ModelSession(model: model, settings: settings)
        var error: AIError?
        for turn in 0..<10 where error == nil {
            do throws(AIError) {
                _ = try await session.respond(to: "Turn \(turn) of this", config: .default.maxTokens(32))
            } catch let fault {
                error = fault
            }
        }
        #expect(error?.code == .generationFailed && error?.message.contains("summary") == true)
    }

    /// Without a count of its own a provider's is learned from.
    @Test func remoteTokensAreEstimatedByTheLastCount() async throws {
        var meter = ContextMeter()
        let model = ScriptedModel { _ in [] }
        let messages = [Message.user(String(repeating: "a", count: 988))]
        let first = try await meter.tokens(messages, ChatOptions(), model)
        #expect(first == 330)
        meter.learn(messages, ChatOptions(), TokenUsage(promptTokens: 250, completionTokens: 1))
        #expect(try await meter.tokens(messages + messages, ChatOptions(), model) == 500)
    }
}

/// A conversation with the tiny model.
@Suite struct LocalSessionTests {
    private func session(_ policy: ContextPolicy, context: Int, instructions: String? = "Be kind.") async throws
        -> ModelSession
    {
        var settings = ModelSession.Settings()
        settings.policy = policy
        let model = try await LanguageModel.open(
            folder: Fixtures.path("tiny-shakespeare"), options: ModelOptions(context: context))
        return ModelSession(model: LocalModel(model), instructions: instructions, settings: settings)
    }

    private let config = GenerateConfig(maxTokens: 6, seed: 3)

    @Test(arguments: [ContextPolicy.dropOldestTurns, .summarize])
    func twoHundredTurnsStayWithinTheContext(policy: ContextPolicy) async throws {
        let session = try await session(policy, context: 256)
        for turn in 0..<200 {
            let response = try await session.respond(to: "Turn \(turn)", config: config)
            #expect(response.result.promptIDs.count + 6 <= 256)
        }
        #expect(session.transcript.turnCount == 200 && session.transcript.lastShortening != nil)
    }

    @Test func onlyWhatIsNewIsComputed() async throws {
        let session = try await session(.none, context: 512)
        var before = try await session.respond(to: "To be", config: config).result
        for turn in 0..<5 {
            let result = try await session.respond(to: "Turn \(turn)", config: config).result
            // Nearly all of the last prompt and its answer; a token at the seam may be another.
            #expect(
                result.cachedTokens >= before.promptIDs.count, "\(result.cachedTokens) of \(result.promptIDs.count)"
            )
            before = result
        }
    }

    @Test func prewarmingComputesTheBeginning() async throws {
        let session = try await session(
            .none, context: 512, instructions: "You are a poet who answers each question in the manner of a play.")
        try await session.prewarm()
        let result = try await session.respond(to: "Who are you?", config: config).result
        #expect(result.cachedTokens > result.promptIDs.count / 2)
        #expect(!session.isResponding && session.transcript.turnCount == 1)
    }
}
