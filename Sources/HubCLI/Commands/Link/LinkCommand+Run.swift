import Catalog
import Fetcher
import HubCore
import ModelFormats

extension LinkCommand {
    /// What a program knows after linking.
    private struct Linked: Sendable {
        var name: String
        var path: String
        var way: StoreLink.Way
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let reference = try context.reference(request.model)
        let workspace = try await context.workspace()
        guard let (folder, commit) = try await Blocking.run({ try workspace.snapshot(of: reference) }) else {
            throw AIError.notCached(reference.withoutFiles, in: workspace.layout)
        }
        let snapshot = folder.snapshot(commit)
        let variant = try await Blocking.run { try choose(reference, request, snapshot) }
        let files = try await prove(variant.files, snapshot, context)
        let name = try request.name.map { text throws(AIError) in try OllamaName(parsing: text) }
        let linked = try await Blocking.run {
            switch request.tool {
            case .ollama:
                let name = try name ?? OllamaName.of(reference, variant)
                return try ollama(name, variant, files, snapshot, context)
            case .lmstudio:
                let path = StoreLocations(context.environment).lmStudio
                return try plain(files, below: path, prefix: reference.repository.id.name + "/", "LM Studio")
            case .llamaCpp:
                let prefix = reference.repository.id.name.split(separator: "/").joined(separator: "_") + "_"
                let path = StoreLocations(context.environment).llamaCpp
                return try plain(files, below: path, prefix: prefix, "llama.cpp", isFlat: true)
            }
        }
        workspace.markUsed(folder, commit)
        let bytes = files.reduce(0) { $0 + $1.blob.size }
        context.output.render(
            json: [
                "tool": .string(request.tool.rawValue), "name": .string(linked.name), "path": .string(linked.path),
                "bytes": .int(bytes), "action": .string(linked.way.rawValue),
            ], quiet: [linked.name]
        ) {
            context.output.value(linked.name)
            context.output.note("\(ByteCount(bytes)) in \(linked.path): \(linked.way.text)")
        }
    }

    // MARK: What is meant

    /// The one set of GGUF weights that the words mean.
    private static func choose(_ reference: ModelReference, _ request: Request, _ snapshot: String) throws
        -> ModelVariant
    {
        let present = try Warming(folder: snapshot).files
        let named = try reference.files.map { word throws(AIError) in
            try NamedFiles(word, amongPaths: present.map(\.name), of: reference.repository)
        }
        let meant = present.filter { named?.matches($0.name) ?? true }
        guard named == nil || !meant.isEmpty else {
            throw AIError(
                .notCached, "no cached file matches \(reference)",
                advice: "hub info \(reference.withoutFiles) --files shows what is cached")
        }
        let gguf = meant.filter { WeightFormat(fileName: $0.name) == .gguf }
        guard !gguf.isEmpty else {
            throw AIError(
                .unsupportedModel, "\(reference) has no GGUF file in the cache",
                advice:
                    "\(request.tool.rawValue) takes GGUF files: hub info \(reference.withoutFiles) shows the sets of weights"
            )
        }
        let files = gguf.map { RepositoryFile(path: $0.name, size: $0.size, oid: "") }
        let variants = ModelFiles(files).variants.filter { variant in
            request.quant.map { variant.name.lowercased() == $0.lowercased() } ?? true
        }
        guard variants.count == 1 else {
            let names = ModelFiles(files).variants.map(\.name).joined(separator: ", ")
            throw AIError(
                .invalidInput,
                variants.isEmpty
                    ? "\(reference) has no set of weights \(request.quant ?? "") in the cache"
                    : "\(reference) has several sets of weights in the cache",
                advice: "choose one of \(names) with --quant, or name a file")
        }
        return variants[0]
    }

