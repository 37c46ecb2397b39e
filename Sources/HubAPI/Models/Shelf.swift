package import Fetcher
package import HubCore
import InferenceKit
import ModelFormats

/// The models of the cache that this server answers with.
package final class Shelf: Sendable {
    let workspace: Workspace
    /// What the server is limited to; nil for all that is cached.
    private let allowed: [ModelReference]?
    /// What a name means: an alias, or a reference.
    private let read: @Sendable (String) async throws -> ModelReference
    /// What headers say, by path: reading them takes time.
    private let inspections = Lock<[String: Inspected]>([:])
    /// When the use of a path was last recorded.
    private let recorded = Lock<[String: Double]>([:])

    private struct Inspected {
        var inspection: ModelInspection
        /// When something was last added to the snapshot.
        var modified: Double
    }

    package init(
        _ workspace: Workspace, allowed: [ModelReference]?,
        reference: @escaping @Sendable (String) async throws -> ModelReference
    ) {
        (self.workspace, self.allowed, read) = (workspace, allowed, reference)
    }

    /// A repository's snapshot and its sets of weights.
    private struct Held {
        var reference: ModelReference
        var commit: Commit
        var repository: RepositoryFolder
        var folder: String
        var files: ModelFiles
        var digests: [String: String]
        /// The weights that are opened by the folder, and those that are opened by their file.
        var whole: ModelVariant? { files.variants.first { $0.format != .gguf && $0.isMain } }
        var ggufs: [ModelVariant] { files.variants.filter { $0.format == .gguf } }
    }

    // MARK: Finding

    /// The model that a name means.
    ///
    /// - Parameter isUse: whether it is used; then that is recorded, for what was used last is deleted last.
    /// - Throws: 404 for one that is not in the cache, or not for this server; 400 for an invalid name.
    func model(_ name: String, isUse: Bool = true) async throws -> CachedModel {
        let reference = try await reference(name)
        guard isAllowed(reference) else { throw APIFault.noModel(name) }
        return try await Blocking.run { [self] in
            guard let held = try held(reference) else { throw APIFault.noModel(name) }
            do {
                guard let variant = try variant(of: held, reference.files) else { throw APIFault.noModel(name) }
                let model = try model(held, variant)
                if isUse { recordUse(of: model, held) }
                return model
            } catch { throw APIFault(error, at: (held.folder, "\(reference)")) }
        }
    }

    /// Once a minute is enough.
    private func recordUse(of model: CachedModel, _ held: Held) {
        let now = Clock.seconds
        let isDue = recorded.withLock { recorded in
            guard now - (recorded[model.path] ?? -.infinity) > 60 else { return false }
            recorded[model.path] = now
            return true
        }
        if isDue { workspace.markUsed(held.repository, held.commit) }
    }

    /// The reference that a name means; `:latest` is what is usual of a model.
    func reference(_ name: String) async throws -> ModelReference {
        var name = name
        name = name.dropping(prefix: "https://") ?? name
        for host in ["hf.co/", "huggingface.co/"] { name = name.dropping(prefix: host) ?? name }
        if name.hasSuffix(":latest") { name.removeLast(7) }
        let reference: ModelReference
        do { reference = try await read(name) } catch { throw APIFault.noModel(name) }
        guard reference.repository.kind == .model else { throw APIFault.noModel(name) }
        return reference
    }

    /// Whether a model may be loaded and pulled.
    func isAllowed(_ reference: ModelReference) -> Bool {
        guard let allowed else { return true }
        return allowed.contains {
            $0.repository == reference.repository
                && ($0.files == nil || $0.files?.lowercased() == reference.files?.lowercased())
        }
    }

    /// The set of weights of a name: by one of its files, by its quantization, or what is usual.
    private func variant(of held: Held, _ name: String?) throws -> ModelVariant? {
        let target = WeightChoice.Target(memoryBytes: try Machine.memory().total, runsMLX: false)
        do throws(AIError) {
            if let name {
                if let own = held.files.variants.first(where: { $0.files.contains(name) }) { return own }
                return try WeightChoice(format: nil, quantization: name)
                    .choose(from: held.files, of: "\(held.reference)", for: target)
            }
            if let whole = held.whole { return whole }
            return try WeightChoice(format: .auto, quantization: nil)
                .choose(from: held.files, of: "\(held.reference)", for: target)
        } catch {
            guard error.code == .nothingMatches else { throw error }
            return nil
        }
    }

    private func held(_ reference: ModelReference) throws -> Held? {
        guard let (folder, commit) = try workspace.snapshot(of: reference) else { return nil }
        var files = try folder.linkedFiles(of: commit)
        let path = folder.snapshot(commit)
        // A cache without links says nothing of digests.
        if files.isEmpty {
            for name in try FileSystem.entries(path) ?? [] {
                guard let status = try FileSystem.status(Path.join(path, name)), status.kind != .directory else {
                    continue
                }
                files.append(RepositoryFile(path: name, size: status.size, oid: String(repeating: "0", count: 40)))
            }
        }
        let digests = Dictionary(
            files.compactMap { file in file.sha256.map { (file.path, $0) } },
            uniquingKeysWith: { first, _ in first })
        return Held(
            reference: reference, commit: commit, repository: folder, folder: path, files: ModelFiles(files),
            digests: digests)
    }

    private func model(_ held: Held, _ variant: ModelVariant) throws -> CachedModel {
        let isFile = variant.format == .gguf
        let path = isFile ? Path.join(held.folder, variant.files[0]) : held.folder
        let isOneOfMany = isFile && (held.ggufs.count > 1 || held.whole != nil)
        let revision = held.reference.revision.map { "@\($0)" } ?? ""
        let modified = try FileSystem.status(held.folder)?.modified ?? 0
        let inspection = try inspection(path, modified)
        return CachedModel(
            id: held.reference.repository.description + revision + (isOneOfMany ? ":\(variant.name)" : ""),
            reference: held.reference, commit: held.commit, path: path,
            files: isOneOfMany ? Set(variant.files) : nil,
            modified: modified, bytes: variant.sizeBytes,
            digest: held.digests[variant.files[0]] ?? "", format: variant.format.rawValue,
            quantization: variant.quantization ?? inspection.quantization, inspection: inspection)
    }

    private func inspection(_ path: String, _ modified: Double) throws -> ModelInspection {
        if let known = inspections.withLock({ $0[path] }), known.modified == modified { return known.inspection }
        let inspection = try ModelInspection.outline(path)
        inspections.withLock { $0[path] = Inspected(inspection: inspection, modified: modified) }
        return inspection
    }

    // MARK: Listing

    /// The models that run here, in the order of their names.
    func models() async throws -> [CachedModel] {
        try await Blocking.run { [self] in
            var found: [CachedModel] = []
            for name in try workspace.heldFolders().sorted() {
                guard let repository = Repository(folderName: name), repository.kind == .model,
                    isKnown(repository), let held = try? held(ModelReference(repository))
                else { continue }
                // What cannot be read is refused by name when it is asked for.
                for variant in [held.whole].compactMap({ $0 }) + held.ggufs {
                    guard let model = try? model(held, variant), model.inspection.isSupported else { continue }
                    var asked = held.reference
                    asked.files = variant.format == .gguf ? variant.name : nil
                    if isAllowed(asked) { found.append(model) }
                }
            }
            return found
        }
    }

    /// The names of the models that generate texts and run here, in the order of their names.
    package func talking() async throws -> [(name: String, repository: Repository)] {
        try await models().filter { ModelKind.task(of: $0) == ModelTask.textGeneration.rawValue }.map {
            ($0.id, $0.reference.repository)
        }
    }

    private func isKnown(_ repository: Repository) -> Bool {
        allowed.map { $0.contains { $0.repository == repository } } ?? true
    }
}
