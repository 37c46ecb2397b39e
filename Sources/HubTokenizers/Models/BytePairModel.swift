import HubCore
import ModelFormats

/// Byte-pair encoding (https://arxiv.org/abs/1508.07909), over characters or over bytes.
final class BytePairModel: Sendable {
    /// The settings besides tokens and merges.
    struct Settings: Sendable {
        /// The unknown token.
        var unknown: Int32?
        /// Whether the unknown token is named but missing from the vocabulary: then unknown text is an error.
        var refusesUnknown = false
        var fusesUnknown = false
        var ignoresMerges = false
        /// Whether a piece that is only line feeds and is a token is taken whole.
        var takesLinesWhole = false
        /// Whether `<0x00>` to `<0xFF>` stand for characters that have no token.
        var hasFallback = false
        /// Prefix of every character but the first, and suffix of the last.
        var prefix: [UInt8] = []
        var suffix: [UInt8] = []
    }

    let vocabulary: Vocabulary
    private let merges: MergeTable
    private let settings: Settings
    private let fallback: [Int32?]?
    /// The token of the character that stands for each byte.
    private let idOfByte: [Int32?]
    /// Whether pieces are raw bytes, to be looked up in a byte-level vocabulary.
    let takesBytes: Bool
    /// Whether no merge crosses the start of a word (`▁`): then words can be encoded separately.
    let keepsWordsApart: Bool

    /// Reads `model` of a tokenizer.json.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` naming the setting that is not implemented,
    ///   ``ErrorCode/malformedModel`` for a merge of unknown tokens and similar faults.
    ///
    /// - Parameter wantsBytes: Whether pieces may come as bytes.
    convenience init(_ model: ModelPart, wantsBytes: Bool) throws(AIError) {
        let settings = model.settings
        if settings["dropout"]?.double ?? 0 != 0 { throw settings.refuse("dropout") }
        var read = Settings()
        if settings["continuing_subword_prefix"] != nil {
            read.prefix = try settings.bytes("continuing_subword_prefix")
        }
        if settings["end_of_word_suffix"] != nil { read.suffix = try settings.bytes("end_of_word_suffix") }
        read.ignoresMerges = try settings.bool("ignore_merges", default: false)
        read.fusesUnknown = try settings.bool("fuse_unk", default: false)
        read.hasFallback = try settings.bool("byte_fallback", default: false)
        var (vocabulary, pairs) = try Self.lists(model)
        if settings["unk_token"] != nil {
            let token = try settings.string("unk_token")
            read.unknown = vocabulary.id(of: token)
            read.refusesUnknown = read.unknown == nil
        }
        let merges = try pairs?.table(vocabulary, prefixCount: read.prefix.count, path: model.path)
        guard let merges else { throw settings.malformed("has no merges") }
        self.init(vocabulary, merges, read, wantsBytes: wantsBytes)
    }

    /// A model of known parts.
    init(_ vocabulary: Vocabulary, _ merges: MergeTable, _ settings: Settings, wantsBytes: Bool) {
        self.vocabulary = vocabulary
        self.merges = merges
        self.settings = settings
        fallback = settings.hasFallback ? Self.byteTokens(vocabulary) : nil
        let idOfByte = (UInt8.min...UInt8.max).map { vocabulary.id(of: ByteLevelAlphabet.spelling(of: [$0])) }
        self.idOfByte = idOfByte
        let isPlain = settings.prefix.isEmpty && settings.suffix.isEmpty
        // Bytes can be looked up directly if every byte of UTF-8 has a token, or if there is no unknown token.
        let isWhole =
            (settings.unknown == nil && !settings.refusesUnknown && fallback == nil)
            || idOfByte.indices.allSatisfy { idOfByte[$0] != nil || !Self.occursInUTF8($0) }
        takesBytes = wantsBytes && isPlain && isWhole
        keepsWordsApart = !wantsBytes && isPlain && !settings.ignoresMerges && vocabulary.keepsWordsApart()
    }

    /// The tokens `<0x00>` to `<0xFF>`.
    static func byteTokens(_ vocabulary: Vocabulary) -> [Int32?] {
        let digits = Array("0123456789ABCDEF".utf8)
        return (0..<256).map { byte in
            vocabulary.id(of: Array("<0x".utf8) + [digits[byte >> 4], digits[byte & 15]] + Array(">".utf8))
        }
    }

    private static func occursInUTF8(_ byte: Int) -> Bool { byte < 0xC0 || (0xC2...0xF4).contains(byte) }

