import HubCore
import Support
import Testing

@testable import HubCLI

/// Archives of a new revision for a machine that has the older one: only what has changed travels, and what arrives is
/// right or refused.
@Suite struct ArchiveDeltaTests {
    private let travel: TravelStage
    private let repository: ModelRepository
    private static let length = 64 << 10

    init() async throws {
        travel = try TravelStage()
        repository = try ModelRepository("org/tiny", in: travel.stage.root)
    }

    private func tensors(_ seeds: [UInt64], names: [String]? = nil) -> [UInt8] {
        TensorFile.bytes(seeds, names: names, length: Self.length)
    }

    /// Writes two revisions into the cache here, and the first one into the cache there.
    private func revisions(_ name: String, _ old: [UInt8], _ new: [UInt8]) async throws {
        try repository.write(name, old)
        try await travel.here("pull", "-q", "org/tiny")
        try await travel.here("export", "org/tiny", "-o", "old.tar")
        try #require(try await travel.there("import", "old.tar").status == 0)
        try repository.write(name, new)
        try await travel.here("pull", "-q", "org/tiny")
        let inventory = try await travel.there("cache", "inventory")
        try FileSystem.replace(travel.path("there.json"), with: Array(inventory.output.utf8))
    }

    private func export(_ path: String = "new.tar") async throws -> Int64 {
        let result = try await travel.here("export", "org/tiny", "-o", path, "--since", "there.json", "--json")
        return try #require(try result.document()["bytes"]?.int)
    }

