import HubCore
import Support
import Testing

@testable import Fetcher

/// One thread, libcurl's callbacks, and everything that must come back from them exactly once.
@Suite struct HTTPEngineTests {
    private let served = try! TemporaryFolder("served")
    private let hub: LoopbackHub
    private let bytes: [UInt8]

    init() throws {
        bytes = try ModelRepository("org/m", in: served).noise("w.bin", size: 900_000)
        hub = try LoopbackHub(served)
    }

    private func engine() throws -> HTTPEngine {
        try HTTPEngine(.init(HubEnvironment.test()))
    }
    private var address: String { "\(hub.endpoint)/api/models/org/m" }

    /// The signed address of the file.
    private func content(_ engine: HTTPEngine) async throws -> String {
        let resolve = "\(hub.endpoint)/org/m/resolve/main/w.bin"
        let ended = Ended()
        engine.perform {
            let transfer = HTTPTransfer(HTTPRequest(.get, resolve))
            transfer.onEnd = ended.end
            engine.start(transfer)
        }
        return try #require(try await ended.value().get().fields["Location"])
    }

    /// Hears the end of a transfer and how often it came.
    private final class Ended: Sendable {
        private let state = Monitor((count: 0, result: Result<HTTPHead, AIError>?.none))
        func end(_ result: Result<HTTPHead, AIError>) {
            state.update {
                $0.count += 1
                $0.result = result
            }
        }
        func value() async throws -> Result<HTTPHead, AIError> {
            try await state.value("the end of a transfer") { $0.result }
        }
        var count: Int { state.update { $0.count } }
    }

    /// Something only the engine's thread touches, handed to its closures.
    private final class Box<Value>: @unchecked Sendable {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    @Test func aPauseHoldsThePieceAndGivesItAgain() async throws {
        let engine = try engine()
        let (address, ended) = (try await content(engine), Ended())
        let received = Box([UInt8]())
        let pauses = Box(0)
        engine.perform {
            let transfer = HTTPTransfer(HTTPRequest(.get, address))
            transfer.onBody = { [unowned transfer] piece in
                if pauses.value < 5, received.value.count >= pauses.value * 100_000 {
                    pauses.value += 1
                    engine.after(0.001) { engine.resume(transfer) }
                    return .pause
                }
                received.value.append(contentsOf: piece)
                return .go
            }
            transfer.onEnd = ended.end
            engine.start(transfer)
        }
        #expect(try await ended.value().get().status == 200)
        #expect(received.value == bytes ? true : false)
        #expect(pauses.value == 5)
        #expect(ended.count == 1)
    }

    /// libcurl delivers held bytes within `curl_easy_pause` and tells only its caller that they were refused; the
    /// transfer must not go on behind a hole.
    @Test func aResumedPieceThatIsRefusedEndsTheTransfer() async throws {
        let engine = try engine()
        let (address, ended) = (try await content(engine), Ended())
        let calls = Box(0)
        engine.perform {
            let transfer = HTTPTransfer(HTTPRequest(.get, address))
            transfer.onBody = { [unowned transfer] _ in
                calls.value += 1
                if calls.value == 1 {
                    engine.after(0) { engine.resume(transfer) }
                    return .pause
                }
                return .abort(AIError(.diskFull, "no room"))
            }
            transfer.onEnd = ended.end
            engine.start(transfer)
        }
        guard case .failure(let error) = try await ended.value() else {
            Issue.record("a transfer that was refused succeeded")
            return
        }
        #expect(error.code == .diskFull)
        #expect(calls.value == 2)
        #expect(ended.count == 1)
    }

    @Test func anAbortInTheHeadEndsWithItsError() async throws {
        let engine = try engine()
        let (address, ended) = (address, Ended())
        engine.perform {
            let transfer = HTTPTransfer(HTTPRequest(.get, address))
            transfer.onHead = { _ in .abort(AIError(.protocolViolation, "not this")) }
            transfer.onBody = { _ in
                Issue.record("a body after a refused head")
                return .go
            }
            transfer.onEnd = ended.end
            engine.start(transfer)
        }
        guard case .failure(let error) = try await ended.value() else {
            Issue.record("a transfer that was refused succeeded")
            return
        }
        #expect(error.message == "not this")
    }

