import HubCore

/// A text on its way through the tokenizer: what it is now, and where each byte of it came from where that is wanted.
///
/// The rules by which rewritten text keeps its origin are those of the reference's NormalizedString
/// (https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/tokenizer/normalizer.rs).
struct TrackedText {
    private(set) var bytes: [UInt8]
    /// The character in the original that each byte stands for; nil where nobody asks.
    private(set) var origins: [Range<Int>]?

    /// The most bytes that it may become.
    private(set) var limit = Int.max
    /// The most bytes that it was after a part of a tokenizer.
    private(set) var peak = 0

    /// One scalar of a rewriting: what it is, and how many scalars of the text before it takes the place of: one, and
    /// so many more as `change` is below 0; none where it is above 0.
    struct Change {
        var scalar: UInt32
        var change: Int
    }

    init() {
        bytes = []
        origins = nil
    }

    /// A part of the original text that begins at `base`.
    init(_ text: UnsafeBufferPointer<UInt8>, base: Int, isTracked: Bool) {
        bytes = Array(text)
        guard isTracked else {
            origins = nil
            return
        }
        var origins: [Range<Int>] = []
        origins.reserveCapacity(text.count)
        var at = 0
        while at < text.count {
            let width = text.scalar(at: at).width
            for _ in 0..<width { origins.append(base + at..<base + at + width) }
            at += width
        }
        self.origins = origins
    }

    /// An empty text that is tracked where another one is.
    init(like other: TrackedText, capacity: Int? = nil) {
        bytes = []
        bytes.reserveCapacity(capacity ?? other.bytes.count + other.bytes.count / 8)
        origins = other.origins == nil ? nil : []
        limit = other.limit
        peak = other.peak
    }

    /// Text that nobody asks the origin of.
    init(untracked bytes: [UInt8]) {
        self.bytes = bytes
        origins = nil
    }

    /// Where a range came from; nil where that is not known.
    func origin(of range: Range<Int>) -> Range<Int>? {
        guard let origins, !range.isEmpty, range.upperBound <= origins.count else { return nil }
        let start = origins[range.lowerBound].lowerBound
        return start..<max(start, origins[range.upperBound - 1].upperBound)
    }

    /// Where the character before a place came from ends, for what stands for nothing.
    func origin(before place: Int) -> Range<Int> {
        guard let origins, place > 0, place <= origins.count else { return 0..<0 }
        return origins[place - 1].upperBound..<origins[place - 1].upperBound
    }

    /// How many bytes a tokenizer's parts may make of a text. Real ones make a few times as much of it; without a limit
    /// three replacements of a hostile file make gigabytes of a single character.
    static func limit(bytes: Int) -> Int { 64 * bytes + (1 << 20) }

    /// Says how long it may become from now on.
    mutating func allow(_ limit: Int) {
        self.limit = limit
        peak = 0
    }

    /// - Throws: ``ErrorCode/generationFailed`` where a part of a tokenizer would make more than ``limit`` bytes.
    func expect(_ count: Int, from part: @autoclosure () -> String) throws(AIError) {
        guard count <= limit else {
            throw AIError(.generationFailed, "the tokenizer's \(part()) makes too much of a text: \(count) bytes")
        }
    }

    /// Remembers how long it is now.
    ///
    /// - Throws: as ``expect(_:from:)``.
    mutating func measure(after part: @autoclosure () -> String) throws(AIError) {
        try expect(bytes.count, from: part())
        peak = max(peak, bytes.count)
    }

    /// Appends a part of another text.
    mutating func append(_ other: TrackedText, _ range: Range<Int>) {
        bytes.append(contentsOf: other.bytes[range])
        if let more = other.origins { origins?.append(contentsOf: more[range]) }
    }

    /// Appends bytes that came from one place.
    mutating func append(_ content: some Collection<UInt8>, from origin: Range<Int>) {
        bytes.append(contentsOf: content)
        origins?.append(contentsOf: repeatElement(origin, count: content.count))
    }

    /// Puts new text in place, keeping no origins.
    mutating func replaceUntracked(_ content: [UInt8]) {
        precondition(origins == nil)
        bytes = content
    }

    /// Makes each scalar into those that `body` appends, which all come from where it came from.
    mutating func rewrite(_ body: (UInt32, inout [UInt8]) -> Void) {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + bytes.count / 8)
        var newOrigins: [Range<Int>]? = origins == nil ? nil : []
        bytes.withUnsafeBufferPointer { text in
            var at = 0
            while at < text.count {
                let (value, width) = text.scalar(at: at)
                let before = result.count
                body(value, &result)
                if let origins {
                    newOrigins?.append(contentsOf: repeatElement(origins[at], count: result.count - before))
                }
                at += width
            }
        }
        bytes = result
        origins = newOrigins
    }

    /// Puts content where the matches are; it comes from where the last character of each came from.
    mutating func replace(_ matches: [Range<Int>], with content: [UInt8]) {
        guard !matches.isEmpty else { return }
        var result = TrackedText(like: self)
        var done = 0
        for match in matches {
            result.append(self, done..<match.lowerBound)
            // Where an empty match is at the very start there is nothing before it.
            let start = origins?.first?.lowerBound ?? 0
            let origin = match.upperBound > 0 ? origins?[match.upperBound - 1] : start..<start
            result.append(content, from: origin ?? 0..<0)
            done = match.upperBound
        }
        result.append(self, done..<bytes.count)
        self = result
    }

    /// Puts content before the text, which must not be empty; it comes from where the first character came from.
    mutating func prepend(_ content: [UInt8]) {
        var result = TrackedText(like: self)
        result.append(content, from: origins?[0] ?? 0..<0)
        result.append(self, 0..<bytes.count)
        self = result
    }

    /// Keeps only a range.
    mutating func keep(_ range: Range<Int>) {
        bytes = Array(bytes[range])
        if let all = origins { origins = Array(all[range]) }
    }

    /// Takes the place of the whole text, scalar by scalar.
    mutating func transform(_ changes: [Change]) {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var newOrigins: [Range<Int>] = []
        var at = 0
        for change in changes {
            let before = result.count
            result.append(scalar: change.scalar)
            guard let origins else { continue }
            let origin: Range<Int>
            if change.change > 0 {
                origin =
                    at > 0 ? origins[at - 1] : (origins.first?.lowerBound ?? 0)..<(origins.first?.lowerBound ?? 0)
            } else {
                origin = at < origins.count ? origins[at] : origins.last ?? 0..<0
                for _ in 0...(-change.change) where at < bytes.count { at += bytes.width(at: at) }
            }
            newOrigins.append(contentsOf: repeatElement(origin, count: result.count - before))
        }
        bytes = result
        if origins != nil { origins = newOrigins }
    }
}
