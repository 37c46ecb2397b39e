import HubCore
import ModelFormats

/// The files of a model's folder and of those in it, by their paths below it.
struct CheckedFolder {
    /// In the order of their names, those of a folder before those in it.
    private(set) var files: [String] = []

    /// A file alone.
    init() {}

    /// Links to folders are not followed, so that no circle is followed.
    ///
    /// - Throws: ``ErrorCode/cancelled``, or the error of the system call that failed.
    init(_ path: String, _ isCancelled: () -> Bool) throws(AIError) {
        var open = [""]
        while let folder = open.popLast() {
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            var folders: [String] = []
            for name in try FileSystem.entries(Path.join(path, folder))?.sorted() ?? [] {
                let shown = Path.join(folder, name)
                let isFolder = try FileSystem.linkStatus(Path.join(path, shown))?.kind == .directory
                if isFolder { folders.append(shown) } else { files.append(shown) }
            }
            open += folders.reversed()
        }
    }

    /// The kind of weights that a file is of; what is in one of Apple's packages is of that, whatever its name.
    static func format(_ file: String) -> WeightFormat? {
        let isPackaged = Path.parts(file).dropLast().contains { folder in
            [".mlpackage", ".mlmodelc"].contains { folder.lowercased().hasSuffix($0) }
        }
        return isPackaged ? .coreML : WeightFormat(fileName: Path.name(file))
    }

    func files(of format: WeightFormat) -> [String] { files.filter { Self.format($0) == format } }

    /// The indexes of shards.
    var indexes: [String] { files.filter { $0.hasSuffix(".safetensors.index.json") } }

    /// The first files of all models in GGUF files; projectors, drafts and importance matrices are among them.
    var ggufs: [String] {
        var seen: Set<String> = []
        return files(of: .gguf).map { GGUFModel.paths(of: $0)[0] }.filter { seen.insert($0).inserted }
    }
}

/// Weights that are looked at together.
struct CheckedWeights {
    let weights: StoredWeights
    /// What the tensors are held against.
    let configuration: ModelConfiguration?
    /// Whether they are a whole model; else they are looked at for themselves.
    let isModel: Bool
    /// The file that they are told by where there are others; empty for the only ones.
    let label: String

    /// The GGUF file that vocabulary and templates are in; nil for other weights.
    var gguf: String? {
        guard isModel, let first = weights.files.first, first.format == .gguf else { return nil }
        return first.path
    }
    /// Whether there are numbers whose places in their files are known.
    var hasNumbers: Bool { weights.tensors.contains { $0.offset != nil } }
}