    @Test func startingAndCancellingWithinACallbackIsSafe() async throws {
        let engine = try engine()
        let (address, ended) = (try await content(engine), Ended())
        let second = Ended()
        let gate = Gate()
        hub.fail("/api/models/org/m", .holdHead(gate))
        let held = self.address
        engine.perform {
            let transfer = HTTPTransfer(HTTPRequest(.get, address))
            let other = HTTPTransfer(HTTPRequest(.get, held))
            other.onEnd = { _ in Issue.record("a cancelled transfer told of its end") }
            engine.start(other)
            let third = HTTPTransfer(HTTPRequest(.get, address))
            third.onEnd = second.end
            transfer.onBody = { [unowned transfer] _ in
                engine.cancel(other)
                engine.start(third)
                // Itself, from within its own callback.
                engine.cancel(transfer)
                ended.end(.success(HTTPHead(status: 0, fields: HTTPFields(), address: "")))
                return .go
            }
            transfer.onEnd = { _ in Issue.record("a cancelled transfer told of its end") }
            engine.start(transfer)
        }
        _ = try await ended.value()
        #expect(try await second.value().get().status == 200)
        #expect(ended.count == 1)
        gate.release()
    }

    @Test func aTransferCancelledBeforeItsDeferredStartNeverStarts() async throws {
        let engine = try engine()
        let (address, ended) = (address, Ended())
        engine.perform {
            let never = HTTPTransfer(HTTPRequest(.get, address + "?never=1"))
            never.onEnd = { _ in Issue.record("a cancelled transfer told of its end") }
            let transfer = HTTPTransfer(HTTPRequest(.get, address))
            transfer.onHead = { _ in
                engine.start(never)
                engine.cancel(never)
                return .go
            }
            transfer.onEnd = ended.end
            engine.start(transfer)
        }
        _ = try await ended.value().get()
        #expect(hub.requests.allSatisfy { $0.query.isEmpty })
    }

    @Test func timersRunInTheirOrderAndWhatIsPerformedRunsAtOnce() async throws {
        let engine = try engine()
        let order = Monitor([Int]())
        engine.perform {
            engine.after(0.002) { order.update { $0.append(3) } }
            engine.after(0.001) { order.update { $0.append(2) } }
            engine.after(-1) { order.update { $0.append(1) } }
            engine.after(60) { order.update { $0.append(4) } }
            // All are due at once where the thread is late.
            let end = Clock.nanoseconds + 3_000_000
            while Clock.nanoseconds < end {}
        }
        let found = try await order.value("three timers") { $0.count == 3 ? $0 : nil }
        #expect(found == [1, 2, 3])
    }

