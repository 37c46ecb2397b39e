import HubCore
import Support
import Testing

@testable import Catalog

@Suite struct MachineTests {
    @Test func theLastMeasurementOfEachMachineIsRemembered() throws {
        let place = try Place()
        let catalog = try place.open()
        let (first, second) = (
            MemorySpeed(bytesPerSecond: 1e10, measuredAt: 1), MemorySpeed(bytesPerSecond: 2e10, measuredAt: 2)
        )
        try catalog.remember(first, of: "here", threads: 2)
        try catalog.remember(second, of: "here", threads: 4)
        #expect(try catalog.memorySpeed(of: "here", threads: 2) == first)
        try catalog.remember(second, of: "here", threads: 2)
        let again = try place.open()
        #expect(try again.memorySpeed(of: "here", threads: 2) == second)
        #expect(try again.memorySpeed(of: "there", threads: 2) == nil)
    }

    /// What only some answers of the Hub say is kept through the others.
    @Test func whatFilesSayOfAModelStays() throws {
        let place = try Place()
        let catalog = try place.open()
        var known = try record("org/a", downloads: 5)
        (known.modelType, known.modelClass, known.ggufArchitecture) = ("bert", "BertModel", "bert")
        try catalog.remember([known], at: 1)
        var later = try record("org/a", downloads: 6)
        later.isExhaustive = true
        try catalog.remember([later], at: 2)
        let found = try #require(try catalog.model(repository("org/a"))?.record)
        #expect(found.downloads == 6 && found.modelType == "bert" && found.modelClass == "BertModel")
        #expect(found.ggufArchitecture == "bert")
    }
}
