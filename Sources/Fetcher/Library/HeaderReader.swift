import HubCore
import ModelFormats
import Synchronization

/// Reads the headers and documents of a plan's files: from the cache, else by ranges from the Hub. Malformed and
/// unreadable files are errors.
final class HeaderReader: Sendable {
    enum Header: Sendable {
        case safetensors(SafetensorsHeader)
        case gguf(GGUFPreamble)
    }

    /// Maximum bytes of `config.json` or an index. The largest index of a published model has some 9 MB.
    private static let documentLimit: Int64 = 64 << 20
    /// Maximum bytes of all headers together; the server is untrusted.
    static let headerLimit = 256 << 20
    /// Headers read at once.
    private static let width = 8

    let plan: PullPlan
    let client: HubClient
    private let isOffline: Bool
    let headerBytes = Atomic(0)
    /// Bytes to request before the header's length is known. Eight are enough for the length; a few thousand usually
    /// contain the whole header, which saves a request.
    private let eagerBytes: Int

    init(_ plan: PullPlan, _ puller: Puller, eagerBytes: Int = 8) {
        self.plan = plan
        self.eagerBytes = eagerBytes
        client = puller.client
        isOffline = puller.isOffline
    }

    /// - Throws: ``ErrorCode/malformedModel``, ``ErrorCode/unsupportedModel``, and errors of requests to the Hub.
    func read(_ identifier: ModelIdentifier) async throws -> ModelHeaders {
        // File contents come from a server, in errors too.
        do { return try await headers(identifier) } catch let error as AIError {
            throw error.rewriting(client.masked)
        }
    }

    private func headers(_ identifier: ModelIdentifier) async throws -> ModelHeaders {
        let weights = plan.files.map(\.file).compactMap { file in
            WeightFormat(fileName: Path.name(file.path)).map { (file: file, format: $0) }
        }
        let readable = weights.filter { $0.format == .safetensors || $0.format == .gguf }
        guard !readable.isEmpty else { throw nothingToRead(weights.first?.format, weights.first?.file) }
        let configuration = try await configuration()
        if let first = readable.first(where: { $0.format == .safetensors }) {
            guard let configuration else {
                throw AIError.unsupported(shown(first.file), "there is no config.json that names the architecture")
            }
            guard configuration.modelType != nil else {
                throw AIError.malformed(configuration.path, "it has no model_type")
            }
        }
        let headers = try await headers(of: readable)
        var shards: [String: SafetensorsFolder.Shard] = [:]
        for (file, header) in headers {
            guard case .safetensors(let header) = header else { continue }
            shards[file.path] = .init(path: shown(file), fileSize: file.size, header: header)
        }
        try await checkIndexes(shards)
        return ModelHeaders(
            identifier: identifier, commit: plan.commit, modelType: configuration?.modelType,
            architectures: configuration?.architectures ?? [],
            quantization: configuration?.quantization?.description, contextLength: configuration?.maxPositions,
            weights: headers.map(Self.summary),
            unreadWeights: weights.filter { $0.format != .safetensors && $0.format != .gguf }.map(\.file.path))
    }

    /// The file as errors name it.
    func shown(_ file: RepositoryFile) -> String { "\(plan.repository)/\(file.path)" }

    private func nothingToRead(_ format: WeightFormat?, _ file: RepositoryFile?) -> AIError {
        guard let format, let file else {
            return .unsupported(plan.repository.description, "there are no weights among the files asked for")
        }
        return .unsupported(
            shown(file), "\(format.rawValue) weights have no header that says what they are before they are fetched"
        )
    }

    private static func summary(_ file: RepositoryFile, _ header: Header) -> ModelHeaders.WeightFile {
        switch header {
        case .safetensors(let header):
            var types: [String: Int64] = [:]
            for tensor in header.tensors {
                types[tensor.dataType.rawValue, default: 0] += Int64(tensor.elementCount)
            }
            return .init(
                path: file.path, format: WeightFormat.safetensors.rawValue, size: file.size,
                tensorCount: header.tensors.count, dataTypes: types)
        case .gguf(let preamble):
            return .init(
                path: file.path, format: WeightFormat.gguf.rawValue, size: file.size,
                tensorCount: preamble.tensorCount, dataTypes: [:])
        }
    }

    // MARK: Documents

    func configuration(isForgiving: Bool = false) async throws -> ModelConfiguration? {
        guard let file = plan.tree.files.first(where: { $0.path == "config.json" }) else { return nil }
        let json = try await document(file)
        let names = ModelConfiguration.declaresPacking(json) ? [] : ModelConfiguration.packingNames
        let other = names.compactMap { name in plan.tree.files.first { $0.path == name } }.first
        let packing = if let other { try await document(other) } else { JSON?.none }
        return try ModelConfiguration(
            ModelConfiguration.adding(packing, from: other?.path ?? "", to: json), path: shown(file),
            isForgiving: isForgiving)
    }

