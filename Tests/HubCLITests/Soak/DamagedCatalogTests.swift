import Catalog
import HubCore
import Support
import Testing

@testable import HubCLI

/// Catalogs with flipped bytes, zeroed pages and missing ends. Whatever the program meets, it does not crash, deletes
/// nothing, and says nothing wrong of the cache. A few dozen in every run of the tests, 500 by scripts/soak.
@Suite struct DamagedCatalogTests {
    private static let seeds = HubEnvironment.process["HUB_SOAK"] == nil ? 0..<24 : 0..<500

    @Test func nothingThatCanBeDoneToItDoesHarm() async throws {
        let stage = try Stage.withModel()
        #expect(try await stage.run("pull", "-q", "org/tiny").status == 0)
        #expect(try await stage.run("search", "-q").status == 0)
        try stage.plant("models--other--model", commit: commit("b"), files: ["config.json": "{}"])
        #expect(try await stage.run("ls", "-q").status == 0)
        let round = try Round(stage)
        for seed in Self.seeds { try await round.run(seed) }
    }

    /// One stage, whose catalog is damaged anew for each seed.
    private struct Round {
        let stage: Stage
        let sound: [UInt8]
        /// The cache's contents.
        let files: [String]

        init(_ stage: Stage) throws {
            self.stage = stage
            try Connection(stage.catalog).execute("PRAGMA wal_checkpoint(TRUNCATE)")
            sound = try #require(try FileSystem.contents(stage.catalog))
            files = try stage.listing(stage.cache)
        }

        func run(_ seed: Int) async throws {
            var random = SeededRandom(number: seed + 1)
            var bytes = sound
            let what = Self.damage(&bytes, &random)
            let state = Path.parent(stage.catalog)
            for name in try FileSystem.entries(state) ?? [] where !name.contains("backup") {
                try FileSystem.remove(Path.join(state, name))
            }
            try FileSystem.replace(stage.catalog, with: bytes)
            for words in Self.commands {
                let result = try await RunningProcess.run(
                    BuiltProduct.path(), words, environment: stage.environment)
                #expect(!result.wasKilled, "seed \(seed), \(what), \(words): \(result.error)")
                #expect([0, 1, 3, 6].contains(result.status), "seed \(seed), \(what), \(words): \(result.error)")
                // Failures give a reason.
                #expect(
                    result.status == 0 || !result.error.isEmpty || words[0] == "doctor",
                    "seed \(seed), \(what), \(words)")
                if words[0] == "ls" {
                    let bare = try await stage.run("ls", "--json", with: ["HUB_HOME": stage.machine("none")])
                    #expect(
                        try Self.settled(result) == Self.settled(bare), "seed \(seed), \(what): \(result.output)")
                    try FileSystem.removeTree(stage.machine("none"))
                }
            }
            #expect(try stage.listing(stage.cache) == files, "seed \(seed), \(what)")
            let rebuilt = try await stage.run("doctor", "rebuild", "--offline", "-q")
            // A flipped version alone looks like a newer hub's work, and that is not replaced.
            #expect(
                rebuilt.status == 0 || rebuilt.error.contains("a newer hub made it"),
                "seed \(seed), \(what): \(rebuilt.error)")
        }

        private static let commands = [
            ["ls", "--json"], ["search", "--offline", "-q", "tiny"], ["path", "org/tiny", "-q"],
            ["info", "org/tiny", "--offline", "-q"], ["doctor", "--offline", "-q"],
        ]

        /// Damages the file in one of several ways; which, in words.
        private static func damage(_ bytes: inout [UInt8], _ random: inout SeededRandom) -> String {
            let pages = bytes.count / 4096
            func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
            switch random.next() % 5 {
            case 0:
                let length = below(bytes.count)
                bytes.removeLast(bytes.count - length)
                return "cut to \(length)"
            case 1:
                let page = below(pages)
                for at in page * 4096..<(page + 1) * 4096 { bytes[at] = 0 }
                return "page \(page + 1) of zeros"
            case 2:
                let page = below(pages)
                for at in page * 4096..<(page + 1) * 4096 { bytes[at] = UInt8(truncatingIfNeeded: random.next()) }
                return "page \(page + 1) of noise"
            case 3:
                let at = below(100)
                bytes[at] ^= 1 << UInt8(below(8))
                return "a bit of byte \(at) flipped"
            default:
                let count = 1 + below(40)
                for _ in 0..<count { bytes[below(bytes.count)] ^= 1 << UInt8(below(8)) }
                return "\(count) bits flipped"
            }
        }

        /// What a list says of the cache; times of use, by which it is ordered, and free space left out: those are the
        /// catalog's own, or change.
        private static func settled(_ result: ProcessResult) throws -> String {
            var document = try result.document()
            document["disk_free_bytes"] = nil
            document["models"] = .array(
                document.objects("models").map { model in
                    var model = model
                    model["last_used_at"] = nil
                    return JSON.object(model)
                }.sorted { $0.text() < $1.text() })
            return JSON.object(document).text()
        }
    }
}
