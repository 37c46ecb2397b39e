/// The parts of a tokenizer, whatever their source.
struct TokenizerParts {
    var kind: String
    var model: TokenizerModel
    var added = AddedTokens([])
    /// Whether added tokens are plain text even if all others are byte-level.
    var showsAddedAsTheyAre = false
    var normalizer = Normalizer([])
    var preTokenizer = PreTokenizer([])
    var postProcessor = PostProcessor([])
    var decoder: TokenDecoder
    var truncation: Truncation?
    var padding: Padding?
    /// Whether texts that are too long lose their beginning; nil for what `truncation` says.
    var truncatesLeft: Bool?
    /// Whether the model gets the template's types; otherwise they are all 0.
    var givesTypes = true
    /// How many tokens the model takes; nil if the files do not say.
    var maxTokens: Int?
    /// The tokens that end a text, as far as the tokenizer says.
    var ends: Set<Int> = []
    /// The token that fills texts; nil if the files do not say.
    var padID: Int?

    /// Takes the settings of the files beside the vocabulary, and the tokens that they name.
    mutating func take(_ settings: TokenizerSettings) {
        truncatesLeft = settings.truncatesLeft
        givesTypes = settings.givesTypes
        maxTokens = settings.maxTokens
        if let end = id(settings.text(of: "eos_token")) { ends = [end] }
        padID = id(settings.text(of: "pad_token"))
    }

    private func id(_ token: String?) -> Int? {
        guard let content = token.map({ Array($0.utf8) }) else { return nil }
        return added.tokens.first { $0.content == content }?.id ?? model.vocabulary.id(of: content).map(Int.init)
    }
}
