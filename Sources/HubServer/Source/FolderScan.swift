import HubCore

/// What lies in a repository's folder now, by stat alone.
struct FolderScan: Hashable {
    /// One file to serve.
    struct Entry: Hashable {
        /// Below the repository's folder.
        var path: String
        /// Where its bytes lie: itself, or what a symbolic link leads to.
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
    /// A link to a file is served as that file if it stays inside `root`; a link that leaves it is no file of the
    /// repository, so that nobody can read this machine through a model he was sent. Links to folders are not
    /// followed, as in git. What is neither file nor folder, and a name that the Hub forbids, is left out.
    ///
    /// - Parameter root: the folder served, its own links resolved.
    init(_ folder: String, root: String) throws(AIError) {
        try walk(folder, below: "", root)
    }

    /// Not part of a repository: git's own folder, our metadata, and what `hf download --local-dir` leaves behind.
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
