import HubCore
package import ModelFormats
import Synchronization

extension Puller {
    /// The metadata from the headers of a plan's weights and the small files beside them; nothing else is fetched.
    ///
    /// - Parameter paths: the weights of one model; what is neither safetensors nor GGUF among them has no header.
    package func sources(_ plan: PullPlan, of paths: Set<String>) async throws -> ModelSources {
        try await HeaderReader(plan, self, eagerBytes: HeaderReader.usualHeader).sources(of: paths)
    }

    /// The metadata from a plan's file names and `config.json`: enough to detect most models that cannot run before
    /// fetching them. `config.json` comes from the cache, else verified from the Hub; nothing is written.
    package func outline(_ plan: PullPlan) async throws -> ModelSources {
        try await HeaderReader(plan, self).outline()
    }
}

extension HeaderReader {
    /// A shard's header is usually smaller than this: some 130 bytes per tensor.
    static let usualHeader = 32 << 10

    /// The metadata from the headers of some weights and the small files beside them, for display.
    ///
    /// - Parameter paths: the weights of one model; what is neither safetensors nor GGUF among them has no header.
    func sources(of paths: Set<String>) async throws -> ModelSources {
        do { return try await readSources(paths) } catch let error as AIError {
            throw error.rewriting(client.masked)
        }
    }

    /// See ``Puller/outline(_:)``.
    func outline() async throws -> ModelSources {
        var sources = ModelSources(name: plan.repository.id.name)
        sources.note(files: plan.tree.files.map(\.path))
        sources.formats = ModelSources.formats(plan.files.map { ($0.file.path, $0.file.size) })
        let paths = plan.files.map(\.file.path)
        // GGUF files describe themselves; a config.json beside them may be missing or another model's.
        let ggufs = plan.files.map(\.file).filter { GGUFModel.isModel($0.path) }
        if !paths.contains(where: SafetensorsFolder.isEntry), let first = ggufs.map(\.path).sorted().first {
            let parts = Set(GGUFModel.paths(of: first))
            do { try await readGGUF(ggufs.filter { parts.contains($0.path) }, into: &sources) } catch let error
                as AIError
            {
                throw error.rewriting(client.masked)
            }
            return sources
        }
        sources.isLoadable = ModelSources.isLoadable(paths)
        sources.tokenizerFault = TokenizerKind.fault(files: plan.tree.files.map(\.path))
        do { sources.configuration = try await configuration(isForgiving: true) } catch let error as AIError {
            throw error.rewriting(client.masked)
        }
        return sources
    }

    private func readSources(_ paths: Set<String>) async throws -> ModelSources {
        let weights = plan.tree.files.filter { paths.contains($0.path) }
        var sources = ModelSources(name: plan.repository.id.name)
        sources.note(files: plan.tree.files.map(\.path))
        sources.formats = ModelSources.formats(plan.files.map { ($0.file.path, $0.file.size) })
        let ggufs = weights.filter { WeightFormat(fileName: Path.name($0.path)) == .gguf }
        let tensors = weights.filter { WeightFormat(fileName: Path.name($0.path)) == .safetensors }
        // As for a folder: a GGUF file's metadata takes precedence over config.json.
        if !tensors.isEmpty || ggufs.isEmpty { sources.configuration = try await configuration(isForgiving: true) }
        if !tensors.isEmpty {
            try await readSafetensors(tensors, into: &sources)
            try await readTokenizer(into: &sources)
        } else if !ggufs.isEmpty {
            try await readGGUF(ggufs, into: &sources)
        } else {
            sources.isLoadable = ModelSources.isLoadable(weights.map(\.path))
            try await readTokenizer(into: &sources)
        }
        return sources
    }

