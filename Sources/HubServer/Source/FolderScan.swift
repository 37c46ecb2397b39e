import HubCore

/// The current contents of a repository's folder, from stat alone.
struct FolderScan: Hashable {
    /// One file to serve.
    struct Entry: Hashable {
        /// Relative to the repository's folder.
        var path: String
        /// The file itself, or the target of a symbolic link.
        var location: String
        var identity: FileIdentity
    }

    private(set) var entries: [Entry] = []

    /// The newest and the oldest time of modification, seconds since 1970.
    var newest: Double { entries.map { Double($0.identity.modifiedNanoseconds) / 1e9 }.max() ?? 0 }
    var oldest: Double { entries.map { Double($0.identity.modifiedNanoseconds) / 1e9 }.min() ?? 0 }
    var bytes: Int64 { entries.reduce(0) { $0 + $1.identity.size } }

    /// Walks a folder.
    ///
    /// A link to a file is served as that file if it stays inside `root`; a link that leaves it is ignored, so that a
    /// downloaded model cannot expose other files of this machine. Links to folders are not followed, as in git.
    /// Special files and names that the Hub forbids are left out.
    ///
    /// - Parameter root: the served folder, links resolved.
    init(_ folder: String, root: String) throws(AIError) {
        try walk(folder, below: "", root)
    }

    /// Not part of a repository: git's own folder, our metadata, and the files that `hf download --local-dir` leaves.
    private static let hidden: Set<String> = [".git", ".hub.json", ".cache/huggingface"]

    private mutating func walk(_ folder: String, below prefix: String, _ root: String) throws(AIError) {
        for name in try FileSystem.entries(folder) ?? [] {
            let path = prefix + name
            guard !Self.hidden.contains(path), RepositoryPath.fault(path) == nil else { continue }
            let location = Path.join(folder, name)
            guard let status = try FileSystem.linkStatus(location) else { continue }
            switch status.kind {
            case .directory: try walk(location, below: path + "/", root)
            case .file: entries.append(Entry(path: path, location: location, identity: FileIdentity(status)))
            case .symlink:
                guard let target = FileSystem.resolved(location), Self.isInside(target, root),
                    let status = try FileSystem.status(target), status.kind == .file
                else { continue }
                entries.append(Entry(path: path, location: target, identity: FileIdentity(status)))
            case .other: continue
            }
        }
    }

    /// Whether a path without links lies below a folder without links.
    static func isInside(_ path: String, _ folder: String) -> Bool {
        path.utf8.starts(with: (folder.hasSuffix("/") ? folder : folder + "/").utf8)
    }
}
