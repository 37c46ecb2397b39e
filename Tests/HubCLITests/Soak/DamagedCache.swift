import HubCore
import Libc
import Support

/// A cache of several tools, then damaged in ways that are drawn from a seed.
struct DamagedCache {
    let root: String
    private(set) var story: [String] = []
    private var random: SeededRandom

    private static let folders = [
        "models--org--one", "models--org--two", "datasets--org--data", "spaces--app", "kernels--k--k",
    ]

    init(_ root: String, seed: Int) throws {
        self.root = root
        random = SeededRandom(number: seed + 1)
        try FileSystem.createDirectories(root)
        try makeStore()
        for folder in Self.folders { try makeRepository(Path.join(root, folder)) }
        for _ in 0..<Int.random(in: 1...6, using: &random) { try damage() }
    }

    // MARK: What tools leave

    private mutating func digits(_ count: Int) -> String {
        // Few different ones, so that content is shared and commits recur.
        String(repeating: "0123456789abcdef".randomElement(using: &random)!, count: count)
    }

    private mutating func write(_ path: String, _ count: Int) throws {
        try FileSystem.createDirectories(Path.parent(path))
        guard try FileSystem.linkStatus(path) == nil else { return }
        let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        try FileSystem.replace(path, with: bytes)
    }

    private func makeStore() throws {
        try FileSystem.createDirectories(Path.join(root, "blobs"))
        try FileSystem.replace(Path.join(root, "blobs/.huggingface-shared-blobs"), with: Array("1\n".utf8))
    }

