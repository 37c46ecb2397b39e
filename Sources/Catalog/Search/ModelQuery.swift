public import HubCore

/// A search query for the Hub and the catalog. All conditions must hold.
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
    /// What it is good for.
    public var capability: ModelCapability?
    /// A format of weights that it has: `gguf`, `mlx`, `safetensors`.
    public var format: String?
    /// Minimum of ``ModelRecord/likelyParameters``. A model with an unknown number does not match.
    public var minimumParameters: Int64?
    /// Maximum number of parameters, likewise.
    public var maximumParameters: Int64?
    /// Maximum bytes of the repository. A model of unknown size does not match.
    public var maximumSize: Int64?
    /// Maximum of ``ModelRecord/estimatedWeightBytes``. A model without an estimate does not match.
    public var maximumWeightBytes: Int64?
    /// Bytes of weights by id, where more is known than the estimate.
    package var knownWeightBytes: [String: Int64] = [:]
    /// What must be able to run the models; nil for no condition.
    package var runner: ModelRunner?
    /// Only these ids; nil for all.
    public var ids: [String]?
    /// Whether to include models that have vanished from the Hub.
    public var includesVanished = false
    /// Whether access must be asked for; nil takes both.
    public var gated: Bool?
    /// The order.
    public var sort: Sort = .relevance
    /// Maximum number of results.
    public var limit: Int = 20

    /// Everything, the most popular first.
    public init() {}
}
