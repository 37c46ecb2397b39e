import HubCore
import ModelFormats

/// The files of a model's folder and its subfolders, by relative path.
struct CheckedFolder {
    /// Sorted by name, a folder's files before its subfolders'.
    private(set) var files: [String] = []

    /// For a single file.
    init() {}

    /// Links to folders are not followed, to avoid cycles.
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

    /// The weight format of a file; a file in an Apple package has the package's format.
    static func format(_ file: String) -> WeightFormat? {
        let isPackaged = Path.parts(file).dropLast().contains { folder in
            [".mlpackage", ".mlmodelc"].contains { folder.lowercased().hasSuffix($0) }
        }
        return isPackaged ? .coreML : WeightFormat(fileName: Path.name(file))
    }

    func files(of format: WeightFormat) -> [String] { files.filter { Self.format($0) == format } }

    /// The indexes of shards.
    var indexes: [String] { files.filter { $0.hasSuffix(".safetensors.index.json") } }

    /// The first files of all GGUF models, including projectors, drafts and importance matrices.
    var ggufs: [String] {
        var seen: Set<String> = []
        return files(of: .gguf).map { GGUFModel.paths(of: $0)[0] }.filter { seen.insert($0).inserted }
    }
}

/// Weights that are checked together.
struct CheckedWeights {
    let weights: StoredWeights
    /// The configuration that the tensors are checked against.
    let configuration: ModelConfiguration?
    /// Whether they are a complete model; otherwise they are checked without requirements.
    let isModel: Bool
    /// The file name shown if there are several weights; empty for the only ones.
    let label: String

    /// The GGUF file that vocabulary and templates are in; nil for other weights.
    var gguf: String? {
        guard isModel, let first = weights.files.first, first.format == .gguf else { return nil }
        return first.path
    }
    /// Whether any tensor has a known file offset.
    var hasNumbers: Bool { weights.tensors.contains { $0.offset != nil } }
    /// Whether all have one, and there are any.
    var hasAllNumbers: Bool { hasNumbers && weights.tensors.allSatisfy { $0.offset != nil } }
}
