public import HubCore

/// What is searched for, of the Hub and of the catalog alike. Conditions are and'ed.
public struct ModelQuery: Sendable, Hashable {
    /// The order of the answers, each from high to low or new to old.
    public enum Sort: String, Sendable, Hashable, CaseIterable {
        /// The well-known before the obscure.
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
    /// Parameters at least; a model whose number is not known is none of them.
    public var minimumParameters: Int64?
    /// Parameters at most; a model whose number is not known is none of them.
    public var maximumParameters: Int64?
    /// Bytes at most; a model whose size is not known is none of them.
    public var maximumSize: Int64?
    /// Bytes that one set of its weights may take at most, as ``ModelRecord/estimatedWeightBytes`` has it; a model of which
    /// there is no estimate is none of them.
    public var maximumWeightBytes: Int64?
    /// The ids that come into question; nil for all.
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
