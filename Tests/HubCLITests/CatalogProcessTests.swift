#if os(Linux)
import Catalog
import Fetcher
import HubCore
import Support
import Testing

@testable import HubCLI

/// Catalogs and the real program: killed at any step, many at once, and on disks that are full or read-only.
@Suite struct CatalogProcessTests {
    let stage: Stage

    init() throws { stage = try Stage.withModel() }

    private var state: String { Path.parent(stage.catalog) }

    private func emptyState() throws {
        try FileSystem.removeTree(state)
        try FileSystem.createDirectories(state)
    }

    /// Runs `hub` again and again, each time from the same beginning, and kills it at an ever later step of its work on
    /// the catalog's files, until it comes through.
    ///
    /// - Parameter stride: how many steps each time; all of them would take long.
    private func killAtEveryStep(
        of words: [String], stride: Int, prepare: () throws -> Void, check: (_ step: Int) async throws -> Void
    ) async throws {
        let library = try await FaultyDisk.library(in: stage.machine)
        var killed = 0
        for step in Swift.stride(from: 1, to: 100_000, by: stride) {
            try emptyState()
            try prepare()
            let result = try await RunningProcess.run(
                BuiltProduct.path(), words,
                environment: stage.environment.merging(["LD_PRELOAD": library, "FAULTY_DISK": "crash:\(step)"]) {
                    $1
                })
            try await check(step)
            guard result.wasKilled else {
                #expect(result.status == 0, "\(result.error)")
                break
            }
            killed += 1
        }
        #expect(killed >= 4)
    }

    private func expectSound(_ catalog: Catalog, _ step: Int) throws {
        let said = try catalog.read { try $0.query("PRAGMA integrity_check") { $0.text(0) } }
        #expect(said == ["ok"], "step \(step)")
    }

    @Test func killedWhileTheTablesAreMadeNothingOfTheBackupIsLost() async throws {
        try await killAtEveryStep(of: ["search", "--offline", "-q"], stride: 13) {
            try Catalog(path: stage.catalog).pin(
                cache: "/c", folder: "f", commit: Commit(commit("a"))!, note: nil, at: 1)
            for name in try FileSystem.entries(state) ?? [] where !name.contains("backup") {
                try FileSystem.remove(Path.join(state, name))
            }
        } check: { step in
            let catalog = try Catalog(path: stage.catalog)
            try expectSound(catalog, step)
            #expect(try catalog.pins(ofCache: "/c").count == 1, "step \(step)")
        }
    }

    @Test func killedInTheMiddleOfABigWriteWhatWasThereIsThere() async throws {
        #expect(try await stage.run("pull", "-q", "org/tiny").status == 0)
        try await killAtEveryStep(of: ["ls", "-q"], stride: 2) {
            let catalog = try Catalog(path: stage.catalog)
            for digit in "abc" {
                try catalog.pin(cache: "/c", folder: "f", commit: Commit(commit(digit))!, note: nil, at: 1)
            }
        } check: { step in
            let catalog = try Catalog(path: stage.catalog)
            try expectSound(catalog, step)
            #expect(try catalog.pins(ofCache: "/c").count == 3, "step \(step)")
            #expect(try await stage.run("ls", "-q").output == "org/tiny\n", "step \(step)")
        }
    }

    @Test func killedWhileACatalogIsMadeAgainThePinsAreThere() async throws {
        #expect(try await stage.run("pull", "-q", "org/tiny").status == 0)
        try await killAtEveryStep(of: ["doctor", "rebuild", "--offline", "-q"], stride: 17) {
            let catalog = try Catalog(path: stage.catalog)
            for digit in "abc" {
                try catalog.pin(cache: "/c", folder: "f", commit: Commit(commit(digit))!, note: nil, at: 1)
            }
        } check: { step in
            let catalog = try Catalog(path: stage.catalog)
            try expectSound(catalog, step)
            #expect(try catalog.pins(ofCache: "/c").count == 3, "step \(step)")
            #expect(try FileSystem.entries(state)?.contains { $0.hasSuffix(".rebuilt") } == false, "step \(step)")
        }
    }