    /// Whether there are tokens of several characters, and nothing that makes them of characters.
    ///
    /// - Parameter added: whether a token is matched before the model is asked.
    func lacksMerges(besides added: (Int) -> Bool) -> Bool {
        guard merges.isEmpty, !settings.ignoresMerges, settings.prefix.isEmpty, settings.suffix.isEmpty else {
            return false
        }
        let others = Set((fallback ?? []).compactMap(\.self))
        var found = false
        vocabulary.forEach { id, spelling in
            guard !found, !others.contains(id), !added(Int(id)) else { return }
            found = spelling.lazy.filter { $0 & 0xC0 != 0x80 }.prefix(2).count > 1
        }
        return found
    }

    /// Vocabulary and merges, each read on its own thread; nil if there is no list of merges.
    private static func lists(_ model: ModelPart) throws(AIError) -> (Vocabulary, MergePairs?) {
        // Each is written by one thread and read when both have ended; the document is only read.
        nonisolated(unsafe) var vocabulary: Result<Vocabulary, AIError>?
        nonisolated(unsafe) var pairs: MergePairs?
        nonisolated(unsafe) let model = model
        Parallel.perform(2) { part in
            if part == 0 {
                vocabulary = Result { () throws(AIError) in try model.vocabulary() }
            } else {
                pairs = model.merges.map { MergePairs($0) }
            }
        }
        guard let vocabulary else { preconditionFailure("the vocabulary was not read") }
        return (try vocabulary.get(), pairs)
    }

    /// Appends the tokens of one piece.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` for unknown text if there is no unknown token.
    func encode(_ piece: UnsafeBufferPointer<UInt8>, _ scratch: EncodingScratch, into out: inout ModelOutput)
        throws(AIError)
    {
        try scratch.append(piece, to: &out) { (out: inout ModelOutput) throws(AIError) in
            try encodeAnew(piece, scratch, into: &out)
        }
    }

    private func encodeAnew(
        _ piece: UnsafeBufferPointer<UInt8>, _ scratch: EncodingScratch, into out: inout ModelOutput
    ) throws(AIError) {
        if settings.ignoresMerges || settings.takesLinesWhole && piece.allSatisfy({ $0 == UInt8(ascii: "\n") }) {
            let whole =
                takesBytes ? vocabulary.id(of: ByteLevelAlphabet.spelling(of: piece)) : vocabulary.id(of: piece)
            if let whole { return out.append(whole, 0..<piece.count) }
        }
        scratch.word.removeAll()
        if takesBytes {
            for byte in piece { if let id = idOfByte[Int(byte)] { scratch.word.append(id, length: 1) } }
        } else {
            try split(piece, into: &scratch.word)
        }
        scratch.word.merge(merges)
        var at = 0
        for (id, length) in zip(scratch.word.ids, scratch.word.lengths) {
            out.append(id, at..<at + Int(length))
            at += Int(length)
        }
    }

    /// Splits a piece into its initial symbols.
    private func split(_ piece: UnsafeBufferPointer<UInt8>, into word: inout MergingWord) throws(AIError) {
        var pending: (id: Int32, length: Int)?
        func flush() {
            if let unknown = pending { word.append(unknown.id, length: unknown.length) }
            pending = nil
        }
        var at = 0
        while at < piece.count {
            let width = piece.scalar(at: at).width
            let end = at + width
            let id: Int32?
            var spelled: [UInt8] = []
            if settings.prefix.isEmpty && settings.suffix.isEmpty {
                id = vocabulary.id(of: UnsafeBufferPointer(rebasing: piece[at..<end]))
            } else {
                spelled =
                    (at > 0 ? settings.prefix : []) + piece[at..<end] + (end == piece.count ? settings.suffix : [])
                id = vocabulary.id(of: spelled)
            }
            if let id {
                flush()
                word.append(id, length: width)
            } else if !appendBytes(
                spelled.isEmpty ? Array(piece[at..<end]) : spelled, before: at > 0 ? settings.prefix.count : 0,
                width, &word)
            {
                guard let unknown = settings.unknown else {
                    guard settings.refusesUnknown else {
                        at = end
                        continue
                    }
                    throw .noUnknown(UnsafeBufferPointer(rebasing: piece[at..<end]))
                }
                if settings.fusesUnknown, let before = pending {
                    pending = (before.id, before.length + width)
                } else {
                    flush()
                    pending = (unknown, width)
                }
            }
            at = end
        }
        flush()
    }

    /// A pending unknown token stays pending: the reference puts the bytes before it. The prefix and suffix around a
    /// character of `width` bytes, `before` of them before it, have no range in the text.
    private func appendBytes(_ bytes: [UInt8], before: Int, _ width: Int, _ word: inout MergingWord) -> Bool {
        guard let fallback else { return false }
        var ids: [Int32] = []
        for byte in bytes {
            guard let id = fallback[Int(byte)] else { return false }
            ids.append(id)
        }
        for (index, id) in ids.enumerated() {
            word.append(id, length: (before..<before + width).contains(index) ? 1 : 0)
        }
        return true
    }
}
