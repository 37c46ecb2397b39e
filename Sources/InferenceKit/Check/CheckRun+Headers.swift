import HubCore
import ModelFormats

/// Checks of headers and indexes.
extension CheckRun {
    mutating func checkHeaders(size: Int64) throws(AIError) {
        let (path, isFolder) = (path, isFolder)
        sources = try attempt("headers") { () throws(AIError) in
            isFolder ? try ModelSources.read(folder: path) : try ModelSources.read(file: path, size: size)
        }
        if let sources {
            for fault in sources.configuration?.faults ?? [] {
                let file = Path.name(sources.configuration?.path ?? "")
                add(.init("headers", .fail, "\(file): \(fault)", file: file))
            }
            if let weights = sources.weights {
                let isAlone = weights.files.first?.format != .gguf || folder.ggufs.count < 2
                let label = isAlone ? "" : shown(weights.files[0].path)
                parts = [.init(weights: weights, configuration: sources.configuration, isModel: true, label: label)]
            }
        }
        guard isFolder else {
            checkEnds()
            return close("headers", (sources?.formats ?? []).map(Self.shown).joined(separator: "; "))
        }
        try checkOwnIndex()
        let shards = try readOtherSafetensors()
        try readOtherGGUFs()
        try checkOtherIndexes(shards)
        try checkPipeline()
        checkEnds()
        closeFolder(try formats())
    }

    /// Reports unexplained bytes after the last tensor. Loaders ignore them, but the file is not as it was written.
    private mutating func checkEnds() {
        for file in parts.flatMap(\.weights.files) {
            guard let ends = file.ends, file.size != ends.lowerBound, file.size != ends.upperBound else { continue }
            let name = shown(file.path)
            add(
                .init(
                    "headers", .warn, "\(name) has \(file.size - ends.lowerBound) bytes after its last tensor",
                    file: name, expected: "\(ends.upperBound)", found: "\(file.size)"))
        }
    }

    private static func shown(_ format: ModelSources.Format) -> String {
        "\(format.format.rawValue), \(ByteCount(format.bytes))"
    }

