public import HubCore
import ModelFormats

/// Text to token ids and back, as a model's `tokenizer.json` says
/// (https://huggingface.co/docs/tokenizers/components).
///
/// Byte-level byte-pair encoding, the kind of GPT-2 and its descendants, Llama 3 and Qwen among them. Anything the file asks for that is not
/// implemented is refused by name when it is read.
public final class Tokenizer: Sendable {
    /// What this is, for a report.
    public let kind = "byte-level BPE"
    /// The number of ids: the largest one plus 1.
    public let idCount: Int

    private let model: BytePairModel
    private let added: AddedTokens
    private let normalizer: Normalizer
    private let preTokenizer: PreTokenizer
    private let postProcessor: PostProcessor
    /// The bytes of the added tokens.
    private let addedBytes: [Int: [UInt8]]
    private let specialIDs: Set<Int>

    /// Reads `tokenizer.json` of a folder.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for another kind of tokenizer or a part that is not implemented,
    ///   ``ErrorCode/malformedModel`` for a broken file.
    public convenience init(folder: String) throws(AIError) {
        let path = Path.join(folder, "tokenizer.json")
        guard let json = try JSONFile.read(path) else { throw Self.missing(path, folder) }
        try self.init(json, path: path)
    }

    private static func missing(_ path: String, _ folder: String) -> AIError {
        let others = ["tokenizer.model", "spiece.model", "vocab.txt", "vocab.json", "tekken.json"]
        for name in others where FileSystem.exists(Path.join(folder, name)) {
            return .unsupported(Path.join(folder, name), "a tokenizer without a tokenizer.json cannot be used yet")
        }
        return .malformed(path, "the tokenizer is missing")
    }

    /// Reads a tokenizer.json.
    package init(_ json: JSON, path: String) throws(AIError) {
        let root = try TokenizerComponent(json, place: "tokenizer.json", path: path)
        // Truncation and padding are settings of the call that saved the file; transformers replaces both at each
        // call, and a prompt is never to be cut or padded.
        try root.allowOnly([
            "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
            "decoder", "model",
        ])
        func part(_ key: String) throws(AIError) -> TokenizerComponent? {
            guard let json = root[key] else { return nil }
            return try TokenizerComponent(json, place: key, path: path)
        }
        guard let modelPart = try part("model") else { throw .malformed(path, "it has no model") }
        if let type = modelPart.type, type != "BPE" { throw modelPart.refuse("") }
        guard let preTokenizer = try part("pre_tokenizer") else {
            throw .unsupported(path, "a tokenizer without a pre_tokenizer cannot be used yet")
        }
        guard let decoder = try part("decoder") else {
            throw .unsupported(path, "a tokenizer without a decoder cannot be used yet")
        }
        try Self.checkIsByteLevel(decoder)

        normalizer = try Normalizer(part("normalizer"))
        self.preTokenizer = try PreTokenizer(preTokenizer)
        model = try BytePairModel(modelPart)
        added = try AddedTokens(root["added_tokens"]?.array ?? [], normalizer, path: path)
        postProcessor = try PostProcessor(part("post_processor"))

        var bytes: [Int: [UInt8]] = [:]
        for token in added.tokens {
            let content = ByteLevelAlphabet.bytes(of: token.content) ?? token.content
            let other = bytes.updateValue(content, forKey: token.id) ?? model.bytes(of: token.id)
            if let other, other != content {
                throw .malformed(path, "added token \(token.id) is another token in the vocabulary")
            }
        }
        for id in postProcessor.addedIDs where bytes[id] == nil && model.bytes(of: id) == nil {
            throw .malformed(path, "the post_processor adds the id \(id), which is no token")
        }
        addedBytes = bytes
        specialIDs = Set(added.tokens.filter(\.isSpecial).map(\.id))
        idCount = max(bytes.keys.max() ?? -1, model.largestID ?? -1) + 1
    }

    /// A sequence may hold what changes nothing after it.
    private static func checkIsByteLevel(_ decoder: TokenizerComponent) throws(AIError) {
        var parts = [decoder]
        if decoder.type == "Sequence" {
            try decoder.allowOnly(["decoders"])
            parts = try decoder.parts("decoders")
        }
        guard let first = parts.first else { throw decoder.refuse("nothing in it") }
        guard first.type == "ByteLevel" else { throw first.refuse("") }
        try first.allowOnly(["add_prefix_space", "trim_offsets", "use_regex"])
        for part in parts.dropFirst() {
            // ByteLevel leaves one text; Fuse makes one of several.
            guard part.type == "Fuse" else { throw part.refuse("a place after ByteLevel") }
            try part.allowOnly([])
        }
    }

    /// The ids of a text.
    ///
    /// - Parameter addSpecialTokens: Whether the tokenizer's own post-processor adds its tokens, such as `<|bos|>`.
    /// - Throws: ``ErrorCode/generationFailed`` where the pattern reaches its match limit.
    public func encode(_ text: String, addSpecialTokens: Bool = true) throws(AIError) -> [Int] {
        var text = text
        let result = text.withUTF8 { bytes in
            Result { () throws(AIError) in try self.encode(bytes) }
        }
        let ids = try result.get()
        return addSpecialTokens ? postProcessor.process(ids) : ids
    }

    private func encode(_ text: UnsafeBufferPointer<UInt8>) throws(AIError) -> [Int] {
        var ids: [Int] = []
        let run = try preTokenizer.start()
        for segment in added.split(text, isNormalized: false) {
            if let id = segment.id {
                ids.append(id)
                continue
            }
            let part = UnsafeBufferPointer(rebasing: text[segment.range])
            if let normalized = try normalizer.normalize(part) {
                let result = normalized.withUnsafeBufferPointer { normalized in
                    Result { () throws(AIError) in try self.encode(normalized: normalized, run, into: &ids) }
                }
                try result.get()
            } else {
                try encode(normalized: part, run, into: &ids)
            }
        }
        return ids
    }

    private func encode(normalized text: UnsafeBufferPointer<UInt8>, _ run: PreTokenizer.Run, into ids: inout [Int])
        throws(AIError)
    {
        for segment in added.split(text, isNormalized: true) {
            if let id = segment.id {
                ids.append(id)
            } else {
                let part = UnsafeBufferPointer(rebasing: text[segment.range])
                try run.forEachPiece(of: part) { model.encode($0, into: &ids) }
            }
        }
    }

    /// The text of ids. What is not UTF-8 becomes U+FFFD; ids that are no token are left out, as the reference does.
    public func decode(_ ids: [Int], skipSpecialTokens: Bool = false) -> String {
        var bytes: [UInt8] = []
        for id in ids { bytes += self.bytes(of: id, skipSpecialTokens: skipSpecialTokens) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes that one id adds to a text; they may be part of a character only.
    func bytes(of id: Int, skipSpecialTokens: Bool) -> [UInt8] {
        if skipSpecialTokens && specialIDs.contains(id) { return [] }
        return addedBytes[id] ?? model.bytes(of: id) ?? []
    }
}
