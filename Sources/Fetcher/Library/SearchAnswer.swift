public import Catalog
public import HubCore

/// What the Hub and the catalog know together in answer to a query.
public struct SearchAnswer: Sendable {
    /// Who said that a model matches.
    public enum Source: String, Sendable { case hub, catalog }

    /// What is known of a model and who said that it matches.
    public struct Entry: Sendable {
        /// What is known of it.
        public var record: ModelRecord
        /// The Hub, if it said so itself.
        public var source: Source
        /// Whether the cache holds anything of it.
        public var isCached: Bool
    }

    /// The models, in the order of the query.
    public var entries: [Entry] = []
    /// Why the Hub did not answer.
    public var failure: AIError?
    /// Models skipped because a number that was asked about is unknown, among those checked.
    public var undecided = 0
    /// Whether the Hub was asked for everything that could have been among the entries.
    public var isWhole = true
    /// Chosen models that the Hub was not asked about.
    public var unasked = 0
    /// Models of the Hub that were checked.
    public var checked = 0
    /// The catalog, where it could be used.
    package var catalog: Catalog?
}
