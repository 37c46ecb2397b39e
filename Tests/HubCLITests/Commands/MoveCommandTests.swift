import HubCore
import Support
import Testing

@Suite struct MoveCommandTests {
    let stage: Stage

    init() throws {
        stage = try Stage { root in
            let one = try ModelRepository("org/one", in: root)
            try one.write("model.safetensors", ForeignStores.weights(1))
            try one.write("config.json", Array("{}".utf8))
            // The same file in two models: one inode in the cache.
            try ModelRepository("org/two", in: root).write("model.safetensors", ForeignStores.weights(1))
            try ModelRepository("org/old", in: root).write("model.safetensors", ForeignStores.weights(2))
        }
    }

    /// Two models, one of them pinned, and one in the trash.
    private func fill() async throws {
        for name in ["org/one", "org/two", "org/old"] { #expect(try await stage.run("pull", name).status == 0) }
        #expect(try await stage.run("pin", "org/one", "--note", "mine").status == 0)
        #expect(try await stage.run("rm", "org/old", "--trash", "--yes").status == 0)
    }

    /// Every file below a folder that is reached from there, with its content.
    private func contents(_ folder: String) throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for name in try stage.listing(folder) where !name.hasPrefix(".locks/") {
            let path = Path.join(folder, name)
            if try FileSystem.status(path)?.kind == .file { found[name] = try FileSystem.contents(path) }
        }
        return found
    }

    /// The cache at `place`, by its old name too, with all that `before` has.
    private func expectMoved(to place: String, _ before: [String: [UInt8]], _ trash: [String: [UInt8]]) async throws
    {
        #expect(FileSystem.linkText(stage.cache) == place)
        #expect(try contents(place) == before && contents(place + "-trash") == trash)
        #expect(!FileSystem.exists(stage.cache + "-trash") && !FileSystem.exists(stage.cache + ".hub-moved"))
        #expect(try stage.listing(Path.join(place, ".locks")).allSatisfy { !$0.hasPrefix("hub.move") })
        let models = try await stage.run("ls", "--json").document().objects("models")
        #expect(models.compactMap { $0["id"]?.string }.sorted() == ["org/one", "org/two"])
        #expect(models.filter { $0["pinned"]?.bool == true }.compactMap { $0["id"]?.string } == ["org/one"])
        #expect(models.allSatisfy { $0["complete"]?.bool == true })
        #expect(try await stage.run("verify", "--full").status == 0)
        let blob = "blobs/\(ForeignStores.digest(ForeignStores.weights(1)))"
        let one = try FileSystem.status(Path.join(place, "models--org--one/\(blob)"))
        #expect(try FileSystem.status(Path.join(place, "models--org--two/\(blob)"))?.inode == one?.inode)
    }

    @Test func onOneDiskTheFolderIsRenamed() async throws {
        try await fill()
        let (before, trash) = (try contents(stage.cache), try contents(stage.cache + "-trash"))
        let inode = try FileSystem.status(stage.cache)?.inode
        let place = stage.machine("elsewhere/hub")
        let refused = try await stage.run("cache", "mv", place)
        #expect(refused.status == 2 && refused.output.contains("move from \(stage.cache) to \(place)"))
        #expect(try await stage.run("cache", "mv", place, "--dry-run").status == 0)
        #expect(try FileSystem.linkStatus(stage.cache)?.inode == inode)
        let moved = try await stage.run("cache", "mv", place, "--yes", "--json")
        #expect(moved.status == 0, "\(moved.error)")
        let document = try moved.document()
        document.expectKeys("moved_bytes path")
        #expect(document["path"]?.string == place)
        #expect(try #require(document["moved_bytes"]?.int) > 2 << 20)
        #expect(try FileSystem.status(place)?.inode == inode)
        try await expectMoved(to: place, before, trash)
        #expect(try await stage.run("trash", "restore", "org/old").status == 0)
        let again = try await stage.run("cache", "mv", place, "--yes")
        #expect(again.status == 2 && again.error.contains("there already"))
        // Back over the link, which must not be followed.
        let dry = try await stage.run("cache", "mv", stage.cache, "--dry-run")
        #expect(dry.status == 0 && FileSystem.linkText(stage.cache) == place, "\(dry.error)")
        let back = try await stage.run("cache", "mv", stage.cache, "--yes")
        #expect(back.status == 0, "\(back.error)")
        #expect(try FileSystem.linkStatus(stage.cache)?.inode == inode && FileSystem.linkText(place) == stage.cache)
        #expect(try contents(stage.cache).filter { before[$0.key] != nil } == before)
        #expect(try stage.listing(Path.join(stage.cache, ".locks")).allSatisfy { !$0.hasPrefix("hub.move") })
    }

