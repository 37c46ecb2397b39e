public import HubCore

/// What is searched for, of the Hub and of the catalog alike. Conditions are and'ed.
public struct ModelQuery: Sendable, Hashable {
    /// The order of the answers, each from high to low or new to old.
    public enum Sort: String, Sendable, Hashable, CaseIterable {
        /// Models with the words in their name first, and the popular first among each.
        case relevance
        case downloads, likes, trending, updated, created
        /// The largest first.
        case size
    }

    /// Models, datasets or spaces.
    public var kind: RepositoryKind = .model
    /// Words that must all occur; empty lists all.
    public var text: String = ""
    /// The user or organisation.
    public var author: String?
    /// The task, the Hub's `pipeline_tag`.
    public var task: String?
    /// The library.
    public var library: String?
    /// The licence's identifier.
    public var license: String?
    /// Tags that must all be there.
    public var tags: [String] = []
    /// Tags of which one must be there; none asks for nothing.
    public var anyTags: [String] = []
    /// Tags that must not be there.
    public var withoutTags: [String] = []
    /// What it is good for.
    public var capability: ModelCapability?
    /// A format of weights that it has: `gguf`, `mlx`, `safetensors`.
    public var format: String?
    /// Parameters at least, as ``ModelRecord/likelyParameters`` has them. A model with an unknown number does not match.
    public var minimumParameters: Int64?
    /// Parameters at most, likewise.
    public var maximumParameters: Int64?
    /// Bytes of the repository at most. A model of unknown size does not match.
    public var maximumSize: Int64?
    /// Bytes of one set of its weights at most, as ``ModelRecord/estimatedWeightBytes`` has it. A model without an estimate
    /// does not match.
    public var maximumWeightBytes: Int64?
    /// Only these ids; nil for all.
    public var ids: [String]?
    /// Whether models that are gone from the Hub are found too.
    public var includesVanished = false
    /// Whether access must be asked for; nil takes both.
    public var gated: Bool?
    /// The order.
    public var sort: Sort = .relevance
    /// At most so many.
    public var limit: Int = 20

    /// Everything, the most popular first.
    public init() {}
}
