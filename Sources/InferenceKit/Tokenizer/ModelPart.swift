import HubCore
import ModelFormats

/// The part `model` of a tokenizer.json: its settings, and its long lists where they lie in the document.
///
/// A vocabulary of a hundred thousand tokens read into strings would cost more than all else together.
struct ModelPart {
    let settings: TokenizerComponent
    private let vocab: JSONCursor?
    let merges: JSONCursor?

    /// - Throws: ``ErrorCode/malformedModel`` where the part is no object.
    init(_ cursor: JSONCursor, path: String) throws(AIError) {
        var members: [(key: String, value: JSON)] = []
        var vocab: JSONCursor?
        var merges: JSONCursor?
        let isObject = cursor.members { key, value in
            if key.equals("vocab") {
                vocab = value
            } else if key.equals("merges") {
                merges = value
            } else {
                members.append((String(decoding: key, as: UTF8.self), value.json))
            }
            return true
        }
        guard isObject else { throw .malformed(path, "model is not an object") }
        settings = try TokenizerComponent(.object(JSONObject(members)), place: "model", path: path)
        self.vocab = vocab
        self.merges = merges
    }

    var path: String { settings.path }

    /// What kind of model it is. Older files do not say; what they have does.
    var kind: String {
        if let type = settings.type { return type }
        if merges != nil { return "BPE" }
        if vocab?.count ?? 0 > 0, vocab?.members({ _, _ in true }) == false { return "Unigram" }
        return settings["continuing_subword_prefix"] != nil ? "WordPiece" : "WordLevel"
    }

    /// Reads `{"token": id}`.
    func vocabulary() throws(AIError) -> Vocabulary {
        guard let vocab else { throw settings.malformed("has no vocab") }
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
        guard isWhole else { throw settings.malformed("has a vocab that is no object") }
        return vocabulary
    }

    /// Reads `[["token", score]]`, where the place in the list is the id.
    func scoredVocabulary() throws(AIError) -> (Vocabulary, [Double]) {
        guard let vocab else { throw settings.malformed("has no vocab") }
        var vocabulary = Vocabulary(count: vocab.count)
        var scores: [Double] = []
        scores.reserveCapacity(vocab.count)
        let isWhole = vocab.elements { pair in
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
        guard isWhole else { throw .malformed(path, "token \(scores.count) is not a text and a score") }
        return (vocabulary, scores)
    }
}
