import FuzzDoors
import HubCore
import Support
import Testing

/// A few inputs for every door in each run of the tests; scripts/fuzz tries millions.
@Suite struct FuzzDoorTests {
    /// No input may take longer, in seconds of its thread, sanitizers included.
    private static let patience = 30.0

    @Test(arguments: FuzzDoor.all.map(\.name))
    func everyInputIsReadOrRefused(_ name: String) throws {
        let door = try #require(FuzzDoor.all.first { $0.name == name })
        var inputs = try door.inputs()
        let count = inputs.count
        try #require(count > 1)
        for number in 0..<150 {
            var random = SeededRandom(number: number)
            inputs.append(("number \(number)", random.fuzzed(inputs[random.below(count)].bytes)))
        }
        for input in inputs {
            let start = Clock.threadSeconds
            #expect(throws: Never.self, "\(name), \(input.name)") { try door.read(input.bytes) }
            #expect(Clock.threadSeconds - start < Self.patience, "\(name), \(input.name)")
        }
    }
}
