import HubTokenizers

/// The text of generated tokens: whole characters, and no part of a stop sequence.
struct GeneratedText {
    private var stream: TokenStream
    private var stops: StopMatcher
    /// The text so far.
    private(set) var shown = ""

    /// - Parameter markers: special tokens that are a part of the text.
    init(_ tokenizer: Tokenizer, stops: [String], markers: Set<Int> = []) {
        stream = tokenizer.stream(skipSpecialTokens: true, except: markers)
        self.stops = StopMatcher(stops)
    }

    /// The text that is safe to show after a token, and whether a stop sequence was found.
    mutating func add(_ id: Int) -> (text: String, stopped: Bool) {
        let (safe, stopped) = stops.add(stream.add(id))
        shown += safe
        return (safe, stopped)
    }

    /// The held-back text. Even the replacement of half a character can complete a stop sequence.
    mutating func finish() -> (text: String, stopped: Bool) {
        var (rest, stopped) = stops.add(stream.finish())
        if !stopped { rest += stops.finish() }
        shown += rest
        return (rest, stopped)
    }
}
