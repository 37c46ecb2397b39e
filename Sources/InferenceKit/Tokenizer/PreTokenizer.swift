import HubCore
import ModelFormats

/// What cuts a text into the pieces that are encoded each for itself: any number of cuts, and byte level at the end.
struct PreTokenizer: Sendable {
    private struct Cut: Sendable {
        var pattern: Pattern
        var behavior: SplitBehavior
        var inverted = false
    }

    private var cuts: [Cut] = []
    private var addsPrefixSpace = false
    private var bytePattern: Pattern?
    private var isByteLevel = false

    /// Reads `pre_tokenizer`.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` naming a part that is not implemented or that comes after byte level,
    ///   ``ErrorCode/malformedModel``.
    init(_ part: TokenizerComponent) throws(AIError) {
        try add(part)
        guard isByteLevel else {
            throw part.type == "Sequence" ? part.refuse("no ByteLevel at its end") : part.refuse("")
        }
    }

    private mutating func add(_ part: TokenizerComponent) throws(AIError) {
        if part.type == "Sequence" {
            try part.allowOnly(["pretokenizers"])
            for member in try part.parts("pretokenizers") { try add(member) }
            return
        }
        // It would see the characters that stand for bytes.
        if isByteLevel { throw part.refuse("a place after ByteLevel") }
        switch part.type {
        case "ByteLevel":
            try part.allowOnly(["add_prefix_space", "trim_offsets", "use_regex"])
            addsPrefixSpace = try part.bool("add_prefix_space", default: true)
            if try part.bool("use_regex", default: true) {
                bytePattern = try Pattern(Pattern.gpt2, path: part.path)
            }
            isByteLevel = true
        case "Digits":
            try part.allowOnly(["individual_digits"])
            let individual = try part.bool("individual_digits", default: false)
            // Rust's char::is_numeric, which the reference asks, is the general category N.
            let pattern = try Pattern(#"\p{N}"#, path: part.path)
            cuts.append(Cut(pattern: pattern, behavior: individual ? .isolated : .contiguous))
        case "Split":
            cuts.append(try Self.split(part))
        default:
            throw part.refuse("")
        }
    }

    private static func split(_ part: TokenizerComponent) throws(AIError) -> Cut {
        try part.allowOnly(["pattern", "behavior", "invert"])
        guard let name = part["behavior"]?.string else { throw .malformed(part.path, "Split has no behavior") }
        guard let behavior = SplitBehavior(rawValue: name) else { throw part.refuse("behavior \(name)") }
        let inverted = try part.bool("invert", default: false)
        guard let members = part["pattern"]?.object, members.count == 1, let member = members.members.first,
            let text = member.value.string
        else { throw .malformed(part.path, "Split has no pattern") }
        switch member.key {
        case "Regex":
            let pattern = try Pattern(text, path: part.path)
            return Cut(pattern: pattern, behavior: behavior, inverted: inverted)
        case "String":
            let pattern = try Pattern(literal: text, path: part.path)
            return Cut(pattern: pattern, behavior: behavior, inverted: inverted)
        default:
            throw part.refuse("pattern \(member.key)")
        }
    }

    /// The working memory of cutting texts, for one thread.
    struct Run {
        fileprivate let preTokenizer: PreTokenizer
        fileprivate let matchers: [PatternMatcher]
        fileprivate let byteMatcher: PatternMatcher?

        /// Calls `body` with each piece of a text, none of them empty.
        ///
        /// - Throws: ``ErrorCode/generationFailed`` where a pattern reaches its match limit.
        func forEachPiece(of text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Void)
            throws(AIError)
        {
            var ranges = text.isEmpty ? [] : [0..<text.count]
            for (cut, matcher) in zip(preTokenizer.cuts, matchers) {
                var pieces: [Range<Int>] = []
                for range in ranges {
                    let matches = try matcher.matches(in: UnsafeBufferPointer(rebasing: text[range]))
                    let cuts = cut.behavior.pieces(count: range.count, matches: matches, inverted: cut.inverted)
                    for piece in cuts {
                        pieces.append(range.lowerBound + piece.lowerBound..<range.lowerBound + piece.upperBound)
                    }
                }
                ranges = pieces
            }
            for range in ranges { try byteLevel(UnsafeBufferPointer(rebasing: text[range]), body) }
        }

        private func byteLevel(
            _ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Void
        ) throws(AIError) {
            guard preTokenizer.addsPrefixSpace, text[0] != UInt8(ascii: " ") else { return try cut(text, body) }
            let padded = [UInt8(ascii: " ")] + text
            let result = padded.withUnsafeBufferPointer { padded in
                Result { () throws(AIError) in try cut(padded, body) }
            }
            try result.get()
        }

        /// Matches and what lies between them are pieces alike.
        private func cut(_ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Void)
            throws(AIError)
        {
            var done = 0
            for match in try byteMatcher?.matches(in: text) ?? [] {
                if done < match.lowerBound { body(UnsafeBufferPointer(rebasing: text[done..<match.lowerBound])) }
                if !match.isEmpty { body(UnsafeBufferPointer(rebasing: text[match])) }
                done = match.upperBound
            }
            if done < text.count { body(UnsafeBufferPointer(rebasing: text[done...])) }
        }
    }

    /// Begins to cut texts.
    func start() throws(AIError) -> Run {
        var matchers: [PatternMatcher] = []
        for cut in cuts { matchers.append(try PatternMatcher(cut.pattern)) }
        var byteMatcher: PatternMatcher?
        if let bytePattern { byteMatcher = try PatternMatcher(bytePattern) }
        return Run(preTokenizer: self, matchers: matchers, byteMatcher: byteMatcher)
    }
}
