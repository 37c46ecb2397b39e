package import HubCore
import ModelFormats

/// The source of a model's tokenizer.
package enum TokenizerSource {
    /// A tokenizer.json.
    case file(String)
    /// A folder with a vocabulary of this name and a class for it.
    case vocabulary(folder: String, name: String)
    /// A folder with a SentencePiece model of this name.
    case sentencePiece(folder: String, name: String)
    /// A GGUF file with a vocabulary.
    case gguf(String)

    /// Looks in a folder for `tokenizer.json`, then a vocabulary that a known class reads (`vocab.txt`, `vocab.json`), then
    /// `tokenizer.model`, then a GGUF model; a GGUF file is its own source.
    ///
    /// - Returns: nil if there is none of them.
    package static func find(_ path: String) throws(AIError) -> TokenizerSource? {
        let file = Path.join(path, "tokenizer.json")
        let hasFile = FileSystem.exists(file)
        if hasFile, !TokenizerKind.sentencePieceNames.contains(where: { FileSystem.exists(Path.join(path, $0)) }) {
            return .file(file)
        }
        if let found = try VocabularyFolder(path), !hasFile || found.comesFirst {
            return .vocabulary(folder: path, name: Path.name(found.path))
        }
        if hasFile { return .file(file) }
        for name in TokenizerKind.sentencePieceNames where FileSystem.exists(Path.join(path, name)) {
            return .sentencePiece(folder: path, name: name)
        }
        return try GGUFModel.first(in: path).map { .gguf($0) }
    }

    /// The file name for findings.
    package var fileName: String {
        switch self {
        case .file(let path), .gguf(let path): Path.name(path)
        case .vocabulary(_, let name), .sentencePiece(_, let name): name
        }
    }

    /// The tokenizer's parts, and the path of the source.
    ///
    /// - Returns: nil for a GGUF file without a vocabulary.
    func parts() throws(AIError) -> (TokenizerParts, path: String)? {
        switch self {
        case .file(let path):
            guard var bytes = try TokenizerFile.contents(path) else { return nil }
            var parts = try TokenizerFile(&bytes, path: path).parts
            let settings = try TokenizerSettings(folder: Path.parent(path))
            if TokenizerClass(name: settings.kind)?.isWordPiece == true {
                parts.normalizer = parts.normalizer.changed(by: settings)
            }
            parts.take(settings)
            return (parts, path)
        case .vocabulary(let folder, _):
            return try VocabularyFolder(folder).map { folder throws(AIError) in (try folder.parts(), folder.path) }
        case .sentencePiece(let folder, _):
            return try SentencePieceFile.parts(folder: folder).map { ($0, folder) }
        case .gguf(let path):
            guard let vocabulary = try GGUFVocabulary(try GGUFFile(path)) else { return nil }
            return (try vocabulary.parts(path), path)
        }
    }
}

extension Tokenizer {
    /// The tokenizer of a source; nil if there is none.
    ///
    /// - Parameter lowercases: Whether texts become lower case first, whatever the source says.
    package convenience init?(_ source: TokenizerSource?, lowercases: Bool = false) throws(AIError) {
        guard var found = try source?.parts() else { return nil }
        if lowercases { found.0.normalizer = found.0.normalizer.lowercasing }
        try self.init(found.0, path: found.path)
    }

    /// Makes the tokenizer of a GGUF file.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` naming an unknown kind or pre-tokenizer; ``ErrorCode/malformedModel``.
    package convenience init(_ vocabulary: GGUFVocabulary, path: String) throws(AIError) {
        try self.init(try vocabulary.parts(path), path: path)
    }
}
