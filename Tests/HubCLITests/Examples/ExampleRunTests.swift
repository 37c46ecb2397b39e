import Support
import Testing

@testable import HubCLI

/// Every example of the help, README and the guide does what it is there for: it runs, and ends well.
@Suite struct ExampleRunTests {
    @Test(arguments: ExampleUnit.all) func itRuns(_ unit: ExampleUnit) async throws {
        let lines = unit.lines.filter { ExampleNeed.excluded[$0] == nil }
        guard !ExampleUnit(place: unit.place, lines: lines).commands.isEmpty else { return }
        let world = try ExampleWorld(unit)
        try await world.prepare()
        var exports: [String] = []
        for line in lines {
            if line.hasPrefix("export ") {
                exports.append(line)
                continue
            }
            let result = try await world.run(line, exports: exports)
            let said = "\(unit.place): \(line)\n\(result.error)\(result.terminal)\(result.output.suffix(1000))"
            #expect(result.status == 0, "\(said)")
            for complaint in ["unknown", "did you mean"] {
                #expect(!result.error.contains(complaint) && !result.terminal.contains(complaint), "\(said)")
            }
        }
    }

    @Test func theExamplesWereFound() {
        let places = Set(ExampleUnit.all.map(\.place))
        for command in CommandTable.all { #expect(places.contains("hub help \(command.name)"), "\(command.name)") }
        let pages = ["README.md", "docs/guide/travel.md", "docs/guide/conversations.md", "docs/guide/providers.md"]
        #expect(places.isSuperset(of: pages))
        #expect(ExampleUnit.all.flatMap(\.commands).count > 180)
    }

    /// What is prepared for lines, or said of them, is gone when they are.
    @Test func noTableOutlivesItsExamples() {
        let lines = ExampleUnit.all.flatMap(\.commands)
        for need in ExampleNeed.all { #expect(lines.contains { need.isFor($0) }, "\(need.lines)") }
        for line in ExampleNeed.excluded.keys { #expect(lines.contains(line), "\(line)") }
    }
}
