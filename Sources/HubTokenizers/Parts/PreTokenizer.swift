import HubCore
import ModelFormats

/// A text split into pieces that are encoded separately.
struct Pieces {
    var text: TrackedText
    /// In order; none is empty.
    var ranges: [Range<Int>]
    /// Whether the text is the start of the original.
    let isAtStart: Bool

    /// Whether a piece is the start of the original.
    func startsOriginal(_ range: Range<Int>) -> Bool {
        if let origins = text.origins { return origins[range.lowerBound].lowerBound == 0 }
        return isAtStart && range.lowerBound == 0
    }
}

/// Splits a text into pieces, in any number of steps.
struct PreTokenizer: Sendable {
    enum PrependScheme: String, Sendable { case first, never, always }

    /// The places where a text is split.
    enum Delimiter: Sendable {
        case pattern(TextPattern)
        case characters(CharacterClass)
        /// Runs of word characters, and of other characters except white space.
        case words
    }

    enum Step: Sendable {
        case cut(Delimiter, SplitBehavior, inverted: Bool)
        case fixedLength(Int)
        case metaspace([UInt8], PrependScheme, splits: Bool)
        /// Bytes become characters, or stay bytes if this is the last step and the model takes bytes.
        case byteLevel(addsPrefixSpace: Bool, Pattern?)
    }

    private var steps: [Step] = []
    /// Whether pieces stay raw bytes, which the model looks up itself.
    var leavesBytes = false

    /// Reads `pre_tokenizer`; without one a text stays whole.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` naming a part that is not implemented, ``ErrorCode/malformedModel``.
    init(_ part: TokenizerComponent?) throws(AIError) {
        guard let part else { return }
        try add(part)
    }

    /// A pre-tokenizer of known steps.
    init(_ steps: [Step]) { self.steps = steps }

    /// BERT's: words and punctuation marks.
    static let bert = PreTokenizer([
        .cut(.characters(.whiteSpace), .removed, inverted: false),
        .cut(.characters(.punctuation), .isolated, inverted: false),
    ])

    /// Whether the last step is ByteLevel.
    var endsInBytes: Bool { if case .byteLevel = steps.last { true } else { false } }

    /// Whether origins are needed: the original's first piece is treated differently, and an earlier step may move or
    /// drop it.
    func needsOrigins(normalizes: Bool) -> Bool {
        let first = steps.firstIndex { if case .metaspace(_, .first, _) = $0 { true } else { false } }
        return first.map { $0 > 0 || normalizes } ?? false
    }

    private mutating func add(_ part: TokenizerComponent) throws(AIError) {
        try part.allowStep(after: steps.count)
        switch part.type {
        case "Sequence":
            for member in try part.parts("pretokenizers") { try add(member) }
        case "ByteLevel":
            let pattern = try part.bool("use_regex", default: true) ? Pattern(Pattern.gpt2, path: part.path) : nil
            steps.append(.byteLevel(addsPrefixSpace: try part.bool("add_prefix_space", default: true), pattern))
        case "Digits":
            let individual = try part.bool("individual_digits", default: false)
            add(.characters(.numeric), individual ? .isolated : .contiguous)
        case "Split":
            let behavior = try SplitBehavior(part)
            let inverted = try part.bool("invert", default: false)
            steps.append(.cut(.pattern(try TextPattern(part)), behavior, inverted: inverted))
        case "Punctuation":
            add(.characters(.punctuation), part["behavior"] == nil ? .isolated : try SplitBehavior(part))
        case "CharDelimiterSplit":
            add(.characters(.scalar(try part.character("delimiter").value)), .removed)
        case "FixedLength":
            let length = try part.count("length", default: 5)
            guard length > 0 else { throw part.malformed("has a length of 0") }
            steps.append(.fixedLength(length))
        case "Metaspace": steps.append(try Self.metaspace(part))
        case "BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts": try addPlain(part)
        default: throw part.refuse("")
        }
    }

    private mutating func add(_ delimiter: Delimiter, _ behavior: SplitBehavior) {
        steps.append(.cut(delimiter, behavior, inverted: false))
    }

    private mutating func addPlain(_ part: TokenizerComponent) throws(AIError) {
        switch part.type {
        case "Whitespace": steps.append(.cut(.words, .removed, inverted: true))
        case "UnicodeScripts":
            let pattern = try Pattern.scripts(path: part.path)
            steps.append(.cut(.pattern(.expression(pattern)), .removed, inverted: true))
        case "BertPreTokenizer":
            steps += Self.bert.steps
        default: add(.characters(.whiteSpace), .removed)
        }
    }

    private static func metaspace(_ part: TokenizerComponent) throws(AIError) -> Step {
        let replacement = Array(String(try part.character("replacement")).utf8)
        return .metaspace(
            replacement, try PrependScheme(part), splits: try part.bool("split", default: true))
    }

    /// The pieces of a text.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` if a pattern exceeds its match limit, or the text its size limit.
    func cut(_ text: TrackedText, isAtStart: Bool) throws(AIError) -> Pieces {
        let whole = 0..<text.bytes.count
        var pieces = Pieces(text: text, ranges: whole.isEmpty ? [] : [whole], isAtStart: isAtStart)
        for (index, step) in steps.enumerated() {
            switch step {
            case .cut(let delimiter, let behavior, let inverted):
                try Self.cut(&pieces, delimiter, behavior, inverted)
            case .fixedLength(let length): Self.cut(&pieces, every: length)
            case .metaspace(let replacement, let scheme, let splits):
                try Self.metaspace(&pieces, replacement, scheme, splits: splits)
            case .byteLevel(let addsPrefixSpace, let pattern):
                if addsPrefixSpace { try Self.addPrefixSpaces(&pieces) }
                if let pattern { try Self.cut(&pieces, .pattern(.expression(pattern)), .isolated, false) }
                if !(leavesBytes && index == steps.count - 1) { try Self.spell(&pieces) }
            }
        }
        return pieces
    }

