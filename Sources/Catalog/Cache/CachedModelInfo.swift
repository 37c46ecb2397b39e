public import HubCore

/// A model in the cache.
public struct CachedModelInfo: Sendable, Hashable {
    /// Which model, at the commit of ``revision``.
    public var identifier: ModelIdentifier
    /// The snapshot folder.
    public var path: String
    /// Bytes of the snapshot's files, each physical file once.
    public var size: ByteCount
    /// When the snapshot was made, seconds since 1970.
    public var downloadedAt: Double
    /// When it was last used, seconds since 1970: recorded by `hub`, else by the file system.
    public var lastAccessedAt: Double
    /// The commit.
    public var revision: Commit
    /// Whether every file of the commit, or every file chosen by downloads with patterns, is present; nil if the
    /// commit's files are unknown.
    public var complete: Bool?
    /// Whether it is pinned: deletions skip it.
    public var pinned: Bool
    /// Since when every file of the snapshot is verified, seconds since 1970; nil if one was never read, or has changed
    /// since.
    public var verifiedAt: Double?

    /// A cached model.
    public init(
        identifier: ModelIdentifier, path: String, size: ByteCount, downloadedAt: Double, lastAccessedAt: Double,
        revision: Commit, complete: Bool?, pinned: Bool = false, verifiedAt: Double? = nil
    ) {
        self.identifier = identifier
        self.path = path
        self.size = size
        self.downloadedAt = downloadedAt
        self.lastAccessedAt = lastAccessedAt
        self.revision = revision
        self.complete = complete
        self.pinned = pinned
        self.verifiedAt = verifiedAt
    }
}