    /// Weight files of the folder and its subfolders, by format.
    private func formats() throws(AIError) -> [(format: WeightFormat, first: String, bytes: Int64)] {
        var found: [WeightFormat: (first: String, bytes: Int64)] = [:]
        for file in folder.files {
            guard let format = CheckedFolder.format(file) else { continue }
            let size = try FileSystem.status(Path.join(path, file))?.size ?? 0
            found[format, default: (file, 0)].bytes += size
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value.first, $0.value.bytes) }
    }

    private mutating func closeFolder(_ formats: [(format: WeightFormat, first: String, bytes: Int64)]) {
        if formats.isEmpty, sources != nil { add(.init("headers", .fail, "there are no weights")) }
        if !parts.isEmpty {
            for unread in formats where ![.safetensors, .gguf, .pickle].contains(unread.format) {
                add(
                    .init(
                        "headers", .pass,
                        "\(unread.format.rawValue) weights (\(unread.first)) were not checked",
                        file: unread.first))
            }
        }
        close("headers", formats.map { "\($0.format.rawValue), \(ByteCount($0.bytes))" }.joined(separator: "; "))
    }

    /// Warns that tensors or values were not checked although the headers are sound.
    mutating func warnUnread(_ check: String) {
        let what = (sources?.formats ?? []).first
        let format = what?.format ?? folder.files.lazy.compactMap(CheckedFolder.format).first
        // The headers check has reported why these could not be read.
        guard let format, format != .safetensors, format != .gguf else { return skip(check) }
        let file = what?.evidence ?? folder.files.first { CheckedFolder.format($0) == format } ?? Path.name(path)
        add(
            .init(check, .warn, "not checked: hub does not read \(format.rawValue) weights (\(file))", file: file)
        )
        close(check, "")
    }

    // MARK: Other files

    /// Reads the weights beside the model's own: adapters, the parts of a pipeline, other variants.
    ///
    /// - Returns: The sound safetensors by name.
    private mutating func readOtherSafetensors() throws(AIError) -> [String: SafetensorsFolder.Shard] {
        var shards: [String: SafetensorsFolder.Shard] = [:]
        let known = Set(parts.flatMap { $0.weights.files.map(\.path) })
        for file in folder.files(of: .safetensors) {
            let place = Path.join(path, file)
            guard !known.contains(place) else { continue }
            let shard = try attempt("headers") { () throws(AIError) in
                SafetensorsFolder.Shard(
                    path: place, fileSize: try FileSystem.status(place)?.size ?? 0,
                    header: try SafetensorsHeader(file: place))
            }
            guard let shard else { continue }
            shards[file] = shard
            parts.append(
                .init(weights: StoredWeights(safetensors: [shard]), configuration: nil, isModel: false, label: file)
            )
        }
        return shards
    }

    /// Reads the other GGUF files: each is a model or belongs to one.
    private mutating func readOtherGGUFs() throws(AIError) {
        let known = Set(parts.flatMap { $0.weights.files.map(\.path) })
        for file in folder.ggufs {
            let place = Path.join(path, file)
            guard !known.contains(place) else { continue }
            let isModel = GGUFModel.isModel(file)
            let part = try attempt("headers") { () throws(AIError) in
                let model = try GGUFModel(place)
                return CheckedWeights(
                    weights: StoredWeights(model),
                    configuration: isModel ? try ModelConfiguration(model.header, path: place) : nil,
                    isModel: isModel, label: file)
            }
            guard let part else { continue }
            for fault in part.configuration?.faults ?? [] {
                add(.init("headers", .fail, "\(file): \(fault)", file: file))
            }
            parts.append(part)
        }
    }

    /// Checks the parts that a diffusers pipeline names, each in a folder.
    private mutating func checkPipeline() throws(AIError) {
        let name = "model_index.json"
        guard let index = json(name, "headers") else { return }
        for (key, value) in index.object?.members ?? [] where !key.hasPrefix("_") {
            // An omitted part has no library and no class.
            guard let entry = value.array, entry.count == 2, entry[1].string != nil,
                !folder.files.contains(where: { $0.hasPrefix(key + "/") })
            else { continue }
            add(
                .init(
                    "headers", .fail, "\(name) names \(key.printable), which is missing", file: name,
                    expected: key, found: "nothing"))
        }
    }

    // MARK: Indexes

    /// Checks the index against the files: loaders trust it for files and sizes.
    private mutating func checkOwnIndex() throws(AIError) {
        let name = SafetensorsFolder.indexName
        guard let sources, sources.isLoadable, let weights = sources.weights, let index = json(name, "headers")
        else {
            return
        }
        if let told = index["metadata"]?["total_size"], told.double != Double(weights.tensorBytes) {
            add(
                .init(
                    "headers", .warn,
                    "\(name) says that the tensors have \(told.text().printable) bytes; they have \(weights.tensorBytes)",
                    file: name, expected: "\(weights.tensorBytes)", found: told.text()))
        }
        guard let map = index["weight_map"]?.object else { return }
        let listed = Set(map.members.map(\.key))
        for tensor in weights.tensors where !listed.contains(weights.storedName(tensor)) {
            let (stored, shard) = (weights.storedName(tensor), shown(weights.files[tensor.file].path))
            // Transformers treats unlisted tensors as missing and initialises them randomly; buffers it computes
            // itself.
            add(
                .init(
                    "headers", TensorPart(tensor.name) == .buffer ? .warn : .fail,
                    "\(name) does not list tensor \"\(stored)\", which \(shard) holds",
                    file: name, tensor: stored, expected: shard, found: "nothing"))
        }
    }

    /// Checks the indexes of parts and variants; shards without an index by their numbers.
    private mutating func checkOtherIndexes(_ read: [String: SafetensorsFolder.Shard]) throws(AIError) {
        for index in folder.indexes where index != SafetensorsFolder.indexName {
            try check(index: index, read)
        }
        let indexed = Set(folder.indexes.map(Path.parent))
        let shards = folder.files(of: .safetensors).filter { !indexed.contains(Path.parent($0)) }
        for (missing, count) in ShardNumbers.missing(among: shards).prefix(Self.mostMissing) {
            add(
                .init(
                    "headers", .fail, "\(missing.printable) is missing, one of \(count) shards", file: missing,
                    expected: Path.name(missing), found: "nothing"))
        }
    }

    /// Maximum number of missing shards to list.
    private static let mostMissing = 100

    private mutating func check(index: String, _ read: [String: SafetensorsFolder.Shard]) throws(AIError) {
        guard let document = json(index, "headers") else { return }
        let place = Path.join(path, index)
        let map = try attempt("headers") { () throws(AIError) in try SafetensorsFolder.weightMap(document, place) }
        guard let map else { return }
        let start = index.contains("/") ? Path.parent(index) : ""
        let names = Set(map.values).sorted().map { Path.join(start, $0) }
        let missing = names.filter { !folder.files.contains($0) }
        for name in missing {
            add(
                .init(
                    "headers", .fail,
                    "\(name.printable): the shard is missing, though \(Path.name(index)) names it",
                    file: name, expected: Path.name(name), found: "nothing"))
        }
        let shards = names.compactMap { read[$0] }
        guard missing.isEmpty, shards.count == names.count else { return }
        try attempt("headers") { () throws(AIError) in
            _ = try SafetensorsFolder(shards, weightMap: map, indexPath: place)
        }
    }
}
