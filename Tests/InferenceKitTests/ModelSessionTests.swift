import HubChatTemplates
import HubCore
import Support
import Testing

@testable import InferenceKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A conversation with a model that says what the test writes.
@Suite struct ModelSessionTests {
    /// Repeats what was said.
    static func parrot(context: Int? = nil) -> ScriptedModel {
        ScriptedModel(context: context) { [.say("You said: "), .say($0.last)] }
    }

    // MARK: What was said

    @Test func whatWasSaidIsSentAgain() async throws {
        let model = Self.parrot()
        let session = ModelSession(model: model, instructions: "Be kind.")
        #expect(try await session.respond(to: "One").text == "You said: One")
        let second = try await session.respond(to: "Two")
        #expect(
            model.requests.last?.messages == [
                .system("Be kind."), .user("One"), .assistant("You said: One"), .user("Two"),
            ])
        #expect(!session.isResponding && session.transcript.turnCount == 2)
        #expect(second.entries.count == 2 && session.transcript.entries.suffix(2) == second.entries[...])
    }

    @Test func textComesInPiecesAndTheAnswerLast() async throws {
        let session = ModelSession(model: ScriptedModel { _ in [.think("Hm."), .say("A"), .say("B")] })
        var (text, thought, last) = ("", "", ModelSession.Response?.none)
        for try await event in try session.streamResponse(to: "Hi") {
            #expect(session.isResponding || last == nil)
            switch event {
            case .chunk(let chunk):
                text += chunk.text
                thought += chunk.reasoning
            case .response(let response): last = response
            default: Issue.record("\(event)")
            }
        }
        #expect(text == "AB" && thought == "Hm." && last?.text == "AB" && last?.reasoning == "Hm.")
        #expect(try await session.streamResponse(to: "Hi").text.reduce("", +) == "AB")
        // Reasoning is kept, and not sent.
        #expect(
            session.transcript.entries.contains(.response(.init(text: "AB", reasoning: "Hm.", finishReason: .stop)))
        )
        #expect(session.transcript.messages.allSatisfy { $0.reasoning == nil })
    }

    @Test func aTranscriptIsAValue() async throws {
        let model = ScriptedModel { request in
            request.index == 0
                ? [.think("?"), .call([GeneratedToolCall(name: "look", arguments: "{}")])] : [.say("Yes")]
        }
        let session = ModelSession(model: model, instructions: "Be kind.", tools: [TestTool { _ in "found" }])
        _ = try await session.respond(
            to: Transcript.Prompt(
                "See?", images: [.bytes([1, 2], mediaType: "image/png"), .address("http://x/y.png")]))
        var transcript = session.transcript
        transcript.entries.append(
            .shortening(
                .init(
                    policy: .summarize, droppedTurns: 1, keptTurns: 0, promptTokens: 90, contextTokens: 80,
                    summary: "All of it.")))
        let data = try JSONEncoder().encode(transcript)
        #expect(try JSONDecoder().decode(Transcript.self, from: data) == transcript)
        #expect(try Transcript(json: JSON.parse(transcript.json.text())) == transcript)
        let next = ModelSession(model: model, transcript: session.transcript)
        _ = try await next.respond(to: "Really?")
        #expect(next.transcript.entries.starts(with: session.transcript.entries))
    }

    @Test(arguments: [
        ("{}", "no entries"), (#"{"entries":[]}"#, "version"),
        (#"{"version":1,"entries":[{"type":"x"}]}"#, "unknown type \"x\""),
        (#"{"version":1,"entries":[{"type":"prompt"}]}"#, "no text"),
        (#"{"version":1,"entries":[{"type":"prompt","text":"a","images":[{}]}]}"#, "picture"),
    ]) func whatIsNoTranscriptIsRefused(text: String, message: String) throws {
        let json = try JSON.parse(text)
        let error = #expect(throws: AIError.self) { try Transcript(json: json) }
        #expect(error?.message.contains(message) == true)
    }

    @Test func betweenRequestsItCanBeEdited() async throws {
        let model = Self.parrot()
        let session = ModelSession(model: model, instructions: "Be kind.")
        _ = try await session.respond(to: "One")
        _ = try await session.respond(to: "Two")
        let taken = try session.edit { $0.removeLastTurn() }
        #expect(taken == Transcript.Prompt("Two"))
        try session.edit { $0.instruct("Be brief.") }
        try session.edit { $0.instruct(nil) }
        try session.edit { $0.instruct("Be bold.") }
        _ = try await session.respond(to: "Three")
        #expect(
            model.requests.last?.messages == [
                .system("Be bold."), .user("One"), .assistant("You said: One"), .user("Three"),
            ])
        try session.edit { $0.instruct(nil) }
        #expect(session.transcript.messages.first?.role == .user)
    }

    // MARK: One at a time

    @Test func aSecondRequestIsRefused() async throws {
        let model = ScriptedModel { $0.index == 0 ? [.say("Well"), .hang] : [.say("Yes")] }
        let session = ModelSession(model: model)
        let first = try session.streamResponse(to: "One")
        try await model.wasAsked(1)
        #expect(session.isResponding)
        let error = try await thrown { try await session.respond(to: "Two") }
        #expect(error.code == .invalidInput && error.message.contains("is answering another prompt"))
        #expect(throws: AIError.self) { try session.edit { $0.instruct("x") } }
        for try await event in first { if case .chunk = event { break } }
        // Leaving the loop has cancelled it, and the next request waits for its end.
        #expect(try await session.respond(to: "Three").text == "Yes")
        #expect(model.requests.last?.messages.map(\.content) == ["One", "Well", "Three"])
    }

    @Test func aStreamThatNobodyReadsIsCancelled() async throws {
        let model = ScriptedModel { $0.index == 0 ? [.hang] : [.say("Yes")] }
        let session = ModelSession(model: model)
        _ = try session.streamResponse(to: "One")
        #expect(try await session.respond(to: "Two").text == "Yes")
        #expect(session.transcript.turnCount == 1)
    }

    // MARK: Cancelling

    @Test func whatHadComeStays() async throws {
        let model = ScriptedModel { _ in [.say("Half"), .hang] }
        let session = ModelSession(model: model)
        let task = Task { try await session.respond(to: "Speak") }
        try await model.wasAsked(1)
        while session.transcript.turnCount == 0 { await Task.yield() }
        task.cancel()
        let error = try await thrown { try await task.value }
        #expect(error.code == .cancelled && !session.isResponding)
        if error.partialResult?.text == "Half" {
            #expect(
                session.transcript.entries.last
                    == .response(.init(text: "Half", reasoning: nil, finishReason: .cancelled)))
        } else {
            #expect(session.transcript.entries.isEmpty)
        }
    }

    @Test func aCancelledReaderGetsTheLastEvent() async throws {
        let session = ModelSession(model: ScriptedModel { _ in [.say("Half"), .hang] })
        let seen = Monitor(false)
        let task = Task {
            try await session.streamResponse(to: "Speak").response {
                if case .chunk = $0 { seen.update { $0 = true } }
            }
        }
        _ = try await seen.value("a chunk") { $0 ? true : nil }
        task.cancel()
        let response = try await task.value
        #expect(response.result.finishReason == .cancelled && response.text == "Half")
        #expect(session.transcript.messages == [.user("Speak"), .assistant("Half")] && !session.isResponding)
    }

    @Test func whatNeverBeganIsTakenBack() async throws {
        let model = ScriptedModel { $0.index == 1 ? [.hang] : [.say("Yes")] }
        let session = ModelSession(model: model)
        _ = try await session.respond(to: "One")
        let before = session.transcript
        let task = Task { try await session.respond(to: "Two") }
        try await model.wasAsked(2)
        task.cancel()
        #expect(try await thrown { try await task.value }.code == .cancelled)
        #expect(session.transcript == before)
    }

    @Test func aFailureTakesThePromptBack() async throws {
        let session = ModelSession(
            model: ScriptedModel { request in
                request.last == "bad"
                    ? [.say("Well"), .fail(AIError(.connectionLost, "the line is cut"))] : [.say("Yes")]
            })
        #expect(try await thrown { try await session.respond(to: "bad") }.code == .connectionLost)
        #expect(session.transcript == Transcript() && !session.isResponding)
        #expect(try await session.respond(to: "good").text == "Yes")
    }

    // MARK: Guardrails

    private struct NoSecrets: Guardrail {
        struct Found: Error, CustomStringConvertible { var description: String { "it has a secret" } }
        func check(prompt: String) async throws { if prompt.contains("secret") { throw Found() } }
        func check(response: String) async throws { if response.contains("secret") { throw Found() } }
    }

    @Test func guardrailsSeeBothSides() async throws {
        var settings = ModelSession.Settings()
        settings.guardrails = [NoSecrets()]
        let model = ScriptedModel {
            [.say($0.last == "tell" ? "a sec" : "Yes"), .say($0.last == "tell" ? "ret" : ".")]
        }
        let session = ModelSession(model: model, settings: settings)
        let error = try await thrown { try await session.respond(to: "a secret") }
        #expect(error.code == .requestRejected && error.message.contains("it has a secret"))
        #expect(model.requests.isEmpty)
        var shown = ""
        let answer = try await thrown {
            for try await text in try session.streamResponse(to: "tell").text { shown += text }
        }
        #expect(answer.code == .requestRejected && shown.isEmpty && session.transcript == Transcript())
        #expect(try await session.streamResponse(to: "Hi").text.reduce("", +) == "Yes.")
    }

    /// Neither what came before it was cancelled nor what came before a fault was checked.
    @Test func whatNobodyHasCheckedIsNotGivenOut() async throws {
        var settings = ModelSession.Settings()
        settings.guardrails = [NoSecrets()]
        let failing = ModelSession(
            model: ScriptedModel { _ in
                let partial = PartialAnswer(GenerationResult(text: "a secret", finishReason: .stop))
                return [.say("a secret"), .fail(AIError(.connectionLost, "the line is cut", cause: partial))]
            }, settings: settings)
        let error = try await thrown { try await failing.respond(to: "Hi") }
        #expect(error.code == .connectionLost && error.partialResult == nil)
        let model = ScriptedModel { _ in [.say("a secret"), .hangAndFail] }
        let session = ModelSession(model: model, settings: settings)
        let task = Task { try await session.respond(to: "Hi") }
        try await model.wasAsked(1)
        task.cancel()
        let cancelled = try await thrown { try await task.value }
        #expect(cancelled.code == .cancelled && cancelled.partialResult?.text ?? "" == "")
        #expect(session.transcript == Transcript())
    }

    /// A greeting, and all system messages.
    @Test func messagesBecomeATranscriptWhole() {
        let messages: [Message] = [
            .system("Be kind."), .system("Be brief."), .assistant("Welcome!"), .user("Hi"), .assistant("Yes?"),
        ]
        #expect(
            Transcript(messages).messages == [
                .system("Be kind.\n\nBe brief."), .assistant("Welcome!"), .user("Hi"), .assistant("Yes?"),
            ])
    }

    @Test(arguments: [["a b"], [""], ["look", "look"], [String(repeating: "x", count: 65)]])
    func toolsNeedNamesOfTheirOwn(names: [String]) async throws {
        let session = ModelSession(model: Self.parrot(), tools: names.map { TestTool($0) { _ in "" } })
        #expect(try await thrown { try await session.respond(to: "Hi") }.code == .invalidInput)
        let own = ModelSession(model: Self.parrot())
        let options = ChatOptions(tools: [AnswerReaderTests.clock])
        #expect(try await thrown { try await own.respond(to: "Hi", options: options) }.code == .invalidInput)
    }
}
