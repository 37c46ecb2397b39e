import HubCore
import HubServer
import Support
import Testing

@testable import HubAPI

/// Who waits for a place, and who goes first.
@Suite struct SlotsTests {
    private func metric(_ metrics: ServerMetrics, _ name: String) -> Int? {
        metrics.text().split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap {
            Int($0.split(separator: " ")[1])
        }
    }

    private func wait(_ metrics: ServerMetrics, queued: Int) async throws {
        while metric(metrics, "hub_requests_queued") != queued { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// A request for all places waits at the head of the line; one behind it that needs one place, which is free, must not
    /// wait once the first has left.
    @Test func whoLeavesTheLineLetsTheNextOneIn() async throws {
        let metrics = ServerMetrics()
        let slots = Slots(parallel: 8, queue: 10, metrics: metrics)
        let (ends, end) = AsyncStream.makeStream(of: Never.self)
        let running = Task { try await slots.with(1) { for await _ in ends {} } }
        while metric(metrics, "hub_requests_running") != 1 { try await Task.sleep(for: .milliseconds(1)) }
        let large = Task { try await slots.with(8) {} }
        try await wait(metrics, queued: 1)
        let small = Task { try await slots.with(1) {} }
        try await wait(metrics, queued: 2)
        large.cancel()
        await #expect(throws: CancellationError.self) { try await large.value }
        try await small.value
        #expect(metric(metrics, "hub_requests_queued") == 0 && metric(metrics, "hub_requests_running") == 1)
        end.finish()
        try await running.value
        #expect(metric(metrics, "hub_requests_running") == 0)
    }

    /// One request with many texts must not keep the others out until its last.
    @Test func othersGoBetweenTheTextsOfOneRequest() async throws {
        let metrics = ServerMetrics()
        let slots = Slots(parallel: 2, queue: 1, metrics: metrics)
        let many = try await slots.places(2)
        let other = Task { try await slots.with(2) {} }
        try await wait(metrics, queued: 1)
        // The line is full for those who come anew, and not for who goes on.
        let refused = await #expect(throws: APIFault.self) { try await slots.with(1) {} }
        #expect(refused?.status == 503)
        async let first: Void = many.renew()
        try await wait(metrics, queued: 2)
        async let second: Void = many.renew()
        try await other.value
        _ = try await (first, second)
        #expect(metric(metrics, "hub_requests_running") == 2 && metric(metrics, "hub_requests_queued") == 0)
        many.giveBack()
        #expect(metric(metrics, "hub_requests_running") == 1)
        many.end()
        many.end()
        #expect(metric(metrics, "hub_requests_running") == 0)
        // Who is cancelled while it waits holds nothing of it.
        let all = try await slots.places(2)
        let large = Task { try await slots.with(2) {} }
        try await wait(metrics, queued: 1)
        let waiting = Task { try await all.renew() }
        try await wait(metrics, queued: 2)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        all.end()
        try await large.value
        #expect(metric(metrics, "hub_requests_running") == 0)
    }
}
