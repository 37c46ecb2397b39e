#if os(Linux)
import HubCore
import Support
import Testing

/// Random stores of several programs on several file systems. Only scripts/soak runs it.
@Suite struct StoreWorldTests {
    @Test(.enabled(if: HubEnvironment.process["HUB_SOAK"] != nil, "scripts/soak runs it"))
    func adoptingLinkingAndMovingLoseNothing() async throws {
        let settings = try #require(try SoakSettings.asked())
        let folder = try TemporaryFolder("worlds")
        let library = try await FaultyDisk.library(in: folder)
        var (disks, mounted): ([(String, String)], [SmallDisk]) = ([("tmp", folder("tmp"))], [])
        for kind in ["ext4", "btrfs", "xfs"] {
            guard let disk = try await SmallDisk(folder, kind, size: 512 << 20) else {
                print("Worlds: without \(kind), which cannot be mounted here")
                continue
            }
            mounted.append(disk)
            disks.append((kind, disk.path))
        }
        var tally: [String: Int] = [:]
        for number in settings.rounds {
            do {
                let world = try StoreWorld(number, seed: settings.seed, disks: disks, library)
                try await world.run()
                for (name, count) in world.tally { tally[name, default: 0] += count }
            } catch {
                tally["failed", default: 0] += 1
                Issue.record("\(settings.command(round: number)): \(error)")
            }
        }
        let text = tally.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        print("Worlds with seed \(settings.seed): \(settings.rounds.count); \(text)")
        for disk in mounted { try await disk.unmount() }
    }
}

/// One world: stores with shared and differing files, and what is done to them.
private final class StoreWorld {
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    /// A file as it was made.
    private struct Original {
        var digest: String
        var status: FileStatus
    }

    private var random: SeededRandom
    private let folder: TemporaryFolder
    private let other: TemporaryFolder
    private let kinds: String
    private let library: String
    private var originals: [String: Original] = [:]
    private var history: [String] = []
    /// The folder that a killed move was to.
    private var unfinished: String?
    private var moves = 0
    private(set) var tally: [String: Int] = [:]

    init(_ number: Int, seed: UInt64, disks: [(kind: String, path: String)], _ library: String) throws {
        random = SeededRandom(number: seed &* 10_000 &+ UInt64(number))
        let (here, there) = (disks.randomElement(using: &random)!, disks.randomElement(using: &random)!)
        folder = try TemporaryFolder("world", in: here.path)
        other = try TemporaryFolder("other", in: there.path)
        kinds = "\(here.kind), \(there.kind)"
        self.library = library
        try fill()
    }

