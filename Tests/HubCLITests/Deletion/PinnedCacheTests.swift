import Catalog
import Fetcher
import HubCore
import Support
import Testing

/// Pins belong to a cache, regardless of its path and of damage to the catalog's newest pages.
@Suite struct PinnedCacheTests {
    let stage: Stage

    init() throws {
        stage = try Stage()
        try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa"])
        try stage.plant("models--org--two", commit: commit("2"), files: ["b.bin": "bbbbbb"])
    }

    private var idFile: String { Path.join(stage.cache, ".locks/hub.id") }

    /// What a rule that takes everything leaves.
    private func protected(_ home: String? = nil, _ variables: [String: String] = [:]) async throws -> [String] {
        let variables = variables.merging(home.map { ["HF_HOME": $0] } ?? [:]) { $1 }
        let result = try await stage.run("gc", "--unused-for", "0d", "--dry-run", "--json", with: variables)
        #expect(result.status == 0, "\(result.error)")
        return try result.document().objects("protected").compactMap { $0["id"]?.string }
    }

    private func copy(_ from: String, _ to: String) async throws {
        #expect(try await RunningProcess.run("/bin/cp", ["-a", from, to]).status == 0)
    }

    @Test func theySurviveEveryWayOfMovingACache() async throws {
        #expect(try await stage.run("pin", "org/one").status == 0)
        #expect(try FileSystem.text(idFile)?.utf8.count == 33)
        // Moved, with a link in its old place.
        let (old, big) = (stage.machine("hf"), stage.machine("big"))
        try FileSystem.rename(old, to: big)
        try FileSystem.createSymlink(big, at: old)
        #expect(try await protected() == ["org/one"])
        // Without it, under another HF_HOME.
        try FileSystem.remove(old)
        #expect(try await protected(big) == ["org/one"])
        // On another disk every inode is another.
        let other = stage.machine("other")
        try await copy(big, other)
        try FileSystem.removeTree(big)
        #expect(try await protected(other) == ["org/one"])
        // The folder of locks was emptied, then the cache was renamed.
        try FileSystem.removeTree(Path.join(other, "hub/.locks"))
        try FileSystem.rename(other, to: old)
        #expect(try await protected() == ["org/one"])
        try FileSystem.removeTree(Path.join(old, "hub/.locks"))
        #expect(try await protected() == ["org/one"])
        #expect(try await stage.run("gc", "--unused-for", "0d", "--yes").status == 0)
        #expect(try await stage.run("ls", "-q").lines == ["org/one"])
        #expect(try await stage.run("unpin", "org/one").status == 0)
        #expect(try await protected().isEmpty)
    }

    @Test func aCopyStartsWithTheSamePinsAndHasItsOwn() async throws {
        #expect(try await stage.run("pin", "org/*").status == 0)
        let home = stage.machine("copy")
        try await copy(stage.machine("hf"), home)
        #expect(try await protected(home).sorted() == ["org/one", "org/two"])
        #expect(try FileSystem.text(idFile) != FileSystem.text(Path.join(home, "hub/.locks/hub.id")))
        #expect(try await stage.run("unpin", "org/one", with: ["HF_HOME": home]).status == 0)
        #expect(try await protected(home) == ["org/two"])
        #expect(try await protected().sorted() == ["org/one", "org/two"])
    }

    /// Earlier hubs kept them by the cache's path.
    @Test func pinsByPathGetAnId() async throws {
        let catalog = try Catalog(path: stage.catalog)
        try catalog.pin(
            cache: stage.cache, folder: "models--org--one", commit: try #require(Commit(commit("1"))), note: "why",
            at: 1)
        #expect(try await protected() == ["org/one"])
        try FileSystem.rename(stage.machine("hf"), to: stage.machine("big"))
        #expect(try await protected(stage.machine("big")) == ["org/one"])
        #expect(try await stage.run("unpin", "org/one", with: ["HF_HOME": stage.machine("big")]).status == 0)
        #expect(try await protected(stage.machine("big")).isEmpty)
    }

