import HubCore
import Support
import Testing

/// Many rounds of pulls that are disturbed in every way the tests' Hub knows. Takes minutes, so only scripts/soak runs
/// it; in other runs it counts as skipped.
@Suite struct SoakTests {
    @Test(.enabled(if: HubEnvironment.process["HUB_SOAK"] != nil, "scripts/soak runs it"))
    func disturbedPullsEndWell() async throws {
        let settings = try #require(try SoakSettings.asked())
        let repositories = try (0..<SoakSettings.repositories).map { number in
            try SoakRepository(seed: settings.seed &* 100 &+ UInt64(number))
        }
        print("Soak: rounds \(settings.rounds) with seed \(settings.seed), \(settings.atOnce) at once")
        var tally = SoakTally()
        try await withThrowingTaskGroup(of: SoakRound.self) { group in
            var waiting = settings.rounds.makeIterator()
            func begin() {
                guard let number = waiting.next() else { return }
                group.addTask { try await SoakRound.run(number, settings, repositories) }
            }
            for _ in 0..<settings.atOnce { begin() }
            while let round = try await group.next() {
                begin()
                tally.add(round.tally)
                if round.tally.failed > 0 {
                    Issue.record("\(round.text)")
                } else if settings.rounds.count == 1 {
                    print(round.text)
                }
                if tally.rounds % 10 == 0 { print("Soak: \(tally.rounds) rounds, \(tally.failed) failed") }
            }
        }
        print("Soak with seed \(settings.seed): \(tally)")
    }
}
