import Catalog
import Fetcher
import HubCore
import ModelFormats

/// What was found out of a model, from the Hub, the catalog and the cache.
struct ModelFacts {
    var reference: ModelReference
    /// The address of its page.
    var page: String
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
    /// How its last smoke test on this machine ended.
    var tried: TriedModel?
    /// Those at providers, the last one first.
    var triedRemotely: [TriedModel] = []
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
    /// What running each of ``variants`` takes.
    var needs: [MemoryNeed] = []
    /// The curated list.
    var registry: ModelRegistry?
    /// Its entry there.
    var curated: RegistryEntry?
    /// What the headers say, where that was asked for.
    var inspection: InspectionView?
    /// Whether hub runs it here; nil if that is not known.
    var verdict: RunVerdict?
    /// Its files by role.
    private(set) var weights = ModelFiles([])
    /// Its files that are cached.
    private(set) var held: Set<ExactText> = []
    /// The sets of weights, the smallest first.
    var variants: [ModelVariant] { weights.variants }

    /// ``countedAt`` where it is another day than ``seenAt``: the Hub counts downloads by the day.
    var olderCount: Double? {
        guard let seenAt, let countedAt, countedAt < seenAt - 86_400 else { return nil }
        return countedAt
    }

    /// Whether every file of a set is in the snapshot or is one of its blobs.
    func isCached(_ variant: ModelVariant) -> Bool { variant.files.allSatisfy { held.contains(ExactText($0)) } }

    /// What running the largest set of weights takes.
    var memory: MemoryNeed? { needs.max { $0.bytes < $1.bytes } }

    /// Whether its weights are MLX's.
    var isMLX: Bool { variants.contains { $0.format == .mlx } }

    /// What to use instead where hub does not run it.
    var advice: RunAdvice? {
        guard let plan, let registry else { return nil }
        let isCached = plan.files.allSatisfy(\.state.isCached)
        return RunAdvice(
            place: .repository(reference, isCached: isCached), files: plan.files.map(\.file),
            isMLX: isMLX, registry: registry, task: record.task, architecture: record.modelType)
    }

    mutating func findVariants() {
        guard reference.repository.kind == .model, let plan else { return }
        weights = ModelFiles(plan.files.map(\.file), library: record.library, tags: record.tags ?? [])
        held = Set(plan.files.lazy.filter { $0.state.isCached }.map { ExactText($0.file.path) })
    }
}

extension PullPlan.State {
    /// Whether nothing of the file must come from anywhere.
    var isCached: Bool { self == .present || self == .blob }
}
