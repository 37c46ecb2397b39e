import Fetcher
import HubCore

/// Words that mean files of a repository.
enum FileNames {
    /// The extensions of nearly all files of models.
    private static let extensions: Set<String> = [
        "bin", "ckpt", "csv", "gguf", "h5", "jinja", "json", "jsonl", "md", "model", "msgpack", "npz", "onnx",
        "parquet", "pdf", "png", "pt", "pth", "py", "safetensors", "tflite", "tiktoken", "txt", "yaml", "yml",
    ]

    /// Whether a word ends like a file. An address, and a name with a revision or files, say themselves what they are.
    static func isUsual(_ word: String) -> Bool {
        guard !word.contains(where: { $0 == ":" || $0 == "@" }) else { return false }
        let parts = Path.name(word).split(separator: ".", omittingEmptySubsequences: false)
        return parts.count > 1 && extensions.contains(parts.last!.lowercased())
    }

    /// The path of a tree that was probably meant: the nearest, else one whose last part is the nearest.
    static func nearest(to word: String, in tree: RepositoryTree) -> String? {
        let paths = tree.files.map(\.path)
        if let near = NearestName.of(word, among: paths) { return near }
        let near = NearestName.of(Path.name(word), among: paths.map(Path.name))
        return paths.first { Path.name($0) == near }
    }
}