    private static func cut(
        _ pieces: inout Pieces, _ delimiter: Delimiter, _ behavior: SplitBehavior, _ inverted: Bool
    )
        throws(AIError)
    {
        let ranges = pieces.ranges
        let result = pieces.text.bytes.withUnsafeBufferPointer { bytes in
            Result { () throws(AIError) -> [Range<Int>] in
                var cuts: [Range<Int>] = []
                cuts.reserveCapacity(ranges.count)
                for range in ranges {
                    let piece = UnsafeBufferPointer(rebasing: bytes[range])
                    let matches = try delimiter.matches(in: piece)
                    behavior.forEachPiece(count: range.count, matches: matches, inverted: inverted) { cut in
                        cuts.append(range.lowerBound + cut.lowerBound..<range.lowerBound + cut.upperBound)
                    }
                }
                return cuts
            }
        }
        pieces.ranges = try result.get()
    }

    private static func cut(_ pieces: inout Pieces, every length: Int) {
        let bytes = pieces.text.bytes
        pieces.ranges = pieces.ranges.flatMap { range in
            var cuts: [Range<Int>] = []
            var start = range.lowerBound
            var count = 0
            for at in range where bytes[at] & 0xC0 != 0x80 {
                if count == length {
                    cuts.append(start..<at)
                    start = at
                    count = 0
                }
                count += 1
            }
            cuts.append(start..<range.upperBound)
            return cuts
        }
    }

    private static func addPrefixSpaces(_ pieces: inout Pieces) throws(AIError) {
        let space = UInt8(ascii: " ")
        guard pieces.ranges.contains(where: { pieces.text.bytes[$0.lowerBound] != space }) else { return }
        try rewrite(&pieces, "ByteLevel") { text, _ in if text.bytes[0] != space { text.prepend([space]) } }
    }

    private static func spell(_ pieces: inout Pieces) throws(AIError) {
        try rewrite(&pieces, "ByteLevel") { text, _ in Normalizer.spell(&text) }
    }

    private static func metaspace(
        _ pieces: inout Pieces, _ replacement: [UInt8], _ scheme: PrependScheme, splits: Bool
    ) throws(AIError) {
        let space = UInt8(ascii: " ")
        try rewrite(&pieces, "Metaspace") { text, isFirst in
            text.replace(
                text.bytes.indices.filter { text.bytes[$0] == space }.map { $0..<$0 + 1 }, with: replacement)
            if scheme == .always || (scheme == .first && isFirst), !text.bytes.starts(with: replacement) {
                text.prepend(replacement)
            }
        }
        if splits { try cut(&pieces, .pattern(.literal(replacement)), .mergedWithNext, false) }
    }

    /// Rewrites each piece, for the named part.
    private static func rewrite(
        _ pieces: inout Pieces, _ name: String, _ body: (inout TrackedText, _ isFirst: Bool) -> Void
    ) throws(AIError) {
        var whole = TrackedText(like: pieces.text)
        var ranges: [Range<Int>] = []
        ranges.reserveCapacity(pieces.ranges.count)
        for range in pieces.ranges {
            var text = TrackedText(like: pieces.text, capacity: range.count)
            text.append(pieces.text, range)
            body(&text, pieces.startsOriginal(range))
            let start = whole.bytes.count
            whole.append(text, 0..<text.bytes.count)
            if whole.bytes.count > start { ranges.append(start..<whole.bytes.count) }
            try whole.measure(after: "pre_tokenizer \(name)")
        }
        pieces = Pieces(text: whole, ranges: ranges, isAtStart: pieces.isAtStart)
    }
}

extension PreTokenizer.PrependScheme {
    /// Reads `prepend_scheme`, and the `add_prefix_space` of older files.
    init(_ part: TokenizerComponent) throws(AIError) {
        let name = part["prepend_scheme"] == nil ? "always" : try part.string("prepend_scheme")
        guard let scheme = Self(rawValue: name) else { throw part.refuse("prepend_scheme \(name)") }
        guard try part.bool("add_prefix_space", default: true) else {
            guard scheme == .never || part["prepend_scheme"] == nil else {
                throw part.malformed("has an add_prefix_space that is not what its prepend_scheme says")
            }
            self = .never
            return
        }
        self = scheme
    }
}

extension PreTokenizer.Delimiter {
    fileprivate func matches(in text: UnsafeBufferPointer<UInt8>) throws(AIError) -> [Range<Int>] {
        switch self {
        case .pattern(let pattern): return try pattern.matches(in: text)
        case .characters(let characters):
            var matches: [Range<Int>] = []
            var at = 0
            while at < text.count {
                let (value, width) = text.scalar(at: at)
                if characters.contains(value) { matches.append(at..<at + width) }
                at += width
            }
            return matches
        case .words: return Self.words(text)
        }
    }

    private static func words(_ text: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
        enum Kind { case word, other, space }
        var matches: [Range<Int>] = []
        var before = Kind.space
        var at = 0
        while at < text.count {
            let (value, width) = text.scalar(at: at)
            let kind: Kind =
                CharacterClass.isWord(value) ? .word : CharacterClass.isWhiteSpace(value) ? .space : .other
            if kind != .space {
                if kind == before, let last = matches.indices.last {
                    matches[last] = matches[last].lowerBound..<at + width
                } else {
                    matches.append(at..<at + width)
                }
            }
            before = kind
            at += width
        }
        return matches
    }
}
