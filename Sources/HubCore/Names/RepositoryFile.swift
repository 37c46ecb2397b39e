/// One file of a repository at one commit, as the Hub's tree lists it.
public struct RepositoryFile: Sendable, Hashable {
    /// The path in the repository, checked (see ``RepositoryPath``).
    public var path: String
    /// Bytes.
    public var size: Int64
    private var hashes: PackedHashes

    /// git's hash of what git stores: the content of a regular file, the pointer of an LFS file.
    public var oid: String {
        get { hashes.oid }
        set { hashes = PackedHashes(oid: newValue, sha256: sha256, xetHash: xetHash) }
    }
    /// SHA-256 of the content, for LFS and Xet files.
    public var sha256: String? {
        get { hashes.sha256 }
        set { hashes = PackedHashes(oid: oid, sha256: newValue, xetHash: xetHash) }
    }
    /// The file's hash in Xet storage, if the server reports it.
    public var xetHash: String? {
        get { hashes.xetHash }
        set { hashes = PackedHashes(oid: oid, sha256: sha256, xetHash: newValue) }
    }

    /// A file of a tree.
    public init(path: String, size: Int64, oid: String, sha256: String? = nil, xetHash: String? = nil) {
        self.path = path
        self.size = size
        hashes = PackedHashes(oid: oid, sha256: sha256, xetHash: xetHash)
    }

    /// A file of a tree, its hashes given as their digits.
    package init(
        path: String, size: Int64, oid: JSONCursor.Text, sha256: JSONCursor.Text?, xetHash: JSONCursor.Text?
    ) {
        self.path = path
        self.size = size
        hashes = PackedHashes(oid: oid, sha256: sha256, xetHash: xetHash)
    }

    /// The digest to verify against, which is also the blob's name.
    public var digest: ContentDigest { sha256.map { .sha256($0) } ?? .gitSHA1(oid) }
    /// Whether the content is in LFS storage and comes from the CDN.
    public var isLFS: Bool { hashes.hasSHA256 }
    /// A compact key of the content, for sets of many files; see ``digest``.
    package var content: ContentKey { ContentKey(hashes: hashes) }

    /// Whether everything is the same, paths byte for byte: two that differ only by Unicode's normalisation are two files.
    public static func == (left: RepositoryFile, right: RepositoryFile) -> Bool {
        ExactText(left.path) == ExactText(right.path) && left.size == right.size && left.hashes == right.hashes
    }

    /// Feeds path and digest to the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ExactText(path))
        hasher.combine(content)
    }
}

/// A file's digest as a key: files of the same content have the same one.
package struct ContentKey: Sendable, Hashable {
    fileprivate let hashes: PackedHashes

    package static func == (left: ContentKey, right: ContentKey) -> Bool {
        left.hashes.hasSHA256 == right.hashes.hasSHA256
            && left.hashes.withDigest { one in right.hashes.withDigest { one.elementsEqual($0) } }
    }

    package func hash(into hasher: inout Hasher) { hashes.hash(into: &hasher) }
}

/// All files of a repository at a commit. Immutable: a commit's tree never changes.
public struct RepositoryTree: Sendable, Hashable {
    /// The commit.
    public var commit: Commit
    /// The files, sorted by path.
    public var files: [RepositoryFile]

    /// A tree; the files are sorted by the bytes of their paths.
    public init(commit: Commit, files: consuming [RepositoryFile]) {
        self.commit = commit
        self.files = files
        self.files.sort { ExactText.precedes($0.path, $1.path) }
    }

    /// Maximum total size of a tree's files that a server may name: 2^60 bytes.
    package static let sizeLimit: Int64 = 1 << 60

    /// Bytes of all files together, saturating: the sizes come from a server.
    public var totalSize: Int64 { files.reduce(ByteCount(0)) { $0 + ByteCount($1.size) }.bytes }
}
