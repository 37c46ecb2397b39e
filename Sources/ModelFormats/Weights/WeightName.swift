import HubCore

/// The role of a file in a repository.
enum FileRole {
    /// Configuration, tokenizer, licence, pictures: goes with any set of weights.
    case plain
    /// Goes with none: a training state, an importance matrix, a draft model.
    case aside
    case projector(GGUFName)
    case weights(WeightName)
}

/// The set of a weight file, derived from its path.
struct WeightName: Sendable {
    /// Identifies a set of files.
    struct SetID: Hashable {
        var format: WeightFormat
        /// The folder of a separate model (`checkpoint-500`, `original`); empty for the model itself.
        var scope: String
        /// Another edition of the whole model: `consolidated`, a checkpoint of a pipeline as one file; else empty.
        var edition: String
    }

    var set: SetID
    /// The part of the model, the same in every format: `unet/diffusion_pytorch_model`.
    var part: String
    /// Whether it is a library's standard name.
    var isKnown = false
    /// `fp16` of `model.fp16.safetensors`.
    var variant: String?
    var quantization: GGUFQuantization?
    /// Whether it goes with weights but is not one: `model.safetensors.index.json`, a tokenizer in the folder `onnx`.
    var isCompanion = false
}

/// The context of all file names of a repository.
struct RepositoryLayout {
    /// Whether `model_index.json` makes it a diffusers pipeline: parts in folders, with whole checkpoints beside them.
    private let isPipeline: Bool
    private let isMLX: Bool
    /// Folders that are separate models, if the repository itself is not one.
    private let modelFolders: Set<Substring>
    /// Whether the only GGUF files are drafts and projectors, which are then the models.
    private let hasOnlyAids: Bool
    /// Paths without extension that exist as `.xml` and `.bin`: OpenVINO's two halves of a model.
    private let pairs: Set<String>

