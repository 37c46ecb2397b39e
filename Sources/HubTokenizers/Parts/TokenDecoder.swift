import HubCore
import ModelFormats

/// Converts the spellings of tokens to text, in any number of stages.
struct TokenDecoder: Sendable {
    enum Stage: Sendable {
        case byteLevel
        case wordPiece(prefix: [UInt8], cleansUp: Bool)
        case metaspace([UInt8], dropsFirst: Bool)
        case bytePair(suffix: [UInt8])
        case byteFallback
        case fuse
        case strip(UInt32, start: Int, stop: Int)
        case replace([UInt8], with: [UInt8])
        case ctc(pad: [UInt8], delimiter: [UInt8], cleansUp: Bool)
        /// The default without a decoder.
        case spaced
        case sentencePiece(SentencePieceDecoder)

        /// The maximum growth factor for long texts.
        fileprivate var growth: Double {
            switch self {
            case .replace(let text, let content): max(1, Double(content.count) / Double(text.count))
            // A space between all characters.
            case .bytePair(suffix: []), .ctc(_, delimiter: [], cleansUp: true): 2
            default: 1
            }
        }

        /// The text of a token, for a stage that depends only on whether it is the first.
        func text(of token: [UInt8], isFirst: Bool) -> [UInt8]? {
            let space = [UInt8(ascii: " ")]
            switch self {
            case .spaced: return isFirst ? token : space + token
            case .wordPiece(let prefix, let cleansUp):
                var text = token
                if !isFirst { text = token.starts(with: prefix) ? Array(token[prefix.count...]) : space + token }
                return cleansUp ? DecodingRun.cleanedUp(text) : text
            case .metaspace(let replacement, let dropsFirst):
                return token.replacing(replacement, with: isFirst && dropsFirst ? [] : space)
            case .replace(let text, let content): return token.replacing(text, with: content)
            case .strip(let content, let start, let stop):
                return DecodingRun.stripped(token, content, start: start, stop: stop)
            default: return nil
            }
        }
    }

    private(set) var stages: [Stage] = []

    /// A decoder of known stages.
    init(_ stages: [Stage]) { self.stages = stages }

    /// Reads `decoder`.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for an unknown kind.
    init(_ part: TokenizerComponent?) throws(AIError) {
        guard let part else {
            stages = [.spaced]
            return
        }
        try add(part)
        // Decoding cannot fail, so a file whose output could grow too much is rejected here.
        guard stages.reduce(1.0, { $0 * $1.growth }) <= 64 else {
            throw part.refuse("steps that make more than 64 times as much of a text")
        }
    }

    private mutating func add(_ part: TokenizerComponent) throws(AIError) {
        try part.allowStep(after: stages.count)
        switch part.type {
        case "Sequence":
            for member in try part.parts("decoders") { try add(member) }
        case "ByteLevel":
            stages.append(.byteLevel)
        case "ByteFallback", "Fuse":
            stages.append(part.type == "Fuse" ? .fuse : .byteFallback)
        case "WordPiece":
            stages.append(.wordPiece(prefix: try part.bytes("prefix"), cleansUp: try part.bool("cleanup")))
        case "Metaspace":
            let replacement = Array(String(try part.character("replacement")).utf8)
            stages.append(.metaspace(replacement, dropsFirst: try PreTokenizer.PrependScheme(part) != .never))
        case "BPEDecoder":
            stages.append(.bytePair(suffix: try part.bytes("suffix")))
        case "Strip":
            let content = try part.character("content").value
            stages.append(.strip(content, start: try part.count("start"), stop: try part.count("stop")))
        case "Replace":
            guard case .literal(let literal) = try TextPattern(part) else { throw part.refuse("a Regex") }
            stages.append(.replace(literal, with: try part.bytes("content")))
        case "CTC":
            stages.append(
                .ctc(
                    pad: try part.bytes("pad_token"), delimiter: try part.bytes("word_delimiter_token"),
                    cleansUp: try part.bool("cleanup")))
        default:
            throw part.refuse("")
        }
    }

    /// Whether the text is just the bytes of all tokens.
    var isByteLevel: Bool {
        guard case .byteLevel = stages.first else { return false }
        // ByteLevel leaves one text; Fuse makes one of several.
        return stages.dropFirst().allSatisfy { if case .fuse = $0 { true } else { false } }
    }

    /// The first stage that needs the whole text; all later ones do too.
    var firstWhole: Int {
        stages.indices.dropFirst(firstFused).first { index in
            switch stages[index] {
            case .fuse, .strip: false
            default: true
            }
        } ?? stages.count
    }

    /// The first stage after which all tokens are one text.
    var firstFused: Int {
        let index = stages.firstIndex { stage in
            switch stage {
            case .fuse, .byteLevel: true
            default: false
            }
        }
        return index.map { $0 + 1 } ?? stages.count
    }
}
