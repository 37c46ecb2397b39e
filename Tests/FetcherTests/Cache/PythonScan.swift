import HubCore

/// The rules of Python's `scan_cache_dir` (huggingface_hub 2.4.0): what breaks one hides the whole repository there and
/// makes `hf cache ls` warn.
struct PythonScan {
    /// What Python warns of, as `repository: reason`.
    private(set) var warnings: Set<String> = []
    /// The repository folders that Python warns of, and so hides.
    var hidden: Set<String> { Set(warnings.map { String($0.prefix { $0 != ":" }) }) }
    /// Revisions by repository folder.
    private(set) var revisions: [String: Set<String>] = [:]
    /// `size_on_disk` of each repository: every distinct blob by its first hop.
    private(set) var sizes: [String: Int64] = [:]

    private static let ignored: Set<String> = [".DS_Store", "Thumbs.db", "desktop.ini"]
    private struct Corrupted: Error { var reason: String }

    init(_ root: String) throws {
        for name in try FileSystem.entries(root) ?? [] {
            if Self.ignored.contains(name) || name == ".locks" || name == "CACHEDIR.TAG" { continue }
            let path = Path.join(root, name)
            if name == "blobs", try FileSystem.text(Path.join(path, ".huggingface-shared-blobs")) == "1\n" {
                continue
            }
            do { try scan(path, name) } catch let fault as Corrupted { warnings.insert("\(name): \(fault.reason)") }
        }
    }

    private mutating func scan(_ path: String, _ name: String) throws {
        guard try FileSystem.status(path)?.kind == .directory else { throw Corrupted(reason: "no directory") }
        guard let dashes = name.range(of: "--") else { throw Corrupted(reason: "no --") }
        guard ["models", "datasets", "spaces", "kernels"].contains(String(name[..<dashes.lowerBound])) else {
            throw Corrupted(reason: "unknown kind")
        }
        let snapshots = Path.join(path, "snapshots")
        guard try FileSystem.status(snapshots)?.kind == .directory else { throw Corrupted(reason: "no snapshots") }
        var refs: [String: [String]] = [:]
        let refsPath = Path.join(path, "refs")
        guard try FileSystem.status(refsPath)?.kind != .file else { throw Corrupted(reason: "refs is a file") }
        try Self.walk(refsPath) { file, relative in
            refs[try FileSystem.text(file) ?? "", default: []].append(relative)
        }
        var found: Set<String> = []
        var blobs: [String: Int64] = [:]
        for commit in try FileSystem.entries(snapshots) ?? [] where !Self.ignored.contains(commit) {
            let snapshot = Path.join(snapshots, commit)
            guard try FileSystem.status(snapshot)?.kind != .file else {
                throw Corrupted(reason: "file in snapshots")
            }
            try Self.walk(snapshot) { file, relative in
                // The first hop, by text alone.
                let blob =
                    FileSystem.linkText(file).map { Path.normalized(Path.join(Path.parent(file), $0)) } ?? file
                guard let status = try FileSystem.status(blob) else {
                    throw Corrupted(reason: "broken link \(commit)/\(relative)")
                }
                blobs[blob] = status.size
            }
            found.insert(commit)
            refs[commit] = nil
        }
        guard refs.isEmpty else { throw Corrupted(reason: "refs to nothing: \(refs.values.joined().sorted())") }
        revisions[name] = found
        sizes[name] = blobs.values.reduce(0, +)
    }

    /// Every entry that is not a folder; links to folders are not followed.
    private static func walk(
        _ path: String, _ prefix: String = "", _ body: (_ path: String, _ relative: String) throws -> Void
    ) throws {
        for name in try FileSystem.entries(path) ?? [] where !(prefix.isEmpty && ignored.contains(name)) {
            let child = Path.join(path, name)
            if try FileSystem.linkStatus(child)?.kind == .directory {
                try walk(child, prefix + name + "/", body)
            } else if try FileSystem.status(child)?.kind != .directory {
                try body(child, prefix + name)
            }
        }
    }
}
