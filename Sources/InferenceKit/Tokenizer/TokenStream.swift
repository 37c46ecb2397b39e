/// Ids to text as they come, never half a character. All it gives, joined, equals the whole decoded at once.
public struct TokenStream {
    private let tokenizer: Tokenizer
    private let skipsSpecialTokens: Bool
    private var run: DecodingRun

    init(_ tokenizer: Tokenizer, skipSpecialTokens: Bool) {
        self.tokenizer = tokenizer
        skipsSpecialTokens = skipSpecialTokens
        run = DecodingRun(tokenizer.decoder)
    }

    /// The text that is complete now.
    public mutating func add(_ id: Int) -> String {
        tokenizer.push(id, to: &run, skipSpecialTokens: skipsSpecialTokens)
        return run.take()
    }

    /// What is left when no more comes.
    public mutating func finish() -> String {
        run.finish()
        defer { run = DecodingRun(tokenizer.decoder) }
        return run.take()
    }
}