    #if DEBUG
    @Test func whatBelongsToTheThreadRefusesAnother() async {
        await #expect(processExitsWith: .failure) {
            let engine = try HTTPEngine(.init(HubEnvironment([:])))
            engine.assertOnThread()
        }
        await #expect(processExitsWith: .success) {
            let engine = try HTTPEngine(.init(HubEnvironment([:])))
            await withCheckedContinuation { continuation in
                engine.perform {
                    engine.assertOnThread()
                    continuation.resume()
                }
            }
        }
    }
    #endif

    // MARK: Exchanges

    @Test func cancellingAnExchangeEndsItOnce() async throws {
        let client = HTTPClient(
            engine: try engine(), origin: try #require(Origin(hub.endpoint)), token: nil)
        let gate = Gate()
        hub.fail("/api/models/org/m", .holdHead(gate), times: nil)
        let address = address
        let work = Task { try await client.response(to: HTTPRequest(.get, address)) }
        try await gate.reached()
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
        gate.release()
        // Before it began.
        hub.clearFaults()
        let early = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await client.response(to: HTTPRequest(.get, address))
        }
        early.cancel()
        await #expect(throws: CancellationError.self) { try await early.value }
    }

    @Test func aStoppedEngineEndsWhatRunsAndWhatComesLater() async throws {
        let engine = try engine()
        let client = HTTPClient(engine: engine, origin: try #require(Origin(hub.endpoint)), token: nil)
        let gate = Gate()
        hub.fail("/api/models/org/m", .holdHead(gate))
        let address = address
        let work = Task { try await client.response(to: HTTPRequest(.get, address)) }
        try await gate.reached()
        engine.stop()
        let running = await #expect(throws: AIError.self) { try await work.value }
        #expect(running?.code == .cancelled)
        let later = await #expect(throws: AIError.self) {
            try await client.response(to: HTTPRequest(.get, address))
        }
        #expect(later?.code == .cancelled)
        gate.release()
    }

    @Test func anEngineThatNobodyHoldsEnds() async throws {
        weak var weakly: HTTPEngine?
        do {
            let engine = try engine()
            weakly = engine
            let client = HTTPClient(engine: engine, origin: try #require(Origin(hub.endpoint)), token: nil)
            #expect(try await client.response(to: HTTPRequest(.get, address)).status == 200)
        }
        try await eventually("the engine's end") { weakly == nil }
    }

    @Test func anAnswerBeyondTheLimitIsRefused() async throws {
        let client = HTTPClient(engine: try engine(), origin: try #require(Origin(hub.endpoint)), token: nil)
        let error = await #expect(throws: AIError.self) {
            try await client.response(to: HTTPRequest(.get, address), limit: 10)
        }
        #expect(error?.code == .protocolViolation)
    }

    @Test func aRedirectLoopEndsAfterTen() async throws {
        let client = HTTPClient(engine: try engine(), origin: try #require(Origin(hub.endpoint)), token: nil)
        hub.fail("/api/models/org/m", .redirectLoop, times: nil)
        let error = await #expect(throws: AIError.self) {
            try await client.response(to: HTTPRequest(.get, address))
        }
        #expect(error?.code == .protocolViolation)
        #expect(hub.requests.count == 11)
    }

    // MARK: Redirects

    private func target(_ location: String?, from address: String) throws -> String {
        var fields = HTTPFields()
        if let location { fields.append("Location", location) }
        return try HTTPHead(status: 302, fields: fields, address: address).redirectTarget()
    }

    @Test func redirectsLeadWhereTheyMay() throws {
        #expect(try target("/x?y=1", from: "https://hub.example/a/b?c=d") == "https://hub.example/x?y=1")
        #expect(try target("x", from: "https://hub.example/a/b") == "https://hub.example/a/x")
        #expect(try target("//cdn.example/x", from: "https://hub.example/a") == "https://cdn.example/x")
        #expect(
            try target("https://cdn.example/x%2Fy?sig=a%2Bb", from: "http://h/a")
                == "https://cdn.example/x%2Fy?sig=a%2Bb")
        #expect(try target("http://cdn.example/x", from: "http://h/a") == "http://cdn.example/x")
    }

    /// Invariant 7: http and https only, and never from https to http.
    @Test(arguments: [
        "http://hub.example/a", "HTTP://cdn.example/x", "file:///etc/passwd", "ftp://h/x", "javascript:alert(1)",
        "data:text/plain,x", "https://", "", "https:///x",
    ])
    func redirectsThatAreRefused(_ location: String) {
        let error = #expect(throws: AIError.self) { try target(location, from: "https://hub.example/a?token=1") }
        #expect(error?.code == .protocolViolation)
        #expect(error?.message.range(of: "token=1") == nil)
    }

    @Test func aRedirectWithoutAnAddressIsRefused() {
        #expect(throws: AIError.self) { try target(nil, from: "https://hub.example/a") }
    }
}
