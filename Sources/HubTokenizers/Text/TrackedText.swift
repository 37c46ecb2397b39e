import HubCore

/// A text in the tokenizer, with the origin of each byte if tracked.
///
/// Origins follow the rules of the reference's NormalizedString
/// (https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/tokenizer/normalizer.rs).
struct TrackedText {
    private(set) var bytes: [UInt8]
    /// The original character's range for each byte; nil if not tracked.
    private(set) var origins: [Range<Int>]?

    /// Maximum length in bytes.
    private(set) var limit = Int.max
    /// The maximum length so far, in bytes.
    private(set) var peak = 0

    /// One output scalar. It replaces 1 - `change` input scalars if `change` is 0 or negative, none if positive.
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

    /// An empty text, tracked if another one is.
    init(like other: TrackedText, capacity: Int? = nil) {
        bytes = []
        bytes.reserveCapacity(capacity ?? other.bytes.count + other.bytes.count / 8)
        origins = other.origins == nil ? nil : []
        limit = other.limit
        peak = other.peak
    }

    /// Untracked text.
    init(untracked bytes: [UInt8]) {
        self.bytes = bytes
        origins = nil
    }

    /// The origin of a range; nil if not tracked.
    func origin(of range: Range<Int>) -> Range<Int>? {
        guard let origins, !range.isEmpty, range.upperBound <= origins.count else { return nil }
        let start = origins[range.lowerBound].lowerBound
        return start..<max(start, origins[range.upperBound - 1].upperBound)
    }

    /// The empty range after the previous character's origin, for inserted tokens.
    func origin(before place: Int) -> Range<Int> {
        guard let origins, place > 0, place <= origins.count else { return 0..<0 }
        return origins[place - 1].upperBound..<origins[place - 1].upperBound
    }

    /// How many bytes a tokenizer may produce from a text. Real ones produce a few times its size; without a limit
    /// three replacements of a hostile file turn a character into gigabytes.
    static func limit(bytes: Int) -> Int { 64 * bytes + (1 << 20) }

    /// Sets the maximum length.
    mutating func allow(_ limit: Int) {
        self.limit = limit
        peak = 0
    }

    /// - Throws: ``ErrorCode/generationFailed`` if a part of the tokenizer would exceed ``limit`` bytes.
    func expect(_ count: Int, from part: @autoclosure () -> String) throws(AIError) {
        guard count <= limit else {
            throw AIError(.generationFailed, "the tokenizer's \(part()) makes too much of a text: \(count) bytes")
        }
    }

    /// Records the current length.
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

    /// Appends bytes with one origin.
    mutating func append(_ content: some Collection<UInt8>, from origin: Range<Int>) {
        bytes.append(contentsOf: content)
        origins?.append(contentsOf: repeatElement(origin, count: content.count))
    }

    /// Replaces the text, without origins.
    mutating func replaceUntracked(_ content: [UInt8]) {
        precondition(origins == nil)
        bytes = content
    }

    /// Replaces each scalar by what `body` appends, with the same origin.
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

    /// Replaces the matches with content, whose origin is that of each match's last character.
    mutating func replace(_ matches: [Range<Int>], with content: [UInt8]) {
        guard !matches.isEmpty else { return }
        var result = TrackedText(like: self)
        var done = 0
        for match in matches {
            result.append(self, done..<match.lowerBound)
            // An empty match at the very start has nothing before it.
            let start = origins?.first?.lowerBound ?? 0
            let origin = match.upperBound > 0 ? origins?[match.upperBound - 1] : start..<start
            result.append(content, from: origin ?? 0..<0)
            done = match.upperBound
        }
        result.append(self, done..<bytes.count)
        self = result
    }

    /// Prepends content to a non-empty text, with the first character's origin.
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

    /// Replaces the whole text, scalar by scalar.
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
