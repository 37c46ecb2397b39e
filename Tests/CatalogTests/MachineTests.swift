import HubCore
import Support
import Testing

@testable import Catalog

@Suite struct MachineTests {
    /// Other programs only make memory slower.
    @Test func theBestMeasurementOfAMonthCounts() throws {
        let place = try Place()
        let catalog = try place.open()
        let day = 86_400.0
        for (rate, days) in [(10.0, 0.0), (8, 1), (12, 2), (9, 33), (5, 34), (7, 35)] {
            try catalog.remember(memorySpeed: rate, of: "here", threads: 2, at: days * day)
            let expected = days < 2 ? 10 : days < 33 ? 12 : 9.0
            let found = try catalog.memorySpeed(of: "here", threads: 2)
            #expect(found == MemorySpeed(bytesPerSecond: expected, measuredAt: days * day), "\(days)")
        }
        try catalog.remember(memorySpeed: 20, of: "here", threads: 4, at: 0)
        let again = try place.open()
        #expect(try again.memorySpeed(of: "here", threads: 2)?.bytesPerSecond == 9)
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
