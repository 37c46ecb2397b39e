import HubCore
import Support
import Testing

@testable import HubCLI

/// `hub pull` in difficult environments: other umasks, other users, and disks that are small, apart or read-only.
@Suite struct PullEnvironmentTests {
    private let stage: Stage
    private let weights: [UInt8]

    init() throws {
        stage = try Stage()
        let repository = try ModelRepository("org/m", in: stage.root)
        try repository.write("config.json", "{}\n")
        try repository.write("sub/dir/notes.txt", "some words\n")
        weights = try repository.random("w.safetensors", size: 300_000, seed: 6)
    }

    private func expectWhole(_ result: ProcessResult, _ cache: String? = nil) throws {
        #expect(result.status == 0, "\(result.error)")
        let path = String(result.output.dropLast())
        #expect(path.hasPrefix((cache ?? stage.cache) + "/"))
        #expect(try FileSystem.contents(Path.join(path, "w.safetensors")) == weights ? true : false)
        #expect(try FileSystem.text(Path.join(path, "sub/dir/notes.txt")) == "some words\n")
    }

    /// A shell that says something first and then becomes `hub`.
    private func run(_ line: String, _ words: String..., with variables: [String: String] = [:]) async throws
        -> ProcessResult
    {
        try await RunningProcess.run(
            "/bin/sh", ["-c", line + "; exec \"$@\"", "sh", try BuiltProduct.path()] + words,
            environment: stage.environment.merging(variables) { $1 }, directory: stage.machine.path)
    }

    /// A folder's contents: every path with its mode, in octal; links without one.
    private func modes(_ folder: String) throws -> [String: String] {
        var out: [String: String] = [:]
        for name in try stage.listing(folder) {
            guard let status = try FileSystem.linkStatus(Path.join(folder, name)), status.kind != .symlink else {
                continue
            }
            out[name] = (status.kind == .directory ? "dir " : "file ") + String(status.mode, radix: 8)
        }
        return out
    }

    /// Waits until bytes of the weights are in the partial and the small files in their places, and interrupts.
    private func interrupt(_ process: RunningProcess, in cache: String) async throws {
        let blobs = Path.join(cache, "models--org--m/blobs")
        let digest = ContentHasher.digest(of: weights, like: .sha256("")).hex
        try await eventually("bytes in the partial") {
            guard let partial = try? FileDescriptor(Path.join(blobs, digest + ".hub.incomplete")) else {
                return false
            }
            var head = [UInt8](repeating: 0, count: 32)
            _ = try head.withUnsafeMutableBytes { try partial.read(into: $0, at: 0) }
            return head == Array(weights.prefix(32))
        }
        let snapshots = Path.join(cache, "models--org--m/snapshots")
        try await eventually("the small files") {
            try (FileSystem.entries(snapshots) ?? []).contains { commit in
                ["config.json", "sub/dir/notes.txt"].allSatisfy {
                    FileSystem.exists(Path.join(snapshots, "\(commit)/\($0)"))
                }
            }
        }
        process.interrupt()
        #expect(try await process.wait().status == 130)
    }

    // MARK: Modes

    /// Trap 30: 0666 and 0777 less the umask, trees included, whatever mkstemp would give; locks are everybody's.
    @Test(arguments: [0o022, 0o002, 0o077, 0o027]) func theUmaskDecidesWhoMayRead(umask: Int) async throws {
        try expectWhole(try await run("umask \(String(umask, radix: 8))", "pull", "-q", "org/m"))
        let found = try modes(stage.cache)
        #expect(found.keys.contains { $0.contains("/trees/") } && found.keys.contains { $0.contains("/refs/main") })
        for (name, mode) in found {
            let isLock = name.hasPrefix(".locks/") && name.hasSuffix(".lock")
            let wanted =
                isLock
                ? "file 664"
                : mode.hasPrefix("dir")
                    ? "dir \(String(0o777 & ~umask, radix: 8))" : "file \(String(0o666 & ~umask, radix: 8))"
            #expect(mode == wanted, "\(name)")
        }
    }

