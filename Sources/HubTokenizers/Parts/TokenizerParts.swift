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

    /// Takes the settings of the files beside the vocabulary, and the end token that they name.
    mutating func take(_ settings: TokenizerSettings) {
        truncatesLeft = settings.truncatesLeft
        givesTypes = settings.givesTypes
        maxTokens = settings.maxTokens
        let end = settings.text(of: "eos_token").map { Array($0.utf8) }
        if let end,
            let id = added.tokens.first(where: { $0.content == end })?.id
                ?? model.vocabulary.id(of: end).map(Int.init)
        {
            ends = [id]
        }
    }
}