    init(_ paths: [String], isMLX: Bool) {
        self.isMLX = isMLX
        let top = Set(paths.filter { !$0.utf8.contains(UInt8(ascii: "/")) })
        isPipeline = top.contains("model_index.json")
        func stems(_ ending: String) -> Set<String> {
            Set(paths.filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) })
        }
        pairs = stems(".xml").intersection(stems(".bin"))
        modelFolders = Self.modelFolders(paths, top: top)
        hasOnlyAids = !paths.contains { GGUFName(path: $0)?.role == .model }
    }

    /// Two or more folders with weights and config.json, and neither at the top level.
    private static func modelFolders(_ paths: [String], top: Set<String>) -> Set<Substring> {
        let marks = ["config.json", "model_index.json", "modules.json"]
        func isLoadable(_ name: String) -> Bool {
            [.safetensors, .pickle].contains(WeightFormat(fileName: name))
        }
        guard top.isDisjoint(with: marks), !top.contains(where: isLoadable) else { return [] }
        var configured: Set<Substring> = []
        var weighty: Set<Substring> = []
        for parts in paths.lazy.map({ Path.parts($0) }) where parts.count == 2 {
            if parts[1] == "config.json" { configured.insert(parts[0]) }
            if isLoadable(String(parts[1])) { weighty.insert(parts[0]) }
        }
        let folders = configured.intersection(weighty)
        return folders.count > 1 ? folders : []
    }

    // MARK: Folders

    /// The folder of the separate model a file belongs to; empty for the model itself.
    func scope(of path: String) -> String {
        let folders = Path.parts(path).dropLast()
        for (index, folder) in folders.enumerated() {
            let isOther = index == 0 && (["original", "mlx"].contains(folder) || modelFolders.contains(folder))
            if isOther || Self.isCheckpoint(folder) {
                return folders.prefix(index + 1).joined(separator: "/")
            }
        }
        return ""
    }

    /// `checkpoint-500`, as written by trainers.
    private static func isCheckpoint(_ folder: Substring) -> Bool {
        if folder == "last-checkpoint" { return true }
        return ["checkpoint-", "checkpoint_", "global_step", "step_", "step-", "epoch_", "epoch-"].contains {
            folder.hasPrefix($0) && folder.count > $0.count && folder.dropFirst($0.count).allSatisfy(\.isNumber)
        }
    }

    /// Folders that contain one format with all its files.
    private static let formatFolders: [String: WeightFormat] = [
        "onnx": .onnx, "openvino": .openVINO, "coreml": .coreML, "tf": .tensorFlow, "saved_model": .tensorFlow,
        "flax": .flax, "tflite": .tensorFlow, "metal": .metal,
    ]

    private static func folderFormat(_ path: String) -> WeightFormat? {
        Path.parts(path).dropLast().lazy.compactMap { folder -> WeightFormat? in
            let name = folder.lowercased()
            if name.hasSuffix(".mlpackage") || name.hasSuffix(".mlmodelc") { return .coreML }
            return formatFolders[name]
        }.first
    }

    /// Whether a file in such a folder is not weights.
    private static func isText(_ name: String) -> Bool {
        [".json", ".txt", ".md", ".model", ".jinja", ".yaml", ".yml", ".py", ".gitattributes"].contains {
            name.hasSuffix($0)
        }
    }

    // MARK: Files

    func role(of path: String) -> FileRole {
        let scope = scope(of: path)
        let name = Path.name(path)
        func whole(_ format: WeightFormat, isCompanion: Bool = false) -> FileRole {
            let set = WeightName.SetID(format: format, scope: scope, edition: "")
            return .weights(WeightName(set: set, part: "", isCompanion: isCompanion))
        }
        if let format = Self.folderFormat(path) {
            return whole(format, isCompanion: Self.isText(name.lowercased()))
        }
        if let gguf = GGUFName(path: path) { return role(gguf, path, scope) }
        if WeightFormat.isTrainingState(name) || Self.isImportanceMatrix(name.lowercased()) { return .aside }
        if path.hasSuffix(".xml") || path.hasSuffix(".bin"), pairs.contains(String(path.dropLast(4))) {
            return whole(.openVINO)
        }
        if let (file, variant) = Self.index(name), let format = WeightFormat(fileName: file) {
            return weights(file, format, path, scope, variant: variant, isCompanion: true)
        }
        guard let format = WeightFormat(fileName: name) else { return .plain }
        return weights(name, format, path, scope)
    }

    /// The folder of a path; empty for the top level.
    private static func folder(_ path: String) -> String {
        let folder = Path.parent(path)
        return folder == "." ? "" : folder
    }

    private func role(_ gguf: GGUFName, _ path: String, _ scope: String) -> FileRole {
        if gguf.role == .importanceMatrix { return .aside }
        if gguf.role == .model || hasOnlyAids {
            let edition = Path.join(Self.folder(path), gguf.stem)
            let set = WeightName.SetID(format: .gguf, scope: scope, edition: edition)
            return .weights(WeightName(set: set, part: "", quantization: gguf.quantization))
        }
        return gguf.role == .projector ? .projector(gguf) : .aside
    }

    /// `imatrix.dat`, `imatrix_unsloth.gguf_file`, `Model.imatrix`.
    private static func isImportanceMatrix(_ name: String) -> Bool {
        name.hasSuffix(".imatrix")
            || name.contains("imatrix") && (name.hasSuffix(".dat") || name.hasSuffix(".gguf_file"))
    }

    /// The weights of an index, by name without number, and the index's variant: `model.safetensors.index.fp16.json`.
    private static func index(_ name: String) -> (file: String, variant: String?)? {
        guard name.hasSuffix(".json"), let range = name.ranges(of: ".index").last else { return nil }
        let variant = name[range.upperBound...].dropLast(".json".count)
        guard variant.isEmpty || variant.hasPrefix(".") else { return nil }
        return (String(name[..<range.lowerBound]), variant.isEmpty ? nil : String(variant.dropFirst()))
    }

    /// The weight names of Transformers, Diffusers, PEFT, OpenCLIP and MLX, and their parts here.
    private static let stems: [(written: String, part: String)] = [
        ("diffusion_pytorch_model", "diffusion_pytorch_model"), ("open_clip_pytorch_model", "open_clip_model"),
        ("open_clip_model", "open_clip_model"), ("pytorch_model", "model"), ("adapter_model", "adapter_model"),
        ("model", "model"), ("weights", "model"),
    ]

    private func weights(
        _ name: String, _ format: WeightFormat, _ path: String, _ scope: String, variant: String? = nil,
        isCompanion: Bool = false
    ) -> FileRole {
        let ending = name.utf8.lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex
        let stem = ShardName.removed(from: String(name[..<ending]))
        let known = Self.stems.first { stem == $0.written || stem.hasPrefix($0.written + ".") }
        let folder = Self.folder(path)
        var set = WeightName.SetID(format: format, scope: scope, edition: "")
        let isArray = format == .safetensors || format == .numpy
        if isArray, isMLX || scope == "mlx" || known?.written == "weights" && format == .numpy { set.format = .mlx }
        guard set.format.isLoadable else {
            // Each GGML file is a model, like GGUF; the other formats are one export each.
            let isModel = format == .ggml || format == .llamafile
            if isModel { set.edition = Path.join(folder, stem) }
            return .weights(
                WeightName(
                    set: set, part: "", quantization: isModel ? GGUFQuantization(in: stem) : nil,
                    isCompanion: isCompanion))
        }
        if stem.hasPrefix("consolidated"), scope != "original" {
            set.edition = "consolidated"
        } else if known?.part == "open_clip_model" {
            set.edition = "open_clip_model"
        } else if isPipeline, known == nil, folder == scope {
            set.edition = stem
        }
        let suffix = known.map { stem.dropFirst($0.written.count + 1) } ?? ""
        return .weights(
            WeightName(
                set: set, part: Path.join(folder, known?.part ?? stem), isKnown: known != nil,
                variant: variant ?? (suffix.isEmpty ? nil : String(suffix)), isCompanion: isCompanion))
    }
}