    /// Two people of one group, in a folder set up for it: what one has begun the other finishes, replaces and deletes.
    @Test func twoUsersOfAGroupShareACache() async throws {
        let group: UInt32 = 54_300
        guard let one = OtherUser(54_301, group: 54_301, groups: [group]),
            let two = OtherUser(54_302, group: 54_302, groups: [group])
        else { try Test.cancel("this user cannot become another") }
        let program = try BuiltProduct.path()
        guard try await one.canRun(program) else { try Test.cancel("another user cannot run \(program)") }
        let cache = stage.machine("shared")
        try OtherUser.makeShared(cache, group: group)
        func start(_ user: OtherUser, _ words: String...) throws -> RunningProcess {
            let home = stage.machine("home-\(user.user)")
            try user.own(home)
            let line = ["-c", "umask 002; exec \"$@\"", "sh"] + user.words(program, words)
            let variables = ["HOME": home, "HUB_HOME": home + "/state", "HF_HUB_CACHE": cache]
            return try RunningProcess("/bin/sh", line, environment: stage.environment.merging(variables) { $1 })
        }
        let gate = stage.hub.hold("^GET", after: 100_000, on: .cdn)
        let begun = try start(one, "pull", "org/m")
        try await gate.reached()
        try await interrupt(begun, in: cache)
        gate.release()
        let folder = Path.join(cache, "models--org--m")
        let partials = try (FileSystem.entries(Path.join(folder, "blobs")) ?? []).filter {
            $0.hasSuffix(".hub.incomplete")
        }
        #expect(partials.count == 1)
        #expect(try FileSystem.status(Path.join(folder, "blobs/\(partials[0])"))?.owner == one.user)

        // Python's trees are its user's alone.
        let trees = try FileSystem.entries(Path.join(folder, "trees")) ?? []
        try FileDescriptor(Path.join(folder, "trees/\(trees[0])"), [.write]).setMode(0o600)
        let before = stage.hub.requests.count
        try expectWhole(try await start(two, "pull", "-q", "org/m").wait(), cache)
        let ranges = stage.hub.requests.dropFirst(before).filter { $0.listener == .cdn }.compactMap(\.range)
        #expect(!ranges.isEmpty && !ranges.contains { $0.hasPrefix("bytes=0-") }, "\(ranges)")
        for (name, mode) in try modes(cache) {
            #expect(mode == (mode.hasPrefix("dir") ? "dir 2775" : "file 664"), "\(name)")
        }

        try ModelRepository("org/m", in: stage.root).write("more.txt", "more\n")
        try expectWhole(try await start(one, "pull", "-q", "org/m").wait(), cache)
        let listed = try await start(two, "ls", "--json").wait().document().objects("models")
        #expect(listed.first?["complete"]?.bool == true)
        let deleted = try await start(two, "rm", "org/m", "--yes").wait()
        #expect(deleted.status == 0, "\(deleted.error)")
        #expect(!FileSystem.exists(folder))
    }

    // MARK: Read-only

    /// Runs `hub` on a cache that it may not write: as another user, or with the right to write taken from the folders.
    private func readOnly(_ words: String...) async throws -> ProcessResult {
        let program = try BuiltProduct.path()
        let other = OtherUser(54_301, group: 54_301)
        if let other {
            guard try await other.canRun(program) else { try Test.cancel("another user cannot run \(program)") }
            for name in ["home", "state"] { try other.own(stage.machine(name)) }
            _ = try await RunningProcess.run("/bin/chown", ["-R", "\(other.user)", stage.machine("state")])
        } else {
            #expect(try await RunningProcess.run("/bin/chmod", ["-R", "a-w", stage.cache]).status == 0)
        }
        let line = other?.words(program, words) ?? [program] + words
        let result = try await RunningProcess.run(line[0], Array(line.dropFirst()), environment: stage.environment)
        if other == nil {
            // Or it could not be removed.
            #expect(try await RunningProcess.run("/bin/chmod", ["-R", "u+w", stage.cache]).status == 0)
        }
        return result
    }

    @Test func aWholeModelInAReadOnlyCacheIsUsed() async throws {
        try expectWhole(try await stage.run("pull", "-q", "org/m"))
        let before = try stage.listing(stage.cache)
        try expectWhole(try await readOnly("pull", "-q", "org/m"))
        try expectWhole(try await readOnly("pull", "-q", "org/m", "--offline"))
        try expectWhole(try await readOnly("path", "org/m"))
        #expect(try await readOnly("ls", "-q").output == "org/m\n")
        #expect(try stage.listing(stage.cache) == before)
    }

