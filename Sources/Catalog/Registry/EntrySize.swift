package import HubCore

/// How large the files of an entry of the curated list are, as far as it is known.
package enum EntrySize: Sendable, Hashable {
    /// Those of the newest known tree of its main branch.
    case listed(ByteCount)
    /// An estimate by its parameters and its quantisation.
    case estimated(ByteCount)
    /// No more than its repository, which has all sets of weights and a history.
    case atMost(ByteCount)

    package var bytes: ByteCount {
        switch self {
        case .listed(let bytes), .estimated(let bytes), .atMost(let bytes): bytes
        }
    }

    /// The size of one set of its weights; nil where only that of its repository is known.
    package var weights: ByteCount? { if case .atMost = self { nil } else { bytes } }

    /// What is known where the catalog knows nothing.
    init?(estimating entry: RegistryEntry) {
        guard let bytes = entry.estimatedWeightBytes else { return nil }
        self = .estimated(ByteCount(bytes))
    }
}
