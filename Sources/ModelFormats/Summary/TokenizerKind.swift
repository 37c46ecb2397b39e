package import HubCore

/// The kind of a model's tokenizer, without reading its vocabulary.
package enum TokenizerKind {
    /// The names of a SentencePiece file, the usual one first.
    package static let sentencePieceNames = [
        "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model",
    ]
    /// The names of files with a vocabulary alone, whose class other files name.
    package static let vocabularyNames = ["vocab.txt", "vocab.json", "tiktoken.model"] + sentencePieceNames
    /// The files that a tokenizer is read from; the first that exists counts.
    package static let fileNames = ["tokenizer.json"] + vocabularyNames

    /// Why a model with these files has no tokenizer; nil if it may have one.
    package static func fault(files names: some Sequence<String>) -> RunObstacle? {
        names.contains(where: fileNames.contains) ? nil : .noTokenizer
    }

    /// By the names of a model's files, if it has no tokenizer.json; nil if there is no tokenizer.
    package static func name(files names: Set<String>) -> String? {
        if !names.isDisjoint(with: sentencePieceNames) || names.isSuperset(of: ["vocab.json", "source.spm"]) {
            return "SentencePiece"
        }
        if names.contains("vocab.txt") { return "WordPiece" }
        if names.contains("tiktoken.model") { return "byte-level BPE" }
        return names.isSuperset(of: ["vocab.json", "merges.txt"]) ? "byte-level BPE" : nil
    }

    /// Bytes of `tokenizer.json` that are enough: the kind stands behind the added tokens and before the vocabulary.
    package static let enoughBytes = 256 << 10

    /// From the start of `tokenizer.json`; nil if that does not say.
    package static func name(beginning bytes: [UInt8]) -> String? {
        var scanner = TokenizerScanner(bytes)
        return scanner.kind()
    }

    /// From a GGUF file's metadata; nil if it has no vocabulary.
    package static func name(_ header: GGUFHeader) -> String? {
        guard let model = header["tokenizer.ggml.model"]?.string, model != "no_vocab" else { return nil }
        return switch model {
        case "gpt2": "byte-level BPE"
        case "gemma4": "BPE"
        case "llama": "SentencePiece BPE"
        case "bert": "WordPiece"
        case "t5": "Unigram"
        default: model
        }
    }
}

/// Scans possibly truncated JSON for one string and its path.
private struct TokenizerScanner {
    private let bytes: [UInt8]
    private var at = 0
    private var path: [String] = []
    private var isByteLevel = false

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func kind() -> String? {
        var text: String?
        var key = ""
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = string() else { return nil }
                text = string
            case UInt8(ascii: ":"):
                key = text ?? ""
                text = nil
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                path.append(key)
                (key, text) = ("", nil)
                // Tokenizers are never nested deeper.
                if path.count > 64 { return nil }
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let found = value(text, key) { return found }
                text = nil
                if byte != UInt8(ascii: ",") { _ = path.popLast() }
                if path.last != "" || byte != UInt8(ascii: ",") { key = "" }
            default: break
            }
        }
        return nil
    }

    private mutating func value(_ text: String?, _ key: String) -> String? {
        guard let text, key == "type" else { return nil }
        if text == "ByteLevel" { isByteLevel = true }
        guard path == ["", "model"] else { return nil }
        return text == "BPE" && isByteLevel ? "byte-level BPE" : text
    }

    /// A string after its opening quotation mark; nil if it does not end.
    private mutating func string() -> String? {
        let start = at
        while at < bytes.count {
            if bytes[at] == UInt8(ascii: "\\") {
                at += 2
            } else if bytes[at] == UInt8(ascii: "\"") {
                defer { at += 1 }
                return String(decoding: bytes[start..<at], as: UTF8.self)
            } else {
                at += 1
            }
        }
        return nil
    }
}