    /// Two hundred threads on forty connections, and programs beside them.
    @Test func twoHundredReadersAndWritersLoseNothing() async throws {
        #expect(try await stage.run("pull", "-q", "org/tiny").status == 0)
        let catalogs = try (0..<40).map { _ in try Catalog(path: stage.catalog) }
        let environment = stage.environment
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await Support.Thread.run {
                        let catalog = catalogs[number % 40]
                        if number % 2 == 0 {
                            try catalog.markUsed(
                                cache: "/c", folder: "f\(number)", commit: Commit(commit("a"))!, at: Double(number))
                        } else {
                            _ = try catalog.uses(ofCache: "/c")
                            _ = try catalog.search(ModelQuery(text: "tiny"))
                        }
                    }
                }
            }
            for words in [["path", "org/tiny"], ["ls", "-q"], ["search", "-q"], ["info", "-q", "org/tiny"]] {
                group.addTask {
                    let result = try await RunningProcess.run(
                        BuiltProduct.path(), words, environment: environment)
                    #expect(result.status == 0 && result.error.isEmpty, "\(words): \(result.error)")
                }
            }
            try await group.waitForAll()
        }
        #expect(try catalogs[0].uses(ofCache: "/c").count == 100)
        #expect(try CacheRecord(CacheLayout(stage.cache), in: catalogs[0]).uses().count == 1)
        try expectSound(catalogs[1], 0)
    }

    // MARK: Disks

    /// All commands for which the catalog is optional; the error must be reported once.
    private func expectToGoOn(_ variables: [String: String], _ warning: String) async throws {
        for words in [
            ["pull", "org/tiny", "-q"], ["ls", "-q"], ["path", "org/tiny"], ["info", "org/tiny", "-q"],
            ["search", "-q"],
            ["gc", "--detached", "-q"],
        ] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), words, environment: stage.environment.merging(variables) { $1 })
            #expect(result.status == 0, "\(words): \(result.error)")
            #expect(
                result.error.split(separator: "hub: ", omittingEmptySubsequences: false).count <= 2,
                "\(words): \(result.error)")
            if !result.error.isEmpty {
                #expect(result.error.hasPrefix("hub: warning: continuing without the catalog: "), "\(words)")
                #expect(result.error.contains(warning), "\(words): \(result.error)")
            }
        }
    }

    @Test func aFullDiskIsToldOnceAndTheWorkGoesOn() async throws {
        guard let disk = try await SmallDisk(stage.machine, "160k") else { try Test.cancel("no small disk") }
        let outcome = await Task {
            let variables = ["HUB_HOME": Path.join(disk.path, "state")]
            #expect(try await stage.run("search", "-q", with: variables).status == 0)
            let room = try FileSystem.diskSpace(disk.path).available
            try FileSystem.replace(
                Path.join(disk.path, "filler"), with: [UInt8](repeating: 1, count: Int(max(0, room - 4096))))
            try await expectToGoOn(variables, "no space left for the catalog ")
            let first = try await stage.run("ls", "-q", with: variables)
            #expect(first.error.contains("no space left for the catalog "), "\(first.error)")
        }.result
        try await disk.unmount()
        try outcome.get()
    }

    @Test func aReadOnlyDiskIsToldOnceAndTheWorkGoesOn() async throws {
        guard let disk = try await SmallDisk(stage.machine, "4m") else { try Test.cancel("no small disk") }
        let outcome = await Task {
            let variables = ["HUB_HOME": Path.join(disk.path, "state")]
            #expect(try await stage.run("search", "-q", with: variables).status == 0)
            guard try await disk.remount("ro") else { return }
            try await expectToGoOn(variables, "cannot be written")
            let rebuilt = try await stage.run("doctor", "rebuild", "--offline", with: variables)
            #expect(rebuilt.status == 6, "\(rebuilt.error)")
            let seen = try await stage.run("doctor", "--offline", "-q", with: variables)
            #expect(seen.status == 1 && seen.output.contains("paths.hub_home_unusable"), "\(seen.output)")
        }.result
        try await disk.unmount()
        try outcome.get()
    }

    @Test func aCatalogOfAnotherUserIsToldOnceAndTheWorkGoesOn() async throws {
        guard let user = OtherUser(23_451, group: 23_451), try await user.canRun(BuiltProduct.path()) else {
            try Test.cancel("not as root, or the checkout is closed to others")
        }
        #expect(try await stage.run("pull", "-q", "org/tiny").status == 0)
        try FileSystem.setMode(state, 0o755)
        for name in try FileSystem.entries(state) ?? [] { try FileSystem.setMode(Path.join(state, name), 0o444) }
        for folder in [stage.machine.path, stage.machine("hf")] { try FileSystem.setMode(folder, 0o755) }
        for words in [["ls", "-q"], ["path", "org/tiny"], ["search", "-q"]] {
            let line = user.words(try BuiltProduct.path(), words)
            let result = try await RunningProcess.run(
                line[0], Array(line.dropFirst()), environment: stage.environment)
            #expect(result.status == 0, "\(words): \(result.error)")
            #expect(
                result.error.split(separator: "hub: ", omittingEmptySubsequences: false).count == 2,
                "\(words): \(result.error)")
            #expect(result.error.contains("cannot be written"), "\(words): \(result.error)")
        }
    }

    @Test func aCatalogThatAnotherHoldsIsToldAfterAWhile() async throws {
        #expect(try await stage.run("pull", "-q", "org/tiny").status == 0)
        let holder = try Connection(stage.catalog)
        try holder.execute("BEGIN IMMEDIATE")
        let result = try await stage.run("path", "org/tiny")
        #expect(result.status == 0)
        #expect(
            result.error == """
                hub: warning: continuing without the catalog: the catalog \(stage.catalog) is in use by another process
                     wait for the other hub, then try again

                """)
        try holder.execute("ROLLBACK")
    }
}

extension ModelQuery {
    /// A search for words, all of what they find.
    fileprivate init(text: String) {
        self.init()
        self.text = text
        limit = -1
    }
}
#endif