    /// A second move left a chain of links, and doctor counted each model of each place.
    @Test func aSecondMoveLeavesNoChain() async throws {
        try await fill()
        let before = try contents(stage.cache)
        let (one, two) = (stage.machine("first/hub"), stage.machine("second/hub"))
        for place in [one, two] {
            let moved = try await stage.run("cache", "mv", place, "--yes")
            #expect(moved.status == 0, "\(moved.error)")
            #expect(try await stage.run("ls", "-q", "--sort", "name").lines == ["org/one", "org/two"])
        }
        #expect(FileSystem.linkText(stage.cache) == two && FileSystem.linkText(one) == two)
        #expect(try contents(two) == before)
        let checks = try await stage.run("doctor").output
        #expect(checks.contains(" 2 cached repositories"), "\(checks)")
    }

    /// The link is on another disk than the cache: what is behind it stays in use until the cache has its place.
    @Test func backFromAnotherDisk() async throws {
        guard let disk = try otherDisk() else { try Test.cancel("there is no second file system to write to") }
        try await fill()
        let (before, trash) = (try contents(stage.cache), try contents(stage.cache + "-trash"))
        let place = disk("hf/hub")
        #expect(try await stage.run("cache", "mv", place, "--yes").status == 0)
        let back = try await stage.run("cache", "mv", stage.cache, "--yes")
        #expect(back.status == 0, "\(back.error)")
        #expect(FileSystem.linkText(stage.cache) == nil && FileSystem.linkText(place) == stage.cache)
        #expect(try contents(stage.cache) == before && contents(stage.cache + "-trash") == trash)
        let left = try stage.listing(stage.machine("hf")).filter {
            $0.hasPrefix("hub.") || $0.hasPrefix("hub/.locks/hub.m")
        }
        #expect(left.isEmpty, "\(left)")
        #expect(try FileSystem.entries(disk("hf")) == ["hub"])
        #expect(try await stage.run("verify", "--full").status == 0)
    }

    /// A folder on another file system; nil without one.
    private func otherDisk() throws -> TemporaryFolder? {
        let memory = "/dev/shm"
        guard let there = try FileSystem.status(memory), let here = try FileSystem.status(stage.machine.path),
            there.device != here.device
        else { return nil }
        return try? TemporaryFolder("moved", in: memory)
    }

