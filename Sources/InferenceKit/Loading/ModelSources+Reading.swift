import HubCore
import ModelFormats

extension ModelSources {
    /// Reads the headers and small files of a folder.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for broken files.
    static func read(folder: String) throws(AIError) -> ModelSources {
        var sources = ModelSources(name: folder)
        let files = try files(folder)
        sources.formats = formats(files)
        // A dangling link counts as broken, not as absent.
        let index = try FileSystem.linkStatus(Path.join(folder, SafetensorsFolder.indexName))
        let single = try FileSystem.linkStatus(Path.join(folder, SafetensorsFolder.singleName))
        if index != nil || single != nil {
            sources.weights = StoredWeights(try SafetensorsFolder(folder))
            sources.isLoadable = true
        } else if let name = openCLIPWeights(files.map(\.path)) {
            try sources.readOpenCLIP(Path.join(folder, name))
        } else {
            try sources.readOthers(folder, files.map(\.path))
        }
        // A GGUF file describes itself completely; a config.json next to it is a stub or another model's.
        if sources.configuration == nil {
            sources.configuration = try ModelConfiguration.read(folder: folder, isForgiving: true)
        }
        if sources.configuration?.isGGUF != true {
            sources.tokenizerFault = TokenizerKind.fault(files: files.map(\.path))
        }
        sources.note(files: files.map(\.path))
        let hasTemplate = try hasChatTemplate(folder)
        sources.hasChatTemplate = sources.hasChatTemplate || hasTemplate
        if let readme = try FileSystem.contents(Path.join(folder, "README.md")) {
            sources.license = license(readme: readme)
        }
        return sources
    }

    /// Reads the metadata of a single file.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a kind without metadata.
    static func read(file: String, size: Int64) throws(AIError) -> ModelSources {
        var sources = ModelSources(name: file)
        sources.formats = formats([(file, size)])
        switch WeightFormat(fileName: Path.name(file)) {
        case .gguf:
            let model = try GGUFModel(file)
            // All its parts were read, whichever one was given.
            sources.formats = formats(model.shards.map { ($0.path, $0.fileSize) })
            try sources.read(model)
        case .pickle: sources.weights = StoredWeights([try TorchFile(file)])
        case .safetensors:
            let header = try SafetensorsHeader(file: file)
            sources.weights = StoredWeights(safetensors: [.init(path: file, fileSize: size, header: header)])
        case let format:
            throw .unsupported(
                file, "a single file (\(format?.rawValue ?? "unknown")) cannot be run yet; name a model's folder")
        }
        return sources
    }

    /// Reads weights other than safetensors under their usual names, as far as their headers tell.
    private mutating func readOthers(_ folder: String, _ names: [String]) throws(AIError) {
        func paths(_ format: WeightFormat) -> [String] {
            names.filter { WeightFormat(fileName: $0) == format }.map { Path.join(folder, $0) }
        }
        let hasTorch = names.contains(where: TorchFolder.isEntry)
        if let shard = paths(.safetensors).first, !hasTorch {
            let hasIndex = names.contains { $0.hasSuffix(".safetensors.index.json") }
            guard hasIndex || !Path.name(shard).contains("-of-") else {
                throw .malformed(
                    folder,
                    "\(SafetensorsFolder.indexName) is missing, though there are shards (\(Path.name(shard)))")
            }
            var shards: [SafetensorsFolder.Shard] = []
            for path in paths(.safetensors) {
                let size = try FileSystem.status(path)?.size ?? 0
                shards.append(.init(path: path, fileSize: size, header: try SafetensorsHeader(file: path)))
            }
            weights = StoredWeights(safetensors: shards)
        } else if let chosen = try GGUFModel.usual(paths(.gguf)) {
            let model = try GGUFModel(chosen)
            try read(model)
            let models = Set(paths(.gguf).filter(GGUFModel.isModel).map { GGUFModel.paths(of: $0)[0] })
            choose(Path.name(chosen), of: models.count)
        } else if hasTorch {
            try readTorch(folder, paths(.pickle))
        } else {
            try list(paths(.pickle))
        }
    }

    /// Reads the weights of open_clip, in safetensors or a pickle.
    private mutating func readOpenCLIP(_ path: String) throws(AIError) {
        guard WeightFormat(fileName: Path.name(path)) == .pickle else {
            let size = try FileSystem.status(path)?.size ?? 0
            weights = StoredWeights(
                safetensors: [.init(path: path, fileSize: size, header: try SafetensorsHeader(file: path))])
            isLoadable = true
            return
        }
        do throws(AIError) {
            weights = StoredWeights([try TorchFile(weights: path)])
            isLoadable = true
        } catch {
            guard error.code == .unsupportedModel else { throw error }
            weightsFault = error
            try list([path])
        }
    }

    /// A checkpoint with anything but tensors is listed only, and not run.
    private mutating func readTorch(_ folder: String, _ paths: [String]) throws(AIError) {
        do throws(AIError) {
            weights = StoredWeights(try TorchFolder(folder).files)
            isLoadable = true
        } catch {
            guard error.code == .unsupportedModel else { throw error }
            weightsFault = error
            try list(paths)
        }
    }

    private mutating func list(_ pickles: [String]) throws(AIError) {
        guard !pickles.isEmpty else { return }
        var checkpoints: [TorchFile] = []
        for path in pickles { checkpoints.append(try TorchFile(path)) }
        weights = StoredWeights(checkpoints)
    }

    private mutating func read(_ model: GGUFModel) throws(AIError) {
        weights = StoredWeights(model)
        isLoadable = true
        configuration = try ModelConfiguration(model.header, path: model.shards[0].path)
        tokenizerKind = TokenizerKind.name(model.header)
        if tokenizerKind == nil { tokenizerFault = .noTokenizer }
        hasChatTemplate = model.header["tokenizer.chat_template"] != nil
    }

    private static func files(_ folder: String) throws(AIError) -> [(path: String, size: Int64)] {
        guard let names = try FileSystem.entries(folder) else {
            throw AIError(.fileNotFound, "the folder \(folder) does not exist", context: .init(path: folder))
        }
        var files: [(path: String, size: Int64)] = []
        for name in names { files.append((name, try FileSystem.status(Path.join(folder, name))?.size ?? 0)) }
        return files
    }

    private static func hasChatTemplate(_ folder: String) throws(AIError) -> Bool {
        for name in ["chat_template.jinja", "chat_template.json"] where FileSystem.exists(Path.join(folder, name)) {
            return true
        }
        return try JSONFile.read(Path.join(folder, "tokenizer_config.json"))?["chat_template"] != nil
    }
}
