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
}
