import Catalog
import Fetcher
import HubCore
import ModelFormats

/// What the cache tells of a model, where the Hub's metadata tell less: the set of weights that hub takes, and how fast it
/// ran here.
struct CachedWeights: Sendable {
    /// Bytes of the set.
    var bytes: Int64
    /// Of the last smoke test; nil if there was none, or none of tokens.
    var tokensPerSecond: Double?

    /// Those of models in the cache, by the ids of their repositories.
    ///
    /// - Parameter fault: called with what cannot be read; the other models count all the same.
    static func of(
        _ records: [ModelRecord], _ workspace: Workspace, _ machine: MachineRunner, fault: (AIError) -> Void
    ) -> [String: CachedWeights] {
        var found: [String: CachedWeights] = [:]
        for record in records where record.repository.kind == .model {
            do throws(AIError) {
                found[record.repository.id.name] = try CachedWeights(record, workspace, machine)
            } catch { fault(error) }
        }
        return found
    }

    private init?(_ record: ModelRecord, _ workspace: Workspace, _ machine: MachineRunner) throws(AIError) {
        guard let (folder, commit) = try workspace.snapshot(of: ModelReference(record.repository)) else {
            return nil
        }
        let files = try Warming(folder: folder.snapshot(commit)).files.map {
            RepositoryFile(path: $0.name, size: $0.size, oid: "")
        }
        let weights = ModelFiles(files, library: record.library, tags: record.tags ?? [])
        // Of a set that did not arrive whole, what is here says too little.
        guard let variant = machine.chosen(of: weights, record, preferring: { _ in true }),
            ShardNumbers.missing(among: variant.files).first(where: { _ in true }) == nil
        else { return nil }
        bytes = variant.sizeBytes
        let tried = workspace.dispensable.use { catalog throws(AIError) in
            try catalog.tried(record.repository, at: commit)
        }
        tokensPerSecond = (tried ?? nil)?.tokensPerSecond
    }
}

extension MachineRunner {
    /// The set of weights that `hub try` takes: a preferred one, if any runs.
    func chosen(of weights: ModelFiles, _ record: ModelRecord, preferring isPreferred: (ModelVariant) -> Bool)
        -> ModelVariant?
    {
        let target = WeightChoice.Target(memoryBytes: memoryTotal, runsMLX: Machine.runsMLX)
        let runnable = weights.variants.filter { runner.mayRun($0, of: record) }
        let preferred = runnable.filter(isPreferred)
        return WeightChoice.usual(
            of: weights, for: target, preferred: (preferred.isEmpty ? runnable : preferred).contains)
    }
}
