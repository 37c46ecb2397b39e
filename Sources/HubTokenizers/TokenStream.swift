/// Decodes ids one by one, never half a character. The joined output equals the whole decoded at once.
public struct TokenStream {
    private let tokenizer: Tokenizer
    private let skipsSpecialTokens: Bool
    private let kept: Set<Int>
    private var run: DecodingRun

    init(_ tokenizer: Tokenizer, skipSpecialTokens: Bool, except kept: Set<Int>) {
        self.tokenizer = tokenizer
        self.kept = kept
        skipsSpecialTokens = skipSpecialTokens
        run = DecodingRun(tokenizer.decoder)
    }

    /// The text that is complete now.
    public mutating func add(_ id: Int) -> String {
        tokenizer.push(id, to: &run, skipSpecialTokens: skipsSpecialTokens && !kept.contains(id))
        return run.take()
    }

    /// The rest at the end of input.
    public mutating func finish() -> String {
        run.finish()
        defer { run = DecodingRun(tokenizer.decoder) }
        return run.take()
    }
}
