public import HubCore

/// What the Hub says of a repository, without its files. Whatever an answer left out is nil.
public struct ModelRecord: Sendable, Hashable {
    /// How access is granted.
    public enum Gating: String, Sendable, Hashable {
        /// Anyone may fetch it.
        case open
        /// Granted at once to who accepts the terms.
        case automatic = "auto"
        /// Granted by a person.
        case manual
    }

    /// The repository.
    public var repository: Repository
    /// The user or organisation.
    public var author: String?
    /// The task, the Hub's `pipeline_tag`.
    public var task: String?
    /// The library, the Hub's `library_name`.
    public var library: String?
    /// The licence's identifier.
    public var license: String?
    /// Downloads in the last 30 days.
    public var downloads: Int64?
    /// Likes.
    public var likes: Int64?
    /// The Hub's trending score.
    public var trendingScore: Double?
    /// Number of parameters.
    public var parameters: Int64?
    /// Bytes of the repository with its whole history.
    public var usedStorage: Int64?
    /// How access is granted.
    public var gating: Gating?
    /// Whether only its owners see it.
    public var isPrivate: Bool?
    /// Whether the Hub has switched it off.
    public var isDisabled: Bool?
    /// When it was made, seconds since 1970.
    public var createdAt: Double?
    /// When it last changed, seconds since 1970.
    public var updatedAt: Double?
    /// Its tags in the Hub's order; nil where the answer had none.
    public var tags: [String]?
    /// Whether the answer was asked for every field here, so that one that is nil has no value on the Hub (any more).
    /// Otherwise nil says nothing.
    package var isExhaustive = false

    /// A record of which nothing is known but the name.
    public init(_ repository: Repository) { self.repository = repository }
}

/// A record with what the catalog adds: when it was learned.
public struct KnownModel: Sendable, Hashable {
    /// What the Hub said.
    public var record: ModelRecord
    /// When the Hub last said something new of it, or was asked for it by a search or by name, seconds since 1970. A sync
    /// that finds it unchanged does not write this.
    public var seenAt: Double
    /// When its own page was last fetched; nil where only lists mentioned it.
    public var detailedAt: Double?
    /// When it was found to be gone from the Hub; nil while it is there.
    public var vanishedAt: Double?
}