    private var cache: String { folder("hf/hub") }
    private var variables: [String: String] {
        [
            "PATH": "/usr/bin:/bin", "HOME": folder("home"), "HF_HOME": folder("hf"), "HUB_HOME": folder("state"),
            "HF_HUB_OFFLINE": "1", "LC_ALL": "C.UTF-8", "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        ]
    }

    // MARK: Making it

    private func fill() throws {
        let stores = ForeignStores(home: folder("home"))
        for path in [stores.ollama + "/blobs", stores.lmStudio, stores.llamaCpp, folder("loose"), folder("own")] {
            try FileSystem.createDirectories(path)
        }
        for number in 0..<Int.random(in: 2...4, using: &random) {
            var bytes = GGUFBytes("llama", ["block_count": 1], tensors: [("a.weight", [1024, 600])]).bytes
            for index in stride(from: bytes.count - (1 << 20), to: bytes.count, by: 8) {
                bytes[index] = UInt8(truncatingIfNeeded: random.next())
            }
            let digest = ForeignStores.digest(bytes)
            var places: [String] = []
            if !random.one(in: 3) {
                let model = "models--org--m\(number)"
                let blob = Path.join(cache, "\(model)/blobs/\(digest)")
                let commit = String(repeating: "1", count: 40)
                try write(blob, bytes)
                let snapshot = Path.join(cache, "\(model)/snapshots/\(commit)")
                try FileSystem.createDirectories(snapshot)
                try FileSystem.createSymlink("../../blobs/\(digest)", at: Path.join(snapshot, "m-Q4_K_M.gguf"))
                try write(Path.join(cache, "\(model)/refs/main"), Array(commit.utf8))
                places.append(blob)
            }
            if !random.one(in: 3) {
                places.append(try stores.addOllama("registry.ollama.ai/library/m\(number)/latest", bytes))
                // Wrong bytes under a right name.
                if random.one(in: 8) { try FileDescriptor(places.last!, [.write]).write([1, 2, 3]) }
            }
            if random.one(in: 2) { places.append(try stores.addLMStudio("org/m\(number)", "m-Q4_K_M.gguf", bytes)) }
            if random.one(in: 3) {
                places.append(try stores.addLlamaCpp("org", "m\(number)", "m-Q4_K_M.gguf", bytes))
            }
            if random.one(in: 3) { places.append(try stores.addJan("m\(number)", bytes)) }
            if random.one(in: 3) {
                places.append(folder("loose/m\(number).gguf"))
                try write(places.last!, bytes)
            }
            for place in places {
                if random.one(in: 5) { try FileSystem.setMode(place, 0o600) }
                try FileSystem.setTimes(
                    place, accessed: 1.6e9, modified: 1.5e9 + Double(random.next() % 1_000_000))
                if random.one(in: 6) {
                    try FileSystem.createHardLink(place, at: folder("own/\(number)-\(random.next() % 1_000_000)"))
                }
            }
        }
        for top in ["home", "hf", "loose", "own"] {
            for path in try files(folder(top)) {
                originals[path] = Original(
                    digest: try ContentHasher.digest(ofFile: path, like: .sha256("")).hex,
                    status: try FileSystem.linkStatus(path)!)
            }
        }
    }

    private func write(_ path: String, _ bytes: [UInt8]) throws {
        try FileSystem.createDirectories(Path.parent(path))
        try FileSystem.replace(path, with: bytes)
    }

    /// Every regular file below a folder.
    private func files(_ top: String) throws -> [String] {
        try (FileSystem.entries(top) ?? []).flatMap { name -> [String] in
            let path = Path.join(top, name)
            switch try FileSystem.linkStatus(path)?.kind {
            case .directory: return try files(path)
            case .file: return [path]
            default: return []
            }
        }
    }

    // MARK: What is done

    func run() async throws {
        do {
            for _ in 0..<Int.random(in: 3...6, using: &random) { try await step() }
            try await finish()
        } catch {
            throw Fault(description: "\(kinds): \(history.joined(separator: "; ")): \(error)")
        }
    }

    private func step() async throws {
        switch random.next() % 6 {
        case 0, 1: try await adopt()
        case 2: try await disturbed(["cache", "unadopt", "--yes"])
        case 3: try await move()
        default:
            let tool = ["ollama", "lmstudio", "llama.cpp"].randomElement(using: &random)!
            try await disturbed(["cache", "link", tool, "org/m\(random.next() % 3)"])
        }
    }

    /// Runs hub, and kills it at a random step, or not. Whatever it says, no file has other bytes.
    @discardableResult
    private func disturbed(_ words: [String], mayKill: Bool = true) async throws -> ProcessResult {
        var variables = variables
        let step = random.next() % 24 + 1
        let kills = mayKill && !random.one(in: 3)
        if kills {
            variables["LD_PRELOAD"] = library
            variables["FAULTY_DISK"] = "kill:\(step)"
            variables["FAULTY_DISK_BELOW"] = Path.name(folder.path)
            // Of a move to another disk steps count there, too.
            if words[0] == "mv", random.one(in: 2) { variables["FAULTY_DISK_BELOW"] = "-test-" }
        }
        let result = try await RunningProcess.run(BuiltProduct.path(), words, environment: variables)
        history.append(words.joined(separator: " ") + (kills ? " (kill at \(step))" : "") + " -> \(result.status)")
        tally[result.wasKilled ? "killed" : result.status == 0 ? "done" : "refused", default: 0] += 1
        try check()
        return result
    }

    /// All names are there with their bytes.
    private func check() throws {
        for (path, original) in originals {
            guard FileSystem.exists(path) else { throw Fault(description: "\(path) is gone") }
            let digest = try ContentHasher.digest(ofFile: path, like: .sha256("")).hex
            guard digest == original.digest else { throw Fault(description: "\(path) has other bytes") }
        }
    }

    /// What is saved is what the disk shows.
    private func adopt() async throws {
        let words = ["cache", "adopt", "--yes", "--json"] + (random.one(in: 2) ? [folder("loose")] : [])
        let before = try used()
        let result = try await disturbed(words)
        guard !result.wasKilled, let document = try? JSON.parse(result.outputBytes).object else { return }
        var linked: Int64 = 0
        for row in document["plan"]?.array?.compactMap(\.object) ?? [] {
            switch row["action"]?.string {
            case "hardlink": linked += row["saves_bytes"]?.int ?? 0
            case "reflink":
                let source = try FileDescriptor(row["path"]!.string!)
                guard try source.sharesExtents(with: FileDescriptor(row["target"]!.string!)) else {
                    throw Fault(description: "\(row["target"]!.string!) shares no blocks")
                }
            default: break
            }
        }
        let saved = before - (try used())
        guard saved == linked else {
            throw Fault(description: "\(linked) bytes were said to be saved, \(saved) are")
        }
        tally["adopted", default: 0] += 1
    }

    /// Bytes of all files, each once.
    private func used() throws -> Int64 {
        var files: [String: Int64] = [:]
        let state = folder("state/")
        for path in try self.files(folder.path) + self.files(other.path) where !path.hasPrefix(state) {
            guard let status = try FileSystem.status(path), status.size >= 1 << 20 else { continue }
            files["\(status.device) \(status.inode)"] = status.size
        }
        return files.values.reduce(0, +)
    }

    private func move() async throws {
        if unfinished == nil { moves += 1 }
        let place = unfinished ?? (random.one(in: 2) ? folder : other)("moved-\(moves)/hub")
        let result = try await disturbed(["cache", "mv", place, "--yes"])
        unfinished = result.wasKilled ? place : nil
    }

    // MARK: The end

    private func finish() async throws {
        if let place = unfinished {
            let result = try await disturbed(["cache", "mv", place, "--yes"], mayKill: false)
            let isDone =
                result.error.contains("the cache is there already") || result.error.contains("there is no cache")
            guard result.status == 0 || isDone else {
                throw Fault(description: "the move is not finished: \(result.error)")
            }
        }
        let undone = try await disturbed(["cache", "unadopt", "--yes"], mayKill: false)
        guard undone.status == 0 else { throw Fault(description: "undoing failed: \(undone.error)") }
        // The same names are of one file as before, with their modes and times.
        var groups: [String: Set<String>] = [:]
        for path in originals.keys {
            let status = try FileSystem.status(path)!
            let original = originals[path]!.status
            guard status.mode == original.mode else { throw Fault(description: "\(path) has another mode") }
            guard moves > 0 || abs(status.modified - original.modified) < 1e-5 else {
                throw Fault(description: "\(path) has another time")
            }
            groups["\(status.device) \(status.inode)", default: []].insert(path)
        }
        for names in groups.values where names.count > 1 {
            let inodes = Set(names.map { originals[$0]!.status.inode })
            guard inodes.count == 1 else { throw Fault(description: "still one file: \(names.sorted())") }
        }
        let left = try [folder.path, other.path].flatMap(files).filter {
            $0.hasSuffix(".hub.part") || $0.hasSuffix(".hub.copy.incomplete") || $0.contains(".hub-moved")
                || $0.contains("hub.move")
        }
        // What a kill left of a link or an undo goes with the next of the same name.
        let isOfLink = left.filter { !$0.hasSuffix(".hub.part") }
        guard isOfLink.isEmpty else { throw Fault(description: "left behind: \(isOfLink)") }
    }
}
#endif
