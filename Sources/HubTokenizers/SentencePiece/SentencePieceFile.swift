import HubCore
import ModelFormats

/// A SentencePiece model, `tokenizer.model`
/// (https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto).
struct SentencePieceFile {
    private enum Kind: Int { case unigram = 1, bytePair, word, character }

    private(set) var pieces: ScoredPieces
    private var kind = Kind.unigram
    private var normalizer = SentencePieceNormalizer()
    private(set) var charsmap: [UInt8] = []
    private var unknownSurface = Array(" \u{2047} ".utf8)
    private var ids = (unknown: 0, begin: 1, end: 2)
    private let path: String

    /// Reads the parts of a tokenizer from a folder without a tokenizer.json; nil if it has no SentencePiece file.
    static func parts(folder: String) throws(AIError) -> TokenizerParts? {
        for name in TokenizerKind.sentencePieceNames {
            let path = Path.join(folder, name)
            guard let bytes = try TokenizerFile.contents(path) else { continue }
            return try SentencePieceFile(bytes, path: path).parts(try SentencePieceSettings(folder: folder))
        }
        return nil
    }

    /// Reads the bytes of a model.
    init(_ bytes: [UInt8], path: String) throws(AIError) {
        self.path = path
        pieces = ScoredPieces(count: bytes.count / 4 + 16)
        // Every model begins with a piece; tiktoken files, which have the same name, begin with Base64.
        guard bytes.first == 0x0A else { throw .unsupported(path, "it is not a SentencePiece model") }
        var fault: AIError?
        var pieces = ScoredPieces(count: Self.pieceCount(bytes))
        let isWhole = bytes.withUnsafeBufferPointer { bytes in
            ProtocolBuffer.forEachField(bytes) { field, value in
                do throws(AIError) {
                    try read(field, value, &pieces)
                    return true
                } catch {
                    fault = error
                    return false
                }
            }
        }
        if let fault { throw fault }
        guard isWhole else { throw .malformed(path, "the SentencePiece model is truncated or damaged") }
        pieces.hasFallback = self.pieces.hasFallback
        self.pieces = pieces
        guard pieces.unknown != nil else { throw .malformed(path, "it has no unknown piece") }
        if !charsmap.isEmpty { normalizer.charsmap = try Charsmap(charsmap, path: path) }
        normalizer.untouched = pieces.userDefined
    }

    /// The text of a piece.
    func text(_ id: Int) -> String { String(decoding: pieces.vocabulary.spelling(of: id) ?? [], as: UTF8.self) }

    /// The id that the model gives unknown text.
    var unknownID: Int { ids.unknown }

    private static func pieceCount(_ bytes: [UInt8]) -> Int {
        var count = 0
        _ = bytes.withUnsafeBufferPointer { bytes in
            ProtocolBuffer.forEachField(bytes) { field, _ in
                if field == 1 { count += 1 }
                return true
            }
        }
        return count
    }

    private mutating func read(_ field: Int, _ value: ProtocolBuffer.Value, _ pieces: inout ScoredPieces)
        throws(AIError)
    {
        guard let message = value.message else { return }
        let isWhole: Bool
        switch field {
        case 1: isWhole = try Self.readPiece(message, &pieces, path)
        case 2: isWhole = readTrainer(message)
        case 3: isWhole = readNormalizer(message)
        case 5:
            var hasRules = false
            isWhole = ProtocolBuffer.forEachField(message) { field, value in
                if field == 2, value.message?.isEmpty == false { hasRules = true }
                return true
            }
            if hasRules { throw .unsupported(path, "the tokenizer's denormalizer_spec cannot be used yet") }
        default: isWhole = true
        }
        guard isWhole else { throw .malformed(path, "field \(field) of the SentencePiece model is damaged") }
    }