    @Test func toAnotherDiskItIsCopiedAndUnfinishedDownloadsGoOn() async throws {
        guard let disk = try otherDisk() else { try Test.cancel("there is no second file system to write to") }
        try ModelRepository("org/large", in: stage.root).random("large.safetensors", size: 3 << 20, seed: 7)
        try await fill()
        let gate = stage.hub.hold("^GET .*large", after: 2 << 20, on: .cdn)
        let begun = try stage.start("pull", "org/large", "--connections", "1")
        try await gate.reached()
        let inUse = try await stage.run("cache", "mv", disk("hf/hub"), "--yes")
        #expect(inUse.status == 6 && inUse.error.contains("org/large is being downloaded"), "\(inUse.error)")
        #expect(FileSystem.linkText(stage.cache) == nil)
        begun.killHard()
        _ = try await begun.wait()
        gate.release()
        let trash = try contents(stage.cache + "-trash")
        let maps = try stage.listing(stage.cache).filter { $0.hasSuffix(".hub.map.incomplete") }
        let moved = try await stage.run("cache", "mv", disk("hf/hub"), "--yes")
        #expect(moved.status == 0, "\(moved.error)")
        #expect(
            moved.output.hasSuffix("\nthe cache is in \(disk("hf/hub")) now\n\(disk("hf/hub"))\n"),
            "\(moved.output)")
        #expect(try contents(disk("hf/hub-trash")) == trash)
        let before = stage.hub.requests.count
        #expect(try await stage.run("pull", "org/large").status == 0)
        if !maps.isEmpty {
            let ranges = stage.hub.requests.dropFirst(before).filter { $0.listener == .cdn }.compactMap(\.range)
            #expect(!ranges.isEmpty && !ranges.contains { $0.hasPrefix("bytes=0-") }, "\(ranges)")
        }
        try await withoutLarge { try await expectMoved(to: disk("hf/hub"), $0, trash) }
    }

    private func withoutLarge(_ body: ([String: [UInt8]]) async throws -> Void) async throws {
        #expect(try await stage.run("rm", "org/large", "--yes").status == 0)
        try await body(try contents(FileSystem.linkText(stage.cache) ?? stage.cache))
    }

    @Test func whatIsInTheWayIsRefused() async throws {
        try await fill()
        let taken = stage.machine("taken")
        try FileSystem.createDirectories(taken)
        try FileSystem.replace(Path.join(taken, "mine"), with: [1])
        for folder in [taken, stage.cache, Path.join(stage.cache, "below"), Path.parent(stage.cache)] {
            let result = try await stage.run("cache", "mv", folder, "--yes")
            #expect(result.status == 2, "\(folder): \(result.error)")
        }
        #expect(try stage.listing(taken) == ["mine"] && FileSystem.linkText(stage.cache) == nil)
        #expect(
            try await stage.run("cache", "mv", stage.machine("x"), "--yes", with: ["HF_HUB_CACHE": "/nowhere"])
                .status == 3)
    }

    #if os(Linux)
    /// Killed at any step, all is in the old or the new place, and the same command finishes.
    @Test(arguments: [false, true]) func aKillLosesNothing(toAnotherDisk: Bool) async throws {
        let library = try await FaultyDisk.library(in: stage.machine)
        let disk = toAnotherDisk ? try otherDisk() : stage.machine
        guard let disk else { try Test.cancel("there is no second file system to write to") }
        let place = disk("new/hf/hub")
        try await fill()
        let (before, trash) = (try contents(stage.cache), try contents(stage.cache + "-trash"))
        let saved = stage.machine("saved")
        try await copy(stage.machine("hf"), saved)
        var killed = 0
        // Each step of a rename; of a copy every third, which meets all kinds of them.
        for step in stride(from: 1, to: 600, by: toAnotherDisk ? 3 : 1) {
            try FileSystem.removeTree(stage.machine("hf"))
            try FileSystem.removeTree(disk("new"))
            try await copy(saved, stage.machine("hf"))
            let result = try await stage.run(
                "cache", "mv", place, "--yes", with: ["LD_PRELOAD": library, "FAULTY_DISK": "kill:\(step)"])
            let whole = FileSystem.exists(stage.cache) ? stage.cache : place
            let there = try contents(FileSystem.resolved(whole) ?? whole)
            #expect(there.filter { before[$0.key] != nil } == before, "step \(step)")
            guard result.wasKilled else {
                #expect(result.status == 0, "\(result.error)")
                break
            }
            killed += 1
            let again = try await stage.run("cache", "mv", place, "--yes")
            // Killed after its last step, it is done.
            #expect(
                again.status == 0 || again.error.contains("the cache is there already"),
                "step \(step): \(again.error)")
            #expect(FileSystem.linkText(stage.cache) == place, "step \(step)")
            #expect(try contents(place) == before && contents(place + "-trash") == trash, "step \(step)")
            #expect(!FileSystem.exists(stage.cache + ".hub-moved") && !FileSystem.exists(stage.cache + "-trash"))
        }
        #expect(killed >= 5)
        try await expectMoved(to: place, before, trash)
    }

    /// Copies a folder with its links, modes and times.
    private func copy(_ from: String, _ to: String) async throws {
        let result = try await RunningProcess.run(
            "/bin/cp", ["-a", from, to], environment: ["PATH": "/usr/bin:/bin"])
        try #require(result.status == 0, "\(result.error)")
    }

    /// The same for the way back over the link.
    @Test(arguments: [false, true]) func aKillOnTheWayBackLosesNothing(fromAnotherDisk: Bool) async throws {
        let library = try await FaultyDisk.library(in: stage.machine)
        let disk = fromAnotherDisk ? try otherDisk() : stage.machine
        guard let disk else { try Test.cancel("there is no second file system to write to") }
        let place = disk("new/hf/hub")
        try await fill()
        let before = try contents(stage.cache)
        let saved = stage.machine("saved")
        try await copy(stage.machine("hf"), saved)
        var killed = 0
        for step in stride(from: 1, to: 900, by: fromAnotherDisk ? 7 : 1) {
            try FileSystem.removeTree(stage.machine("hf"))
            try FileSystem.removeTree(disk("new"))
            try await copy(saved, stage.machine("hf"))
            #expect(try await stage.run("cache", "mv", place, "--yes").status == 0)
            let result = try await stage.run(
                "cache", "mv", stage.cache, "--yes", with: ["LD_PRELOAD": library, "FAULTY_DISK": "kill:\(step)"])
            // Whoever looks at the usual place finds all of it.
            let there = try contents(FileSystem.resolved(stage.cache) ?? stage.cache)
            #expect(there.filter { before[$0.key] != nil } == before, "step \(step)")
            guard result.wasKilled else {
                #expect(result.status == 0, "\(result.error)")
                break
            }
            killed += 1
            let again = try await stage.run("cache", "mv", stage.cache, "--yes")
            #expect(
                again.status == 0 || again.error.contains("the cache is there already"),
                "step \(step): \(again.error)")
            #expect(FileSystem.linkText(stage.cache) == nil, "step \(step)")
            #expect(FileSystem.resolved(place) == stage.cache, "step \(step)")
            #expect(try contents(stage.cache).filter { before[$0.key] != nil } == before, "step \(step)")
        }
        #expect(killed >= 5)
    }
    #endif
}
