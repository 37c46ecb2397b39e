import HubCore
import HubServer
import Support
import Testing

/// The mirror's promises, held against random courses of events: clients, rights, troubles of upstream, and the end of the
/// process at any moment. HUB_SOAK=200 makes 19,800 courses of it.
@Suite struct MirrorPromiseTests {
    @Test func clientsGetWhatTheyMayGetByteForByte() async throws {
        let environment = HubEnvironment.process
        let count = environment["HUB_SOAK"].flatMap(Int.init).map { $0 * 99 } ?? 16
        let seed = environment["HUB_SOAK_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...999_999)
        let only = environment["HUB_SOAK_ROUND"].flatMap(Int.init)
        let next = Lock(only ?? 0)
        let end = only.map { $0 + 1 } ?? count
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let hub = ModelHub()
                    let server = try HubServer(limits: .patient, handler: hub)
                    while case let number = next.withLock({ n in
                        defer { n += 1 }
                        return n
                    }), number < end {
                        let course = try MirrorCourse(
                            hub, server.address, SeededRandom(number: seed &+ UInt64(number) &* 1_000_003))
                        try await course.run()
                        for fault in course.faults {
                            Issue.record("HUB_SOAK_SEED=\(seed) HUB_SOAK_ROUND=\(number): \(fault)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
