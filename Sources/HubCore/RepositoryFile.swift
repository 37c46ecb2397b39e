/// One file of a repository at one commit, as the Hub's tree lists it.
public struct RepositoryFile: Sendable, Hashable {
    /// The path in the repository, checked (see ``RepositoryPath``).
    public var path: String
    /// Bytes.
    public var size: Int64
    /// git's hash of what git stores: the content of a regular file, the pointer of an LFS file.
    public var oid: String
    /// SHA-256 of the content, for LFS and Xet files.
    public var sha256: String?
    /// The hash that names the file in Xet storage, where the server shows it.
    public var xetHash: String?

    /// A file of a tree.
    public init(path: String, size: Int64, oid: String, sha256: String? = nil, xetHash: String? = nil) {
        self.path = path
        self.size = size
        self.oid = oid
        self.sha256 = sha256
        self.xetHash = xetHash
    }

    /// What the content is checked against and what the cache names the blob by.
    public var digest: ContentDigest { sha256.map { .sha256($0) } ?? .gitSHA1(oid) }
    /// Whether the content lies in LFS storage and comes from the CDN.
    public var isLFS: Bool { sha256 != nil }

    /// Whether everything is the same, paths byte for byte: two that differ only by Unicode's normalisation are two files.
    public static func == (left: RepositoryFile, right: RepositoryFile) -> Bool {
        ExactText(left.path) == ExactText(right.path) && left.size == right.size && left.oid == right.oid
            && left.sha256 == right.sha256 && left.xetHash == right.xetHash
    }

    /// Feeds path and digest to the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ExactText(path))
        hasher.combine(digest)
    }
}

/// All files of a repository at a commit. Immutable: a commit's tree never changes.
public struct RepositoryTree: Sendable, Hashable {
    /// The commit.
    public var commit: Commit
    /// The files, sorted by path.
    public var files: [RepositoryFile]

    /// A tree; the files are sorted by the bytes of their paths.
    public init(commit: Commit, files: [RepositoryFile]) {
        self.commit = commit
        self.files = files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// Bytes of all files together; what a server made up ends at the largest number instead of the program.
    public var totalSize: Int64 { files.reduce(ByteCount(0)) { $0 + ByteCount($1.size) }.bytes }
}
