import Catalog
public import HubCore
import ModelFormats

/// The cost of a download, computed without fetching or writing anything.
public struct DownloadEstimate: Sendable, Hashable {
    /// The model as it was asked for.
    public let identifier: ModelIdentifier
    /// The commit that it stands for now.
    public let commit: Commit
    /// Files wanted.
    public let totalFiles: Int
    /// Files of which anything must be fetched.
    public let filesToFetch: Int
    /// Bytes of all wanted files.
    public let totalBytes: Int64
    /// Bytes of those files that the cache has.
    public let cachedBytes: Int64
    /// Bytes of those files that other models of the cache have, and that are shared with them instead of fetched.
    public let reusableBytes: Int64
    /// Bytes of incomplete files from earlier downloads.
    public let partialBytes: Int64
    /// Bytes to fetch: what is left of ``totalBytes``, content that several files share once.
    public let downloadBytes: Int64
    /// Bytes needed on the disk.
    public let neededBytes: Int64
    /// Bytes that are free on the cache's disk.
    public let freeBytes: Int64
    /// Bytes a second of the last downloads from this Hub; nil if there were none.
    public let bytesPerSecond: Double?

    /// Bytes of memory that running the largest set of weights among the files takes; nil if there are no weights. See
    /// ``memoryBasis``.
    public let memoryBytes: Int64?
    /// The basis of ``memoryBytes``; nil if there are no weights.
    public let memoryBasis: MemoryBasis?

    /// The basis of a memory estimate. Nothing is fetched for it.
    public enum MemoryBasis: Sendable, Hashable {
        /// The weights, and keys and values of so many positions as the cached `config.json` describes them.
        case configuration(positions: Int)
        /// The weights and a fifth of them, for the cache has no `config.json` that says more.
        /// https://huggingface.co/docs/accelerate/usage_guides/model_size_estimator
        case weights
    }

    /// Bytes that are free on the cache's disk once it is here; negative if they do not suffice.
    public var freeBytesAfter: Int64 { freeBytes - neededBytes }
    /// Whether the disk has room for it.
    public var fits: Bool { neededBytes <= freeBytes }
    /// Estimated seconds at ``bytesPerSecond``; nil if unknown.
    public var estimatedSeconds: Double? {
        guard let rate = bytesPerSecond, rate > 0 else { return nil }
        return Double(downloadBytes) / rate
    }

    /// Reads the disk and the catalog. Blocks.
    init(_ identifier: ModelIdentifier, _ plan: PullPlan, _ workspace: Workspace) throws(AIError) {
        self.identifier = identifier
        commit = plan.commit
        totalFiles = plan.files.count
        filesToFetch = plan.files.count { if case .missing = $0.state { true } else { false } }
        totalBytes = plan.totalBytes
        cachedBytes = plan.cachedBytes
        reusableBytes = plan.reusableBytes
        let cost = try PullCost([plan], workspace)
        partialBytes = cost.totals.partialBytes
        downloadBytes = cost.totals.downloadBytes
        neededBytes = cost.totals.neededBytes
        freeBytes = cost.diskFree
        memoryBytes = cost.memory?.need.bytes
        memoryBasis = cost.memory.map { $0.need.context.map(MemoryBasis.configuration(positions:)) ?? .weights }
        bytesPerSecond = cost.rate?.bytesPerSecond
    }
}