    private func readSafetensors(_ files: [RepositoryFile], into sources: inout ModelSources) async throws {
        var shards: [SafetensorsFolder.Shard] = []
        for (file, header) in try await headers(of: files.map { ($0, .safetensors) }) {
            guard case .safetensors(let header) = header else { continue }
            shards.append(.init(path: shown(file), fileSize: file.size, header: header))
        }
        if let (missing, count) = ShardNumbers.missing(among: files.map(\.path)).first(where: { missing in
            !plan.tree.files.contains { $0.path == missing.path }
        }) {
            throw AIError.malformed(
                plan.repository.description,
                "it does not have \(missing.printable), one of \(counted(count, "shard"))", expected: missing,
                found: "nothing")
        }
        let held = Dictionary(
            zip(files.map(\.path), shards), uniquingKeysWith: { first, _ in first })
        try await checkIndexes(held, limit: files.count < Self.manyShards ? Self.smallIndex : 0)
        sources.weights = StoredWeights(safetensors: shards)
        sources.isLoadable = plan.tree.files.contains { SafetensorsFolder.isEntry($0.path) }
    }

    /// Maximum size of an index to read; the headers are enough without it.
    private static let smallIndex: Int64 = 1 << 20
    /// An index costs two requests, a shard one: more shards would need more than 40 requests.
    private static let manyShards = 30

    /// Bytes of a GGUF header to request first, then doubled.
    private static let ggufStep = 1 << 20

    private func readGGUF(_ files: [RepositoryFile], into sources: inout ModelSources) async throws {
        var shards: [GGUFModel.Shard] = []
        for file in files.sorted(by: { $0.path < $1.path }) {
            var known: [UInt8] = []
            var wanted = Self.ggufStep
            while true {
                let end = Int(min(Int64(wanted), file.size))
                if end > known.count { known += try await bytes(of: file, known.count..<end) }
                let reading = try known.withUnsafeBytes { buffer in
                    Result { () throws(AIError) in
                        try GGUFHeader.read(buffer, fileSize: file.size, path: shown(file))
                    }
                }.get()
                if case .header(let header) = reading {
                    shards.append(.init(path: shown(file), fileSize: file.size, header: header))
                    break
                }
                guard case .needs(let needed) = reading, Int64(known.count) < file.size else {
                    throw AIError.malformed(shown(file), "its header has no end")
                }
                guard headerBytes.add(known.count, ordering: .relaxed).newValue <= Self.headerLimit else {
                    throw AIError.malformed(
                        shown(file), "its header has more than \(ByteCount(Int64(Self.headerLimit)))")
                }
                wanted = max(needed, known.count * 2)
            }
        }
        let model = try GGUFModel(shards)
        sources.weights = StoredWeights(model)
        sources.isLoadable = true
        let all = plan.tree.files.map(\.path).filter { WeightFormat(fileName: Path.name($0)) == .gguf }
        let models = Set(all.filter(GGUFModel.isModel).map { GGUFModel.paths(of: $0)[0] })
        let first = files.map(\.path).sorted()[0]
        sources.choose(first, of: models.count)
        sources.configuration = try ModelConfiguration(model.header, path: model.shards[0].path)
        sources.tokenizerKind = TokenizerKind.name(model.header)
        if sources.tokenizerKind == nil { sources.tokenizerFault = .noTokenizer }
        sources.hasChatTemplate = model.header["tokenizer.chat_template"] != nil
    }

    /// Maximum bytes of `tokenizer_config.json` to read.
    private static let tokenizerLimit: Int64 = 2 << 20

    private func readTokenizer(into sources: inout ModelSources) async throws {
        func file(_ path: String) -> RepositoryFile? { plan.tree.files.first { $0.path == path } }
        if let tokenizer = file("tokenizer.json") {
            let count = Int(min(tokenizer.size, Int64(TokenizerKind.enoughBytes)))
            sources.tokenizerKind = TokenizerKind.name(beginning: try await beginning(of: tokenizer, count))
        } else if let kind = TokenizerKind.name(files: Set(plan.tree.files.map(\.path))) {
            sources.tokenizerKind = kind
        } else {
            sources.tokenizerFault = .noTokenizer
        }
        if file("chat_template.jinja") != nil || file("chat_template.json") != nil {
            sources.hasChatTemplate = true
        } else if let settings = file("tokenizer_config.json"), settings.size <= Self.tokenizerLimit {
            sources.hasChatTemplate = try await document(settings)["chat_template"] != nil
        }
    }
}
