public import HubCore
import ModelFormats

/// Converts text to token ids and back, from a `tokenizer.json` (https://huggingface.co/docs/tokenizers/components), a
/// SentencePiece model or the vocabulary of a GGUF file.
///
/// Features that are not implemented are rejected by name when the file is read.
public final class Tokenizer: Sendable {
    /// The kind, for a report: `byte-level BPE`, `WordPiece`.
    public let kind: String
    /// The number of ids: the largest one plus 1.
    public let idCount: Int

    let model: TokenizerModel
    let added: AddedTokens
    let normalizer: Normalizer
    let preTokenizer: PreTokenizer
    let postProcessor: PostProcessor
    let decoder: TokenDecoder
    let truncation: Truncation?
    let padding: Padding?
    /// How many tokens of a text the model takes, by the settings beside the vocabulary; nil if they do not say.
    public let maxTokens: Int?
    /// The tokens that end a text, as far as the tokenizer says; the model's settings may name others.
    package let ends: Set<Int>
    /// The token that fills texts; nil if the files do not say.
    package let padID: Int?
    let truncatesLeft: Bool
    let givesTypes: Bool
    /// The decoded text of each added token.
    let addedSpellings: [Int: [UInt8]]
    let showsAddedAsTheyAre: Bool
    let specialIDs: Set<Int>
    let scratches = Pool<EncodingScratch>()
    let byteSpellings = ByteSpellings()

    /// Reads the tokenizer of a folder: `tokenizer.json`, else a vocabulary with its settings (`vocab.txt`, `vocab.json` and
    /// `merges.txt`, a SentencePiece model), else the vocabulary of the GGUF model in it. The path may also be a GGUF file.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for an unknown kind of tokenizer or a part that is not implemented,
    ///   ``ErrorCode/malformedModel`` for a broken file.
    public convenience init(folder: String) throws(AIError) {
        guard let (parts, path) = try TokenizerSource.find(folder)?.parts() else { throw try Self.missing(folder) }
        try self.init(parts, path: path)
    }

    /// Reads the bytes of a tokenizer.json.
    package convenience init(json bytes: [UInt8], path: String) throws(AIError) {
        var bytes = bytes
        try self.init(TokenizerFile(&bytes, path: path).parts, path: path)
    }

    /// The error for a folder without a tokenizer that can be used.
    package static func missing(_ folder: String) throws(AIError) -> AIError {
        for name in ["vocab.txt", "vocab.json", "tekken.json"] where FileSystem.exists(Path.join(folder, name)) {
            let named = try TokenizerSettings(folder: folder).className.excerpt
            return .unsupported(
                Path.join(folder, name),
                "\(named.isEmpty ? "a tokenizer" : "the tokenizer class \(named)") cannot be used without a tokenizer.json yet"
            )
        }
        guard WeightFormat(fileName: Path.name(folder)) == nil else {
            return .malformed(folder, "the tokenizer is missing")
        }
        return .malformed(folder, "there is \(RunObstacle.noTokenizer.text); hub needs one of them")
    }

    /// Combines the parts and checks their consistency.
    init(_ parts: TokenizerParts, path: String) throws(AIError) {
        let vocabulary = parts.model.vocabulary
        var spellings: [Int: [UInt8]] = [:]
        for token in parts.added.tokens {
            if let other = vocabulary.spelling(of: token.id), !other.elementsEqual(token.content),
                ByteLevelAlphabet.bytes(of: other) != ByteLevelAlphabet.bytes(of: token.content) ?? token.content
            {
                throw .malformed(path, "added token \(token.id) is another token in the vocabulary")
            }
            if let other = spellings.updateValue(token.sought, forKey: token.id), other != token.sought {
                throw .malformed(path, "two added tokens have the id \(token.id)")
            }
        }
        for id in parts.postProcessor.addedIDs where spellings[id] == nil && vocabulary.spelling(of: id) == nil {
            throw .malformed(path, "the post_processor adds the id \(id), which is not a token")
        }
        // Some converters left them out when tokenizer.json began to write them as lists. Every text would be encoded as
        // single characters, which the reference does without a word.
        if case .bytePair(let model) = parts.model, model.lacksMerges(besides: { spellings[$0] != nil }) {
            throw .malformed(path, "the vocabulary has no merges")
        }
        // A token spelled like a special one is special too.
        let special = Set(parts.added.tokens.filter(\.isSpecial).map(\.content))
        var specialIDs = Set(spellings.filter { special.contains($0.value) }.keys)
        for content in special {
            if let id = vocabulary.id(of: content), spellings[Int(id)] == nil { specialIDs.insert(Int(id)) }
        }
        self.specialIDs = specialIDs
        idCount = max(spellings.keys.max() ?? -1, vocabulary.largestID ?? -1) + 1
        addedSpellings = spellings
        showsAddedAsTheyAre = parts.showsAddedAsTheyAre
        kind = parts.kind
        model = parts.model
        added = parts.added
        normalizer = parts.normalizer
        preTokenizer = parts.preTokenizer
        postProcessor = parts.postProcessor
        decoder = parts.decoder
        truncation = parts.truncation
        padding = parts.padding
        truncatesLeft = parts.truncatesLeft ?? parts.truncation?.isFromLeft ?? false
        givesTypes = parts.givesTypes
        maxTokens = parts.maxTokens
        ends = parts.ends
        padID = parts.padID
    }

    /// The number of ids without added tokens: the largest one plus 1.
    package var ownIDCount: Int {
        var largest: Int32 = -1
        model.vocabulary.forEach { id, _ in if addedSpellings[Int(id)] == nil { largest = max(largest, id) } }
        return Int(largest) + 1
    }

    /// The spelling of an id; nil if unknown.
    func spelling(of id: Int) -> [UInt8]? {
        addedSpellings[id] ?? model.vocabulary.spelling(of: id).map { Array($0) }
    }

    /// The spelling of a token in the vocabulary; nil if the id is unknown.
    public func token(_ id: Int) -> String? { spelling(of: id).map { String(decoding: $0, as: UTF8.self) } }

    /// Whether an id is that of a special token.
    public func isSpecial(_ id: Int) -> Bool { specialIDs.contains(id) }

    /// The spellings of all special tokens, by id.
    package var specialTokens: [String] { specialIDs.sorted().compactMap(token) }

    /// The id of a token by its spelling; nil if unknown.
    public func id(of token: String) -> Int? {
        let content = Array(token.utf8)
        return added.tokens.first { $0.content == content }?.id ?? model.vocabulary.id(of: content).map(Int.init)
    }
}