    private static func readPiece(
        _ message: UnsafeBufferPointer<UInt8>, _ pieces: inout ScoredPieces, _ path: String
    )
        throws(AIError) -> Bool
    {
        var text: UnsafeBufferPointer<UInt8>?
        var score = 0.0
        var type: ScoredPieces.PieceType? = .normal
        let isWhole = ProtocolBuffer.forEachField(message) { field, value in
            switch field {
            case 1: text = value.message
            case 2: score = value.real ?? 0
            case 3: type = value.int.flatMap(ScoredPieces.PieceType.init)
            default: break
            }
            return true
        }
        guard isWhole else { return false }
        guard let text, !text.isEmpty, let type, !score.isNaN, String(validating: text, as: UTF8.self) != nil else {
            throw .malformed(path, "piece \(pieces.scores.count) has no text, or no valid type or score")
        }
        pieces.append(text, score: score, type: type)
        return true
    }

    private mutating func readTrainer(_ message: UnsafeBufferPointer<UInt8>) -> Bool {
        var kind: Kind? = .unigram
        let isWhole = ProtocolBuffer.forEachField(message) { field, value in
            switch field {
            case 3: kind = value.int.flatMap(Kind.init)
            case 24: normalizer.addsSuffix = value.isTrue ?? false
            case 35: pieces.hasFallback = value.isTrue ?? false
            case 40: ids.unknown = value.int ?? 0
            case 41: ids.begin = value.int ?? 1
            case 42: ids.end = value.int ?? 2
            case 44: if let text = value.message { unknownSurface = Array(text) }
            default: break
            }
            return true
        }
        if let kind { self.kind = kind }
        return isWhole && kind != nil
    }

    private mutating func readNormalizer(_ message: UnsafeBufferPointer<UInt8>) -> Bool {
        ProtocolBuffer.forEachField(message) { field, value in
            switch field {
            case 2: if let blob = value.message { charsmap = Array(blob) }
            case 3: normalizer.addsPrefix = value.isTrue ?? true
            case 4: normalizer.removesExtraSpaces = value.isTrue ?? true
            case 5: normalizer.escapesSpaces = value.isTrue ?? true
            default: break
            }
            return true
        }
    }

    /// The parts of the tokenizer.
    ///
    /// - Parameter settings: The settings from the files beside the model; only they define the special tokens around a
    ///   text.
    func parts(_ settings: SentencePieceSettings = SentencePieceSettings()) throws(AIError) -> TokenizerParts {
        let model: TokenizerModel
        let name: String
        switch kind {
        case .unigram:
            model = .unigram(pieces.unigram())
            name = "SentencePiece unigram"
        case .bytePair:
            model = .scoredPair(ScoredPairModel(pieces))
            name = "SentencePiece BPE"
        case .word, .character:
            model = .wholePiece(WholePieceModel(pieces, areWords: kind == .word))
            name = kind == .word ? "SentencePiece words" : "SentencePiece characters"
        }
        var normalizer = normalizer
        normalizer.addsPrefix = settings.addsPrefix ?? normalizer.addsPrefix
        normalizer.prefixesOnlyTheStart = settings.prefixesOnlyTheStart
        let decoder = SentencePieceDecoder(
            types: pieces.types, unknownSurface: unknownSurface,
            dropsFirstSpace: normalizer.addsPrefix || normalizer.removesExtraSpaces,
            dropsAllFirstSpaces: normalizer.removesExtraSpaces)
        let added = try settings.added(pieces)
        func id(_ key: String, own: Int) throws(AIError) -> Int? {
            let own = pieces.types.indices.contains(own) && pieces.types[own] == .control ? own : nil
            return try settings.id(key, own: own, added, pieces.vocabulary)
        }
        return TokenizerParts(
            kind: name, model: model, added: AddedTokens(added),
            normalizer: Normalizer([.sentencePiece(normalizer)]),
            postProcessor: PostProcessor(
                before: settings.addsBegin ? try id("bos_token", own: ids.begin) : nil,
                after: settings.addsEnd ? try id("eos_token", own: ids.end) : nil),
            decoder: TokenDecoder([.sentencePiece(decoder)]))
    }
}