    @Test func whatIsMissingInAReadOnlyCacheIsOneClearError() async throws {
        #expect(try await stage.run("pull", "-q", "org/m", "--include", "*.json").status == 0)
        let before = (names: try stage.listing(stage.cache), requests: stage.hub.requests("/resolve/").count)
        let result = try await readOnly("pull", "org/m", "--format", "all", "--progress", "none")
        #expect(result.status == 6 && result.output.isEmpty)
        let lines = result.error.split(separator: "\n")
        #expect(lines.count == 2, "\(result.error)")
        #expect(
            lines.first?.hasPrefix("hub: cannot ") == true && lines.first?.hasSuffix(": Permission denied") == true)
        #expect(lines.first?.contains(stage.cache) == true)
        #expect(lines.last == "     check who owns it, or choose another place with --cache-dir or HF_HOME")
        #expect(try stage.listing(stage.cache) == before.names)
        #expect(stage.hub.requests("/resolve/").count == before.requests, "nothing was fetched in vain")
    }

    // MARK: Other disks

    /// Trap 29: nothing is renamed between disks. The cache is on one, and everything else on another.
    @Test func theCacheMayLieOnAnotherDiskThanTheRest() async throws {
        let memory = "/dev/shm"
        guard let there = try FileSystem.status(memory), let here = try FileSystem.status(stage.machine.path),
            there.device != here.device, let box = try? TemporaryFolder("cache", in: memory)
        else { try Test.cancel("there is no second file system to write to") }
        let scratch = stage.machine("tmp")
        try FileSystem.createDirectories(scratch)
        let variables = ["HF_HUB_CACHE": box("hub"), "TMPDIR": scratch]
        // Interrupted and taken up again, so that partial and map are renamed too.
        let gate = stage.hub.hold("^GET", after: 100_000, on: .cdn)
        let begun = try stage.start("pull", "org/m", with: variables)
        try await gate.reached()
        try await interrupt(begun, in: box("hub"))
        gate.release()
        try expectWhole(try await stage.run("pull", "-q", "org/m", with: variables), box("hub"))
        #expect(try stage.listing(scratch).isEmpty)
        #expect(!FileSystem.exists(stage.cache))
        // And the locks on a third place, as where the cache's disk has none.
        try FileSystem.removeTree(box("hub"))
        try FileSystem.createDirectories(box("hub"))
        try FileSystem.createDirectories(stage.machine("locks"))
        try FileSystem.createSymlink(stage.machine("locks"), at: box("hub/.locks"))
        try expectWhole(try await stage.run("pull", "-q", "org/m", with: variables), box("hub"))
        #expect(try stage.listing(stage.machine("locks")).filter { $0.hasSuffix(".lock") }.count == 3)
    }

    /// A place where no folder can be made is not a full disk, and no file of the cache stands in the way.
    @Test func aPlaceWhereNoFolderCanBeMadeIsNamed() async throws {
        let result = try await stage.run("pull", "org/m", with: ["HF_HOME": "/proc/none"])
        #expect(result.status == 6)
        #expect(result.error.hasPrefix("hub: cannot make the folder /proc/none"), "\(result.error)")
        #expect(result.error.contains("     choose another place with --cache-dir or HF_HOME\n"))
        let local = try await stage.run("pull", "org/m", "--local-dir", "/proc/none")
        #expect(local.status == 6 && local.error.contains("     choose another folder with --local-dir\n"))
    }

    /// Another program fills the disk during the first file: the second has no room, the first stays, exit 6. With room
    /// again the same command fetches the second alone.
    @Test func aDiskThatFillsUpOnTheWayKeepsWhatIsThere() async throws {
        let repository = try ModelRepository("org/two", in: stage.root)
        let (a, b) = (
            try repository.random("a.safetensors", size: 6 << 20, seed: 1),
            try repository.random("b.safetensors", size: 5 << 20, seed: 2)
        )
        guard let disk = try await SmallDisk(stage.machine, "16m") else {
            try Test.cancel("this user cannot mount a small file system")
        }
        let result: Result<Void, any Error>
        do { result = .success(try await fill(disk, a, b)) } catch { result = .failure(error) }
        try await disk.unmount()
        try result.get()
    }

    private func fill(_ disk: SmallDisk, _ a: [UInt8], _ b: [UInt8]) async throws {
        let variables = ["HF_HUB_CACHE": Path.join(disk.path, "hub")]
        let gate = stage.hub.hold("^GET .*a.safetensors", after: 100_000, on: .cdn)
        let process = try stage.start("pull", "org/two", "--connections", "1", with: variables)
        try await gate.reached()
        // The other file has not begun: with one connection one large file is under way at a time.
        let junk = Path.join(disk.path, "junk")
        try FileSystem.replace(junk, with: [UInt8](repeating: 1, count: 7 << 20))
        gate.release()
        let failed = try await process.wait()
        #expect(failed.status == 6, "\(failed.error)")
        #expect(
            failed.error.contains("No space left on device") && failed.error.contains("1 of 2 files is complete"))
        let folder = Path.join(disk.path, "hub/models--org--two")
        let whole = ContentHasher.digest(of: a, like: .sha256("")).hex
        #expect(try FileSystem.contents(Path.join(folder, "blobs/\(whole)")) == a ? true : false)
        #expect(try FileSystem.entries(Path.join(folder, "refs")) == nil)

        try FileSystem.remove(junk)
        let before = stage.hub.requests.count
        let again = try await stage.run("pull", "-q", "org/two", with: variables)
        #expect(again.status == 0, "\(again.error)")
        #expect(stage.hub.requests.dropFirst(before).allSatisfy { !$0.path.hasSuffix("a.safetensors") })
        let place = Path.join(String(again.output.dropLast()), "b.safetensors")
        #expect(try FileSystem.contents(place) == b ? true : false)
    }

    /// The system ends a program that writes beyond `ulimit -f` with a signal, unless it wants to hear an error.
    @Test func aLimitOnTheSizeOfFilesIsAnError() async throws {
        try ModelRepository("org/m", in: stage.root).random("large.safetensors", size: 3 << 20, seed: 9)
        let result = try await run("ulimit -f 4096", "pull", "org/m")
        #expect(result.status == 6, "\(result.error)")
        #expect(result.error.contains("large") || result.error.contains("hub.incomplete"))
        #expect(result.error.contains("File too large"))
        #expect(result.error.contains("3 of 4 files are complete"))
    }
}