    /// A JSON file, verified.
    func document(_ file: RepositoryFile) async throws -> JSON {
        guard file.size <= Self.documentLimit else {
            throw AIError.malformed(shown(file), "it has \(ByteCount(file.size)), too large for such a file")
        }
        let bytes = try await beginning(of: file, Int(file.size))
        return try await Blocking.run { [path = shown(file)] in
            let found = ContentHasher.digest(of: bytes, like: file.digest)
            guard found == file.digest else {
                throw AIError(
                    .digestMismatch, "\(path) has the digest \(found) instead of \(file.digest)",
                    context: .init(path: path))
            }
            do throws(JSONError) { return try JSON.parsePython(bytes) } catch {
                throw AIError.malformed(path, "\(error)", cause: error)
            }
        }
    }

    /// Checks the indexes against the headers, if all shards are wanted.
    ///
    /// - Parameter limit: maximum bytes of an index.
    func checkIndexes(_ shards: [String: SafetensorsFolder.Shard], limit: Int64 = .max) async throws {
        let folders = Set(shards.keys.map(Path.parent))
        for file in plan.tree.files
        where file.path.hasSuffix(".safetensors.index.json") && folders.contains(Path.parent(file.path))
            && file.size <= limit
        {
            let map = try SafetensorsFolder.weightMap(try await document(file), shown(file))
            let paths = Set(map.values).sorted().map { name in
                Path.parent(file.path) == "." ? name : Path.join(Path.parent(file.path), name)
            }
            if let missing = paths.first(where: { path in !plan.tree.files.contains { $0.path == path } }) {
                throw AIError.malformed(shown(file), "the repository does not have \(missing.printable)")
            }
            let present = paths.compactMap { shards[$0] }
            guard present.count == paths.count else { continue }
            _ = try SafetensorsFolder(present, weightMap: map, indexPath: shown(file))
        }
    }

    // MARK: Headers

    func headers(of files: [(file: RepositoryFile, format: WeightFormat)]) async throws
        -> [(RepositoryFile, Header)]
    {
        let found = try await withThrowingTaskGroup(of: (Int, Header).self) { group in
            var found: [Int: Header] = [:]
            for (index, (file, format)) in files.enumerated() {
                if index >= Self.width, let (done, header) = try await group.next() { found[done] = header }
                group.addTask { [self] in
                    (
                        index,
                        format == .gguf ? .gguf(try await gguf(file)) : .safetensors(try await safetensors(file))
                    )
                }
            }
            for try await (done, header) in group { found[done] = header }
            return found
        }
        return files.indices.map { (files[$0].file, found[$0]!) }
    }

    private func safetensors(_ file: RepositoryFile) async throws -> SafetensorsHeader {
        let prefix = try await beginning(of: file, Int(min(Int64(eagerBytes), file.size)))
        let count = try prefix.withUnsafeBytes { buffer in
            Result { () throws(AIError) in
                try SafetensorsHeader.byteCount(prefix: buffer, fileSize: file.size, path: shown(file))
            }
        }.get()
        guard headerBytes.add(count, ordering: .relaxed).newValue <= Self.headerLimit else {
            throw AIError.malformed(
                plan.repository.description,
                "the headers of its weights have more than \(ByteCount(Int64(Self.headerLimit)))")
        }
        let bytes = prefix.count >= count ? prefix : try await beginning(of: file, count)
        return try await Blocking.run { [path = shown(file)] in
            try bytes.withUnsafeBytes { buffer in
                Result { () throws(AIError) in
                    try SafetensorsHeader(buffer, fileSize: file.size, path: path)
                }
            }.get()
        }
    }

    private func gguf(_ file: RepositoryFile) async throws -> GGUFPreamble {
        let bytes = try await beginning(of: file, Int(min(Int64(GGUFPreamble.byteCount), file.size)))
        return try bytes.withUnsafeBytes { buffer in
            Result { () throws(AIError) in try GGUFPreamble(buffer, fileSize: file.size, path: shown(file)) }
        }.get()
    }

    // MARK: Bytes

    func beginning(of file: RepositoryFile, _ count: Int) async throws -> [UInt8] {
        try await bytes(of: file, 0..<count)
    }

    func bytes(of file: RepositoryFile, _ range: Range<Int>) async throws -> [UInt8] {
        if let known = try await Blocking.run({ [plan] in try plan.cachedBytes(of: file, range) }) {
            return known
        }
        guard !isOffline else {
            throw AIError(
                .offline, "\(shown(file)) is not in the cache, and the network is switched off",
                context: .init(repository: plan.repository.description, path: file.path))
        }
        return try await client.bytes(of: file, range, in: plan.repository, at: plan.commit)
    }
}
