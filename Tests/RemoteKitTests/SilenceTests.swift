import Fetcher
import HubChatTemplates
import HubCore
import InferenceKit
import Support
import Testing

@testable import RemoteKit

/// Trap 17: providers that say nothing, and callers that have heard enough.
@Suite struct SilenceTests {
    @Test func silenceBeforeTheFirstByteIsToldApart() async throws {
        let place = try RemotePlace { _ in .silence }
        let error = await fault { try await place.answer(limits: RemotePlace.limits { $0.firstByte = 0.2 }) }
        #expect(error?.code == .timedOut && error?.message.contains("did not begin to answer within 0.2 s") == true)
        #expect(place.server.requests.count == 1)
        try await place.server.abandoned()
    }

    @Test(arguments: [InferenceStandIn.Step.silence, .comments])
    func silenceBetweenTwoPiecesIsToldApartAndCommentsDoNotCount(_ step: InferenceStandIn.Step) async throws {
        let place = try RemotePlace { _ in .events([.text("data: \(said("Half"))\n\n"), step]) }
        let error = await fault { try await place.answer(limits: RemotePlace.limits { $0.idle = 0.3 }) }
        #expect(error?.code == .timedOut && error?.message.contains("sent nothing for 0.3 s") == true)
        #expect(error?.partialResult?.text == "Half")
        try await place.server.abandoned()
    }

    @Test(arguments: [true, false])
    func theBudgetOfTheWholeIsToldApart(_ hasBegun: Bool) async throws {
        let place = try RemotePlace { _ in
            hasBegun ? .events([.text("data: \(said("Half"))\n\n"), .silence]) : .silence
        }
        let error = await fault { try await place.answer(limits: RemotePlace.limits { $0.total = 0.4 }) }
        #expect(error?.code == .timedOut && error?.message.contains("did not finish within 0.4 s") == true)
        try await place.server.abandoned()
    }

    @Test func silenceAfterTheReasonIsTheEnd() async throws {
        let place = try RemotePlace { _ in
            .events([.text("data: \(said("All"))\n\ndata: \(delta("", reason: "stop"))\n\n"), .silence])
        }
        #expect(try await place.answer(limits: RemotePlace.limits { $0.idle = 0.2 }).text == "All")
    }

    @Test func leavingTheLoopClosesTheConnection() async throws {
        let place = try RemotePlace { _ in .events([.text("data: \(said("Hello"))\n\n"), .silence]) }
        for try await chunk in try await place.compatible().stream(messages: [.user("x")], config: .default) {
            #expect(chunk.text == "Hello")
            break
        }
        try await place.server.abandoned()
    }

    @Test func aCancelledTaskGetsWhatHasComeAndClosesTheConnection() async throws {
        let gate = Gate()
        let place = try RemotePlace { _ in .events([.text("data: \(said("Hello"))\n\n"), .wait(gate), .silence]) }
        let task = Task {
            try await place.compatible().stream(messages: [.user("x")], config: .default).collectWithMetadata {
                chunk in
                if !chunk.text.isEmpty { gate.release() }
            }
        }
        try await gate.reached()
        try await eventually("the first piece") { gate.arrivals == 1 }
        // The piece was read when the gate is open.
        task.cancel()
        let result = try await task.value
        #expect(result.finishReason == .cancelled && (result.text == "Hello" || result.text.isEmpty))
        gate.release()
        try await place.server.abandoned()
    }

    @Test func cancellingBeforeTheAnswerClosesTheConnection() async throws {
        let place = try RemotePlace { _ in .silence }
        let task = Task { try await place.compatible().generate(prompt: "x", config: .default) }
        try await place.server.asked()
        task.cancel()
        let error = await fault { try await task.value }
        #expect(error?.code == .cancelled)
        try await place.server.abandoned()
    }

    @Test func cancellingDuringAWaitEndsIt() async throws {
        let place = try RemotePlace { _ in
            .json(#"{"error":"later"}"#, status: 429, headers: [("Retry-After", "50")])
        }
        let task = Task { try await place.answer() }
        try await place.server.asked()
        task.cancel()
        let ending = await Task { try await task.value }.result
        if case .success(let result) = ending { #expect(result.finishReason == .cancelled) }
        #expect(place.server.requests.count == 1)
    }

    /// The server must wait for a reader that is slower, and not fill the memory.
    @Test func aSlowReaderHoldsTheServerBack() async throws {
        let piece = "data: \(said(String(repeating: "x", count: 60_000)))\n\n"
        let engine = try HTTPEngine(.init(HubEnvironment.test()))
        let gate = Gate()
        let server = try InferenceStandIn { _ in
            .events(Array(repeating: .text(piece), count: 1000) + [.wait(gate)])
        }
        let stream = try await HTTPStream.open(
            HTTPRequest(.get, server.address), on: engine, patience: 3000, until: Clock.seconds + 3000)
        let first = try await stream.next(until: Clock.seconds + 3000)
        #expect(first != nil && gate.arrivals == 0)
        var bytes = first?.count ?? 0
        while bytes < piece.utf8.count * 1000, let more = try await stream.next(until: Clock.seconds + 3000) {
            bytes += more.count
        }
        #expect(bytes >= piece.utf8.count * 1000)
        gate.release()
        engine.stop()
    }
}
