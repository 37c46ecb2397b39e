import HubCore
import ModelFormats

/// The special tokens of a GGUF vocabulary, as in llama.cpp
/// (https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp, `llama_vocab::impl::load`).
extension GGUFVocabulary {
    /// The types of tokens that are matched before anything else.
    static let foundFirst: Set<ScoredPieces.PieceType> = [.control, .userDefined, .unknown]

    private struct IDs {
        var begin: Int?
        var end: Int?
        var unknown: Int?
        var separator: Int?
    }

    /// The default ids of the model kind.
    private var usualIDs: IDs {
        switch model {
        case "llama": IDs(begin: 1, end: 2, unknown: 0)
        case "bert": IDs(begin: 101, unknown: 100, separator: 102)
        case "gpt2": IDs(begin: ["glm4", "chatglm-bpe"].contains(preTokenizer) ? nil : 11, end: 11)
        case "t5": IDs(end: 1, unknown: 2)
        default: IDs()
        }
    }

    /// The same with default ids where the file has none or an invalid one.
    var withSpecialIDs: GGUFVocabulary {
        func chosen(_ id: Int?, _ usual: Int?) -> Int? {
            [id, usual].lazy.compactMap(\.self).first(where: tokens.indices.contains)
        }
        let usual = usualIDs
        var result = self
        result.classID = chosen(classID, nil)
        result.beginID = chosen(beginID, usual.begin)
        result.endID = chosen(endID, usual.end)
        result.unknownID = chosen(unknownID, usual.unknown)
        result.separatorID = chosen(separatorID, usual.separator)
        return result
    }

    /// The tokens added around a text.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` if there is no token for it.
    func around(begin: Bool, end: Bool, _ path: String) throws(AIError) -> PostProcessor {
        let isBert = model == "bert"
        let beginID = isBert ? classID ?? beginID : beginID
        let endID = isBert ? separatorID ?? endID : endID
        guard !begin || beginID != nil, !end || endID != nil else {
            throw .malformed(
                path, "its texts \(begin && beginID == nil ? "begin" : "end") with a token it does not name")
        }
        return PostProcessor(before: begin ? beginID : nil, after: end ? endID : nil)
    }

    /// The tokens that are matched before anything else. Files do not say which of them strip white space; that is
    /// known for a few models by name.
    func added(_ pieces: ScoredPieces) -> AddedTokens {
        func isAny(_ names: [String], in text: String?) -> Bool { names.contains { text?.contains($0) == true } }
        let name = name.lowercased()
        let takesBeforeMask =
            isAny(["jina-v2-de", "jina-v2-es", "jina-v2-code"], in: preTokenizer)
            || isAny(["nomic-bert-moe", "jina-bert-v3"], in: architecture)
        var tokens = pieces.addedTokens(Self.foundFirst)
        for index in tokens.indices {
            let text = String(decoding: tokens[index].content, as: UTF8.self)
            if takesBeforeMask {
                tokens[index].stripsLeft = text == "<mask>"
            } else if isAny(["phi-3", "phi3"], in: name) {
                tokens[index].stripsRight = !["<unk>", "<s>", "<|endoftext|>"].contains(text)
            } else if isAny(["modern-bert"], in: name) {
                tokens[index].stripsLeft = text == "[MASK]"
            }
        }
        return AddedTokens(tokens)
    }
}