    private func expectArrived(_ name: String, _ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        let result = try await travel.there("import", "new.tar")
        #expect(result.status == 0, "\(result.error)", sourceLocation: sourceLocation)
        let place = try #require(try await travel.there("path", "org/tiny").lines.first)
        #expect(
            try FileSystem.contents(Path.join(place, name)) == bytes ? true : false, sourceLocation: sourceLocation)
        #expect(try await travel.there("verify", "--full", "--offline").status == 0, sourceLocation: sourceLocation)
        let left = try travel.stage.listing(travel.cache).filter { $0.hasSuffix(".incomplete") }
        #expect(left == [], sourceLocation: sourceLocation)
    }

    /// Tensors are found where they are, also behind others that came or went.
    @Test func tensorsThatStayedDoNotTravel() async throws {
        let seeds = (1...20).map(UInt64.init)
        var (changed, names) = (seeds, (0..<20).map { "t\($0)" })
        changed[4] = 1000
        changed.insert(2000, at: 9)
        names.insert("more", at: 9)
        let new = tensors(changed, names: names)
        try await revisions("model.safetensors", tensors(seeds), new)
        let bytes = try await export()
        #expect((2 * Self.length..<2 * Self.length + 20_000).contains(Int(bytes)), "\(bytes)")
        // The same models, and the same other side, make the same bytes; an interrupted export continues.
        let whole = try #require(try FileSystem.contents(travel.path("new.tar")))
        for cut in [whole.count / 3, whole.count - 100, 600] {
            try FileSystem.replace(travel.path("again.tar.incomplete"), with: Array(whole[..<cut]))
            _ = try await export("again.tar")
            #expect(try FileSystem.contents(travel.path("again.tar")) == whole ? true : false, "\(cut)")
        }
        try await expectArrived("model.safetensors", new)
    }

    @Test func otherFilesAreComparedInPlace() async throws {
        let old = ModelRepository.randomBytes(3 << 20, seed: 1)
        var new = old + [1, 2, 3]
        new[5] ^= 1
        try await revisions("model.bin", old, new)
        #expect(try await export() < 1_100_000)
        try await expectArrived("model.bin", new)
    }

    @Test func whatHasNothingInCommonTravelsWhole() async throws {
        let new = tensors((101...120).map(UInt64.init))
        try await revisions("model.safetensors", tensors((1...20).map(UInt64.init)), new)
        #expect(try await export() >= Int64(new.count))
        try await expectArrived("model.safetensors", new)
    }

    /// Without the older file, or with a damaged one, nothing changes there.
    @Test func theOlderFileMustBeThere() async throws {
        let seeds = (1...20).map(UInt64.init)
        var changed = seeds
        changed[4] = 1000
        let (old, new) = (tensors(seeds), tensors(changed))
        try await revisions("model.safetensors", old, new)
        _ = try await export()
        let place = try #require(try await travel.there("path", "org/tiny").lines.first)
        let blob = try #require(FileSystem.resolved(Path.join(place, "model.safetensors")))
        var damaged = old
        damaged[old.count - 7] ^= 1
        try FileSystem.replace(blob, with: damaged)
        let before = try travel.stage.listing(travel.cache)
        let wrong = try await travel.there("import", "new.tar")
        #expect(wrong.status == 7 && wrong.error.contains("hub verify org/tiny"), "\(wrong.error)")
        #expect(
            try travel.stage.listing(travel.cache).filter { !$0.contains(".locks") }
                == before.filter { !$0.contains(".locks") })
        try FileSystem.replace(blob, with: Array(old[..<(1 << 20)]))
        let short = try await travel.there("import", "new.tar")
        #expect(short.status == 7 && short.error.contains("is shorter"), "\(short.error)")
        try FileSystem.remove(blob)
        let missing = try await travel.there("import", "new.tar")
        #expect(missing.status == 3 && missing.error.contains("only the changes"), "\(missing.error)")
    }

    /// An archive is not made of an older file that is not what its name says.
    @Test func aDamagedOlderFileHereIsNotUsed() async throws {
        let seeds = (1...20).map(UInt64.init)
        var changed = seeds
        changed[4] = 1000
        let (old, new) = (tensors(seeds), tensors(changed))
        try repository.write("model.safetensors", old)
        try await travel.here("pull", "-q", "org/tiny")
        let first = try #require(try await travel.here("path", "org/tiny").lines.first)
        let blob = try #require(FileSystem.resolved(Path.join(first, "model.safetensors")))
        try await revisions("model.safetensors", old, new)
        var damaged = old
        damaged[old.count - 7 - 5 * Self.length] ^= 1
        try FileSystem.replace(blob, with: damaged)
        #expect(try await export() >= Int64(new.count))
        try await expectArrived("model.safetensors", new)
    }

    @Test func deltasThatLie() async throws {
        let seeds = (1...20).map(UInt64.init)
        var changed = seeds
        changed[4] = 1000
        try await revisions("model.safetensors", tensors(seeds), tensors(changed))
        _ = try await export("new/")
        let path = travel.path("new/hub-export.json")
        let good = try #require(try FileSystem.text(path))
        let manifest = try JSON.parse(Array(good.utf8))
        let deltas = try #require(manifest["deltas"]?.object)
        let (digest, delta) = try #require(deltas.members.first.map { ($0.key, $0.value) })
        let (base, shared) = (try #require(delta["base"]?.string), try #require(delta["shared"]?.text()))
        let part = try #require(delta["shared"]?.array?.first?.text())
        let numbers = try #require(try JSON.parse(Array(part.utf8)).array?.compactMap(\.int))
        let shorter = "[\(numbers[0]),\(numbers[1] - 1),\(numbers[2])]"
        for (from, to, word) in [
            (base, "../../../evil", "not one of hub's"), (base, String(base.prefix(40)), "not one of hub's"),
            (shared, "[[5,4,0]]", "not one of hub's"), (shared, "[[-1,4,0]]", "not one of hub's"),
            (shared, "[[0,99999999999,0]]", "not one of hub's"), (shared, "[[0,4,-1]]", "not one of hub's"),
            (shared, "[[0,9,0],[8,12,0]]", "not one of hub's"), (shared, "[[0,4]]", "not one of hub's"),
            (shared, "7", "not one of hub's"), (part, "[9,1000,9223372036854775807]", "not one of hub's"),
            ("\"\(digest)\":{\"base\"", "\"\(base)\":{\"base\"", "not of one of its files"),
            (part, shorter, "bytes instead of"),
        ] {
            #expect(good.contains(from), "\(from)")
            try FileSystem.replace(path, with: Array(good.replacing(from, with: to).utf8))
            let result = try await travel.there("import", "new")
            #expect(result.status == 7 && result.error.contains(word), "\(to): \(result.error)")
        }
        // Bytes from another place of the older file.
        let moved = "[\(numbers[0]),\(numbers[1]),\(numbers[2] + 1)]"
        try FileSystem.replace(path, with: Array(good.replacing(part, with: moved).utf8))
        let result = try await travel.there("import", "new")
        #expect(result.status == 7 && result.error.contains("has the digest"), "\(result.error)")
        try FileSystem.replace(path, with: Array(good.utf8))
        #expect(try await travel.there("import", "new").status == 0)
    }
}