    private mutating func makeRepository(_ folder: String) throws {
        for name in ["blobs", "refs", "snapshots"] { try FileSystem.createDirectories(Path.join(folder, name)) }
        var blobs: [String] = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let name = digits(random.one(in: 2) ? 40 : 64)
            blobs.append(name)
            try random.one(in: 4)
                ? share(name, in: folder) : write(Path.join(folder, "blobs/\(name)"), Int(random.next() % 300))
        }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let commit = digits(40)
            let snapshot = Path.join(folder, "snapshots/\(commit)")
            try FileSystem.createDirectories(snapshot)
            for path in ["config.json", "model.bin", "sub/dir/deep.bin"] where !random.one(in: 4) {
                let place = Path.join(snapshot, path)
                try FileSystem.createDirectories(Path.parent(place))
                let up = String(repeating: "../", count: Path.parts(path).count + 1)
                guard try FileSystem.linkStatus(place) == nil else { continue }
                if random.one(in: 8) {
                    try write(place, 20)
                } else {
                    try FileSystem.createSymlink(up + "blobs/" + blobs.randomElement(using: &random)!, at: place)
                }
            }
            let ref = ["main", "v1", "refs/pr/1"].randomElement(using: &random)!
            try FileSystem.createDirectories(Path.parent(Path.join(folder, "refs/\(ref)")))
            try FileSystem.replace(Path.join(folder, "refs/\(ref)"), with: Array(commit.utf8))
            if random.one(in: 2) { try writeTree(Path.join(folder, "trees/\(commit).json"), blobs) }
        }
        if random.one(in: 3) { try write(Path.join(folder, "blobs/\(digits(64)).0a1b2c3d.incomplete"), 70) }
        if random.one(in: 3) { try write(Path.join(folder, "blobs/\(digits(64)).hub.incomplete"), 90) }
        if random.one(in: 3) { try write(Path.join(folder, ".no_exist/\(digits(40))/a.json"), 0) }
        try write(Path.join(root, ".locks/\(Path.name(folder))/\(digits(40)).lock"), 0)
    }

    private mutating func share(_ name: String, in folder: String) throws {
        let hash = digits(64)
        let payload = Path.join(root, "blobs/\(hash.prefix(2))/\(hash)")
        try write(payload, Int(random.next() % 500))
        let link = Path.join(folder, "blobs/\(name)")
        guard try FileSystem.linkStatus(link) == nil else { return }
        try FileSystem.createSymlink("../../blobs/\(hash.prefix(2))/\(hash)", at: link)
        let lines = (try FileSystem.text(payload + ".refs") ?? "") + "\(Path.name(folder))/blobs/\(name)\n"
        try FileSystem.replace(payload + ".refs", with: Array(lines.utf8))
    }

    private func writeTree(_ path: String, _ blobs: [String]) throws {
        let files = blobs.enumerated().map { index, _ in
            "\"f\(index)\":{\"size\":\(index),\"blob_id\":\"\(String(repeating: "a", count: 40))\"}"
        }
        try FileSystem.createDirectories(Path.parent(path))
        let text = "{\"format_version\":1,\"files\":{\(files.joined(separator: ","))}}"
        try FileSystem.replace(path, with: Array(text.utf8))
    }

    // MARK: What becomes of it

    /// Everything below the cache that is not the store's marker, without which nothing in the store is its own.
    private func paths() throws -> [String] {
        var out: [String] = []
        func visit(_ folder: String) throws {
            for name in try FileSystem.entries(folder) ?? [] where name != ".huggingface-shared-blobs" {
                let path = Path.join(folder, name)
                out.append(path)
                if try FileSystem.linkStatus(path)?.kind == .directory { try visit(path) }
            }
        }
        try visit(root)
        return out
    }

    private mutating func damage() throws {
        let all = try paths()
        guard let path = all.randomElement(using: &random), let status = try FileSystem.linkStatus(path) else {
            return
        }
        let isStore = path.hasPrefix(Path.join(root, "blobs"))
        let kinds = [
            "removed", "flipped", "cut", "replaced by a file", "replaced by a folder",
            "replaced by a link to nothing",
            "linked to itself", "a pipe", "odd names beside it", "no text beside it", "a hard link of it", "moved",
        ]
        // Only what people and tools do to payloads: they are read-only.
        let kind = isStore ? "removed" : kinds.randomElement(using: &random)!
        story.append("\(path.dropFirst(root.utf8.count + 1)): \(kind)")
        switch kind {
        case "removed": try FileSystem.removeTree(path)
        case "flipped" where status.kind == .file && status.size > 0:
            let file = try FileDescriptor(path, .write)
            let place = Int64.random(in: 0..<status.size, using: &random)
            let byte = [UInt8.random(in: .min ... .max, using: &random)]
            try byte.withUnsafeBytes { try file.write($0, at: place) }
        case "cut" where status.kind == .file:
            try FileDescriptor(path, .write).truncate(to: Int64.random(in: 0...status.size, using: &random))
        case "replaced by a file":
            try FileSystem.removeTree(path)
            try FileSystem.replace(path, with: [1, 2, 3])
        case "replaced by a folder":
            try FileSystem.removeTree(path)
            try FileSystem.createDirectories(Path.join(path, "inside"))
        case "replaced by a link to nothing":
            try FileSystem.removeTree(path)
            try FileSystem.createSymlink("../nothing/at/all", at: path)
        case "linked to itself":
            try FileSystem.removeTree(path)
            try FileSystem.createSymlink(Path.name(path), at: path)
        case "a pipe":
            try FileSystem.removeTree(path)
            guard mkfifo(path, 0o644) == 0 else { throw AIError.system("cannot make", path: path, errno: errno) }
        case "odd names beside it":
            for name in [
                "  ", "-rf", "a\nb", "\u{1B}[31m", "models--", "models--a----b", ".hidden", "x.incomplete",
            ] {
                try write(Path.join(Path.parent(path), name), 4)
            }
        case "no text beside it":
            let bytes = Array(Path.join(Path.parent(path), "no").utf8) + [0xFF, 0xFE, 0]
            let file = open(bytes.map { CChar(bitPattern: $0) }, O_WRONLY | O_CREAT, 0o644)
            // A file system may refuse such names.
            guard file >= 0 else { return }
            guard ftruncate(file, 5) == 0 else { throw AIError.system("cannot write", path: path, errno: errno) }
            close(file)
        case "a hard link of it" where status.kind == .file:
            let other = Path.join(Path.parent(path), digits(40))
            if try FileSystem.linkStatus(other) == nil { try FileSystem.createHardLink(path, at: other) }
        case "moved":
            let place = Path.join(Path.parent(path), "models--moved--\(random.next() % 100)")
            if try FileSystem.linkStatus(place) == nil { try FileSystem.rename(path, to: place) }
        default: break
        }
    }
}
