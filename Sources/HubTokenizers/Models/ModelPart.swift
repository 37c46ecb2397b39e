import HubCore
import ModelFormats

/// The part `model` of a tokenizer.json: its settings, and its long lists as cursors into the document.
///
/// Reading a vocabulary of a hundred thousand tokens into strings would cost more than everything else together.
struct ModelPart {
    /// The large lists of a file.
    static let lists: [StaticString] = ["merges", "vocab"]

    let settings: TokenizerComponent
    /// Lists come in parts, to be read in order.
    private let vocab: [JSONCursor]?
    let merges: [JSONCursor]?

    /// - Parameter rest: The rest of the part if the document was split inside one of its lists.
    /// - Throws: ``ErrorCode/malformedModel`` if the part is not an object.
    init(_ cursor: JSONCursor, _ rest: JSONCursor.Rest?, path: String) throws(AIError) {
        var members: [(key: String, value: JSON)] = []
        var vocab: [JSONCursor]?
        var merges: [JSONCursor]?
        func take(_ key: JSONCursor.Text, _ value: JSONCursor) -> Bool {
            if key.equals("vocab") {
                vocab = [value]
            } else if key.equals("merges") {
                merges = [value]
            } else {
                members.append((String(decoding: key, as: UTF8.self), value.json))
            }
            return true
        }
        guard cursor.members(take) else { throw .malformed(path, "model is not an object") }
        if let rest {
            if rest.list.equals("merges") { merges? += rest.elements } else { vocab? += rest.elements }
            for (key, value) in rest.members { _ = take(key, value) }
        }
        settings = try TokenizerComponent(.object(JSONObject(members)), place: "model", path: path)
        self.vocab = vocab
        self.merges = merges
    }

    var path: String { settings.path }

    /// The kind of model. For older files without `type` it is inferred from the members.
    var kind: String {
        if let type = settings.type { return type }
        if merges != nil { return "BPE" }
        if let first = vocab?.first, first.count > 0, !first.members({ _, _ in true }) { return "Unigram" }
        return settings["continuing_subword_prefix"] != nil ? "WordPiece" : "WordLevel"
    }

    /// Reads `{"token": id}`.
    func vocabulary() throws(AIError) -> Vocabulary {
        guard let vocab = vocab?.first else { throw settings.malformed("has no vocab") }
        return try Self.vocabulary(vocab, path: path)
    }

    /// Reads `{"token": id}`.
    static func vocabulary(_ vocab: JSONCursor, path: String) throws(AIError) -> Vocabulary {
        var vocabulary = Vocabulary(count: vocab.count)
        var fault: String?
        var some: [(spelling: JSONCursor.Text, id: Int32)] = []
        func addSome() {
            if let doubled = vocabulary.add(some) { fault = fault ?? "two tokens have the id \(some[doubled].id)" }
            some.removeAll(keepingCapacity: true)
        }
        let isWhole = vocab.members { token, value in
            guard let id = value.int.flatMap({ Int32(exactly: $0) }), id >= 0 else {
                fault = "token \"\(String(decoding: token, as: UTF8.self))\" has no valid id"
                return false
            }
            some.append((token, id))
            if some.count == Vocabulary.ahead { addSome() }
            return fault == nil
        }
        addSome()
        if let fault { throw .malformed(path, fault) }
        guard isWhole else { throw .malformed(path, "the tokenizer's vocabulary is not an object") }
        return vocabulary
    }

    /// Reads `[["token", score]]`, where the index is the id.
    func scoredVocabulary() throws(AIError) -> (Vocabulary, [Double]) {
        guard let vocab else { throw settings.malformed("has no vocab") }
        let count = vocab.reduce(0) { $0 + $1.count }
        var vocabulary = Vocabulary(count: count)
        var scores: [Double] = []
        scores.reserveCapacity(count)
        func add(_ pair: JSONCursor) -> Bool {
            var token: JSONCursor.Text?
            var score: Double?
            guard pair.count == 2,
                pair.elements({ value in
                    if token == nil { token = value.text } else { score = value.double }
                    return token != nil
                }), let token, let score, vocabulary.add(token, id: Int32(scores.count), keepsAlike: true)
            else { return false }
            scores.append(score)
            return true
        }
        guard vocab.allSatisfy({ $0.elements(add) }) else {
            throw .malformed(path, "token \(scores.count) is not a text and a score")
        }
        return (vocabulary, scores)
    }
}
