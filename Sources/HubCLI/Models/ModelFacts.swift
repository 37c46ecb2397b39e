import Catalog
import Fetcher
import HubCore
import ModelFormats

/// What was found out of a model, from the Hub, the catalog and the cache.
struct ModelFacts {
    var reference: ModelReference
    var record: ModelRecord
    var commit: Commit?
    var revisions: [KnownRevision] = []
    /// When the Hub said where the branches and tags stand, where it was not asked now.
    var revisionsSeenAt: Double?
    var tree: RepositoryTree?
    /// What fetching its files would take: all, or those that the reference names.
    var plan: PullPlan?
    /// The sizes of the cached files, where it is not known which files there are.
    var cachedFiles: [Int64]?
    /// What is missing of the cached revision, in a sentence; nil where nothing is.
    var incomplete: String?
    /// What verifying found damaged in it, in a sentence; nil where nothing was.
    var damaged: String?
    /// How its last smoke test ended.
    var tried: TriedModel?
    /// The pin of this revision.
    var pin: Pin?
    /// Parameters by element type, where the Hub said so.
    var parameters: [String: Int64] = [:]
    /// The README's summary.
    var summary: String?
    /// When the Hub said so, where it was not asked now.
    var seenAt: Double?
    /// The same of its downloads and likes, which may be older.
    var countedAt: Double?
    var diskFree: Int64 = 0
    var memoryTotal: Int64 = 0
    /// What running the largest set of weights takes.
    var memory: MemoryNeed?
    /// The curated list.
    var registry: ModelRegistry?
    /// Its entry there.
    var curated: RegistryEntry?
    /// What the headers say, where that was asked for.
    var inspection: InspectionView?
    /// The sets of weights, the smallest first.
    private(set) var variants: [ModelVariant] = []

    /// ``countedAt`` where it is another day than ``seenAt``: the Hub counts downloads by the day.
    var olderCount: Double? {
        guard let seenAt, let countedAt, countedAt < seenAt - 86_400 else { return nil }
        return countedAt
    }

    /// Whether hub runs it, by the headers where they were read, else by its files, its entry or its tags; nil if they
    /// do not tell.
    var verdict: RunVerdict? {
        guard reference.repository.kind == .model else { return nil }
        if let inspection { return inspection.verdict }
        if let plan, !ModelSources.isLoadable(plan.files.map(\.file.path)),
            let format = variants.map(\.format).min()
        {
            return RunVerdict(
                obstacle: [.safetensors, .pickle].contains(format)
                    ? "weights under other names" : "\(format.rawValue) weights")
        }
        return curated.flatMap(RunVerdict.init) ?? RunVerdict(record)
    }

    /// Whether its weights are MLX's.
    var isMLX: Bool { variants.contains { $0.format == .mlx } }

    /// The program that runs it where hub does not.
    var program: String? {
        guard let plan, let registry else { return nil }
        let isCached = plan.files.allSatisfy(\.state.isCached)
        return RunAdvice(
            place: .repository(reference, isCached: isCached), files: plan.files.map(\.file),
            isMLX: isMLX, registry: registry
        ).program
    }

    mutating func findVariants() {
        guard reference.repository.kind == .model, let plan else { return }
        variants = ModelFiles(plan.files.map(\.file), library: record.library, tags: record.tags ?? []).variants
    }
}

extension PullPlan.State {
    /// Whether nothing of the file must come from anywhere.
    var isCached: Bool { self == .present || self == .blob }
}