    /// A cut log takes the newest changes of the catalog along; the backup has each change of a pin.
    @Test func whatTheCatalogHasLostComesFromItsBackup() async throws {
        #expect(try await stage.run("ls").status == 0)
        func lose(_ change: String...) async throws {
            // What was written last may be in the log only.
            let log = stage.catalog + "-wal"
            let before = try #require(try FileSystem.contents(stage.catalog))
            let logBefore = try FileSystem.contents(log)
            #expect(try await stage.run(change).status == 0)
            for end in ["-wal", "-shm"] { try FileSystem.remove(stage.catalog + end) }
            try FileSystem.replace(stage.catalog, with: before)
            if let logBefore { try FileSystem.replace(log, with: logBefore) }
        }
        try await lose("pin", "org/one")
        let result = try await stage.run("gc", "--unused-for", "0d", "--yes")
        #expect(result.status == 0)
        #expect(
            result.error.contains("lost changes of pins; they were restored from its backup"), "\(result.error)")
        #expect(try await stage.run("ls", "-q").lines == ["org/one"])
        #expect(try await stage.run("ls").error.isEmpty, "once")
        try await lose("unpin", "org/one")
        #expect(try await protected().isEmpty)
    }

    /// A cache that takes no file of ours: the place of the id is not a folder.
    @Test func whereACacheCannotBeMarkedPinningSaysSo() async throws {
        try FileSystem.replace(Path.join(stage.cache, ".locks"), with: [])
        let result = try await stage.run("pin", "org/one")
        #expect(result.status == 6 && result.output.isEmpty)
        #expect(result.error.hasPrefix("hub: cannot pin anything in \(stage.cache): "), "\(result.error)")
        #expect(result.error.contains("hub writes .locks/hub.id there once"))
        #expect(try await protected().isEmpty)
        // What is used is noted all the same.
        #expect(try await stage.run("path", "org/one").error.isEmpty)
    }

    /// "My disk is full, I install hub": there is no catalog, no room for one, and nothing pinned.
    @Test func aFullDiskIsCleanedWithoutACatalog() async throws {
        try await withSmallDisk("1m") { disk in
            let home = Path.join(disk, "hf")
            let variables = ["HUB_HOME": Path.join(disk, "state"), "HF_HOME": home]
            for room in [0, 1, 2, 4, 16] {
                try await copy(stage.machine("hf"), home)
                try fill(disk, leaving: room * 4096)
                for words in [["rm", "org/one"], ["gc", "--unused-for", "0d"]] {
                    let result = try await stage.run(words + ["--yes"], with: variables)
                    #expect(result.status == 0, "\(room) \(words): \(result.error)")
                    #expect(result.output.hasSuffix(" freed\n"), "\(room) \(words): \(result.output)")
                }
                _ = try await RunningProcess.run("/bin/sh", ["-c", "rm -rf \"$0\"/*", disk])
            }
        }
    }

    /// The catalog was deleted, and there is no room for another: the backup beside it has the pins.
    @Test func whereNoCatalogCanBeMadeItsBackupProtects() async throws {
        try await withSmallDisk("2m") { disk in
            let state = Path.join(disk, "state")
            #expect(try await stage.run("pin", "org/one", with: ["HUB_HOME": state]).status == 0)
            for end in ["", "-wal", "-shm"] { try FileSystem.remove(Path.join(state, "catalog.sqlite3") + end) }
            try fill(disk, leaving: 0)
            #expect(try await protected(nil, ["HUB_HOME": state]) == ["org/one"])
        }
    }

    private func withSmallDisk(_ size: String, _ body: (String) async throws -> Void) async throws {
        guard let disk = try await SmallDisk(stage.machine, size) else { try Test.cancel("no small disk") }
        do { try await body(disk.path) } catch {
            try await disk.unmount()
            throw error
        }
        try await disk.unmount()
    }

    private func fill(_ disk: String, leaving room: Int) throws {
        let free = Int(try FileSystem.diskSpace(disk).available)
        try FileSystem.replace(Path.join(disk, "filler"), with: [UInt8](repeating: 1, count: max(0, free - room)))
    }
}