    /// Reads the files and compares them with their digests: other programs believe names.
    private static func prove(_ names: [String], _ snapshot: String, _ context: Context) async throws
        -> [(name: String, blob: ProvenFile)]
    {
        let renderer = context.progress()
        defer { renderer.finish() }
        return try await Blocking.runCancellable { check in
            try names.map { name in
                let path = FileSystem.resolved(Path.join(snapshot, name)) ?? Path.join(snapshot, name)
                let file = try FileDescriptor(unnoticed: path)
                let status = try file.status()
                let hasher = ContentHasher()
                try hasher.update(file) { _ in
                    try check()
                    var progress = ProgressSnapshot(title: name, phase: "verifying")
                    (progress.doneBytes, progress.totalBytes) = (hasher.count, status.size)
                    renderer.update(progress)
                }
                let digest = hasher.finish().hex
                if case .sha256(let expected) = ContentDigest(etag: Path.name(path)), expected != digest {
                    throw AIError(
                        .digestMismatch, "\(path) is not what its name says",
                        advice: "hub verify --repair repairs it",
                        context: .init(path: path))
                }
                return (name, ProvenFile(path: path, sha256: digest, status))
            }
        }
    }

    // MARK: Linking

    private static func ollama(
        _ name: OllamaName, _ variant: ModelVariant, _ files: [(name: String, blob: ProvenFile)],
        _ snapshot: String, _ context: Context
    ) throws -> Linked {
        let models = files.filter { GGUFModel.isModel($0.name) }
        guard models.count == 1, let model = models.first else {
            throw AIError(
                .unsupportedModel, "ollama cannot load a model that is split into \(models.count) files",
                advice: "llama.cpp and LM Studio can")
        }
        let places = StoreLocations(context.environment).ollama
        guard let path = places.first(where: FileSystem.exists) else {
            throw AIError(
                .fileNotFound, "ollama has no store at \(places[0])",
                advice: "start ollama once, or set OLLAMA_MODELS to its folder")
        }
        try checkReadable(model.blob.path, for: path, "ollama")
        var parts = OllamaStore.Parts()
        parts.projector = files.first { !GGUFModel.isModel($0.name) }?.blob
        parts.template = try FileSystem.text(Path.join(snapshot, "template"))
        parts.params = try FileSystem.text(Path.join(snapshot, "params"))
        parts.system = try FileSystem.text(Path.join(snapshot, "system"))
        let header = try GGUFFile(model.blob.path).header
        let way = try OllamaStore(path).add(name, model.blob, header, quantization: variant.quantization, parts)
        return Linked(name: name.text, path: path, way: way)
    }

    /// The service of ollama runs as its own user.
    private static func checkReadable(_ file: String, for store: String, _ tool: String) throws(AIError) {
        guard let status = try FileSystem.status(file), let owner = try FileSystem.status(store)?.owner,
            status.owner != owner, status.mode & 0o004 == 0
        else { return }
        throw AIError(
            .permissionDenied, "\(tool) could not read \(file), which belongs to another user",
            advice: "chmod o+r \(ShellQuoting.word(file))", context: .init(path: file))
    }

    private static func plain(
        _ files: [(name: String, blob: ProvenFile)], below store: String, prefix: String, _ tool: String,
        isFlat: Bool = false
    ) throws -> Linked {
        guard FileSystem.exists(store) else {
            throw AIError(
                .fileNotFound, "\(tool) has no folder \(store)",
                advice: "start \(tool) once, so that it makes its folder")
        }
        var way = StoreLink.Way.present
        for (name, blob) in files {
            let own = isFlat ? name.split(separator: "/").joined(separator: "_") : Path.name(name)
            let made = try StoreLink.make(Path.join(store, prefix + own), of: blob)
            if made != .present { way = made }
        }
        let first = isFlat ? files[0].name.split(separator: "/").joined(separator: "_") : ""
        return Linked(
            name: isFlat ? Path.join(store, prefix + first) : String(prefix.dropLast()), path: store, way: way)
    }
}

extension OllamaName {
    /// `hub/org-name:quant`.
    fileprivate static func of(_ reference: ModelReference, _ variant: ModelVariant) throws(AIError) -> OllamaName {
        let name = reference.repository.id.name.split(separator: "/").joined(separator: "-")
        do throws(AIError) { return try OllamaName(parsing: "hub/\(name):\(variant.name)") } catch {
            var error = error
            error.specificAdvice = "choose a shorter name with --name"
            throw error
        }
    }
}

extension StoreLink.Way {
    fileprivate var text: String {
        switch self {
        case .reflink: "it shares the blocks of the cache's file"
        case .hardlink: "it is the same file as the cache's"
        case .symlink: "it is a link to the cache's file, and breaks if that is deleted"
        case .present: "it was there already"
        }
    }
}
