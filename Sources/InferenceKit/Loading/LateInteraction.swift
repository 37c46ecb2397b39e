import HubCore
import ModelFormats

/// How a model compares a query with a document by a vector of each token, late interaction: the score is the sum, over
/// the query's vectors, of the largest product with one of the document's (ColBERT, https://arxiv.org/abs/2004.12832).
struct LateInteraction: Sendable, Hashable {
    enum Side: String, Sendable, Hashable, CaseIterable { case query, document }

    /// The tokens with which a short query is filled up. They have vectors too.
    struct Expansion: Sendable, Hashable {
        /// Tokens of a query that is filled up, special ones included.
        var length: Int
        /// Whether a longer query keeps its other tokens; otherwise it is cut.
        var keepsLonger = false
        /// Whether the text's own tokens attend to them, and they to each other.
        var isSeen = false
        /// The spelling; nil for the mask, or where there is none the token that ends texts.
        var token: String?
    }

    /// What says of which side a text is. A token of the tokenizer stands behind the one that begins texts; anything else
    /// is put before the text.
    var marks: [Side: String] = [:]
    /// Tokens of a text that are read, special ones included; nil for as many as the model takes.
    var limits: [Side: Int] = [:]
    var expansion: Expansion?
    /// Tokens whose vectors do not count on these sides.
    var skipped: [String] = []
    var skippedSides: Set<Side> = [.document]
    /// Whether the sum is divided by the number of the query's vectors.
    var isMean = false

    /// The characters of Python's `string.punctuation`, which the first two kinds of files skip.
    static let punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~".map(String.init)

    // MARK: The class of the first models

    /// What artifact.metadata says, where it is. https://github.com/stanford-futuredata/ColBERT
    ///
    /// - Throws: ``ErrorCode/malformedModel``.
    init(stanford folder: String) throws(AIError) {
        let path = Path.join(folder, "artifact.metadata")
        let settings = try FileSettings(try JSONFile.read(path) ?? .object([:]), path: path)
        marks = [
            .query: (settings.text("query_token_id") ?? "[unused0]") + " ",
            .document: (settings.text("doc_token_id") ?? "[unused1]") + " ",
        ]
        limits[.document] = settings.positions("doc_maxlen")
        expansion = Expansion(
            length: settings.positions("query_maxlen") ?? 32,
            isSeen: settings.flag("attend_to_mask_tokens") ?? false)
        skipped = settings.flag("mask_punctuation") ?? true ? Self.punctuation : []
        // Distances are for models that were trained by them; the sum is then another.
        let similarity = settings.text("similarity") ?? "cosine"
        try settings.check()
        guard similarity == "cosine" else {
            throw .unsupported(path, [.setting("similarity", similarity)])
        }
    }

    // MARK: PyLate

    /// The members of config_sentence_transformers.json that PyLate adds.
    private static let pylateKeys = [
        "query_prefix", "document_prefix", "query_length", "document_length", "do_query_expansion",
        "attend_to_expansion_tokens", "skiplist_words",
    ]

    /// What PyLate wrote; nil if it did not write the files. https://lightonai.github.io/pylate
    ///
    /// - Throws: ``ErrorCode/malformedModel``.
    init?(pylate settings: FileSettings, modules: [String]) throws(AIError) {
        guard
            settings.value("model_type")?.string == "ColBERT"
                || modules.contains(where: { $0.hasPrefix("pylate.") })
                || settings.has("query_prefix") || settings.has("do_query_expansion")
        else { return nil }
        // Null counts as absent, but an empty prefix is none.
        marks = [
            .query: settings.text("query_prefix") ?? "[Q] ", .document: settings.text("document_prefix") ?? "[D] ",
        ]
        limits = [
            .query: settings.positions("query_length") ?? 32,
            .document: settings.positions("document_length") ?? 180,
        ]
        if settings.flag("do_query_expansion") ?? true {
            expansion = Expansion(
                length: limits[.query] ?? 32, isSeen: settings.flag("attend_to_expansion_tokens") ?? false)
        }
        skipped = settings.texts("skiplist_words") ?? Self.punctuation
        try settings.check()
    }

    // MARK: sentence-transformers

    /// What sentence-transformers' `MultiVectorEncoder` wrote; nil for another model.
    /// https://sbert.net/docs/package_reference/multi_vector_encoder
    ///
    /// - Parameters:
    ///   - settings: of config_sentence_transformers.json.
    ///   - folder: of the transformer's module, with sentence_bert_config.json.
    /// - Throws: ``ErrorCode/malformedModel``, ``ErrorCode/unsupportedModel`` for a way of filling up that is unknown.
    init?(encoder settings: FileSettings, folder: String) throws(AIError) {
        guard settings.value("model_type")?.string == "MultiVectorEncoder" else { return nil }
        let prompts = settings.object("prompts") ?? [:]
        for side in Side.allCases { marks[side] = prompts[side.rawValue]?.string ?? "" }
        switch settings.text("similarity_fn_name") ?? "maxsim" {
        case "maxsim": break
        case "meanmaxsim": isMean = true
        case let name: throw .unsupported(settings.path, [.setting("similarity_fn_name", name)])
        }
        try settings.check()
        let path = Path.join(folder, "sentence_bert_config.json")
        let transformer = try FileSettings(try JSONFile.read(path) ?? .object([:]), path: path)
        limits[.query] = transformer.positions("query_length")
        limits[.document] = transformer.positions("document_length")
        if let members = transformer.object("query_expansion") {
            expansion = try Self.expansion(try FileSettings(.object(members), path: path))
        }
        try transformer.check()
    }

    private static func expansion(_ settings: FileSettings) throws(AIError) -> Expansion {
        let strategy = settings.text("strategy") ?? ""
        let expansion = Expansion(
            length: settings.positions("length") ?? 0, keepsLonger: strategy == "min",
            isSeen: settings.flag("attend") ?? false, token: settings.text("token"))
        try settings.check()
        guard ["fixed", "min"].contains(strategy) else {
            throw .unsupported(settings.path, [.setting("query_expansion", strategy)])
        }
        guard expansion.length > 0 else { throw .malformed(settings.path, "query_expansion has no length") }
        return expansion
    }

    /// What the module behind the transformer says of the tokens that count.
    ///
    /// - Throws: ``ErrorCode/malformedModel``.
    mutating func readMask(_ settings: FileSettings) throws(AIError) {
        skipped = settings.texts("skiplist_words") ?? []
        let sides = settings.texts("skiplist_tasks") ?? [Side.document.rawValue]
        let kept = settings.places("keep_only_token_ids") ?? []
        try settings.check()
        skippedSides = Set(sides.compactMap(Side.init))
        guard kept.isEmpty else { throw .unsupported(settings.path, [.setting("keep_only_token_ids", "a list")]) }
    }
}
