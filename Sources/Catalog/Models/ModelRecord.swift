public import HubCore

/// The Hub's metadata of a repository, without its files. Fields missing from an answer are nil.
public struct ModelRecord: Sendable, Hashable {
    /// How access is granted.
    public enum Gating: String, Sendable, Hashable {
        /// Anyone may fetch it.
        case open
        /// Granted automatically on accepting the terms.
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
    /// `model_type` in its `config.json`.
    public var modelType: String?
    /// The class in its `config.json`, such as `BertForTokenClassification`.
    public var modelClass: String?
    /// The architecture that its GGUF files name.
    public var ggufArchitecture: String?
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
    /// Its tags in the Hub's order; nil if the answer had none.
    public var tags: [String]?
    /// Whether every field was requested, so that nil means no value on the Hub. Otherwise nil means unknown.
    package var isExhaustive = false

    /// A record with only a name.
    public init(_ repository: Repository) { self.repository = repository }
}

/// A record with the catalog's times.
public struct KnownModel: Sendable, Hashable {
    /// The Hub's record.
    public var record: ModelRecord
    /// When the Hub last reported a change, or it was last requested by search or name, seconds since 1970. A sync that
    /// finds it unchanged does not update this.
    public var seenAt: Double
    /// When its own page was last fetched; nil if it was only seen in lists.
    public var detailedAt: Double?
    /// When it was found to have vanished from the Hub; nil while it exists.
    public var vanishedAt: Double?
}
