public import HubCore

extension Tokenizer {
    /// The ids of a text. The file's truncation and padding are ignored.
    ///
    /// - Parameter addSpecialTokens: Whether the tokenizer's own post-processor adds its tokens, such as `<|bos|>`.
    /// - Throws: ``ErrorCode/generationFailed`` if the pattern exceeds its match limit, or for text without a token.
    public func encode(_ text: String, addSpecialTokens: Bool = true) throws(AIError) -> [Int] {
        var sink = EncodingSink(isTracked: false)
        try encode(text, &sink)
        return addSpecialTokens ? postProcessor.process(sink.output.ids) : sink.output.ids
    }

    func encode(_ text: String, _ sink: inout EncodingSink) throws(AIError) {
        let scratch = scratches.take() ?? EncodingScratch()
        defer { scratches.giveBack(scratch) }
        var text = text
        let result = text.withUTF8 { bytes in
            Result { () throws(AIError) in try self.encode(bytes, scratch, &sink) }
        }
        try result.get()
    }

    private func encode(_ text: UnsafeBufferPointer<UInt8>, _ scratch: EncodingScratch, _ sink: inout EncodingSink)
        throws(AIError)
    {
        let isTracked = sink.isTracked || preTokenizer.needsOrigins(normalizes: !normalizer.isEmpty)
        sink.room = TrackedText.limit(bytes: text.count)
        for segment in try added.split(text, isNormalized: false) {
            let part = UnsafeBufferPointer(rebasing: text[segment.range])
            if let id = segment.id {
                sink.append(id, found: part, segment.range)
                continue
            }
            var tracked = TrackedText(part, base: segment.range.lowerBound, isTracked: isTracked)
            tracked.allow(sink.room)
            let isAtStart = segment.range.lowerBound == 0
            try normalizer.normalize(&tracked, isAtStart: isAtStart)
            sink.room -= tracked.peak
            try encode(normalized: tracked, isAtStart: isAtStart, scratch, &sink)
        }
    }

    private func encode(
        normalized text: TrackedText, isAtStart: Bool, _ scratch: EncodingScratch, _ sink: inout EncodingSink
    ) throws(AIError) {
        let found = text.bytes.withUnsafeBufferPointer { bytes in
            Result { () throws(AIError) in try added.split(bytes, isNormalized: true) }
        }
        let segments = try found.get()
        for segment in segments {
            if let id = segment.id {
                text.bytes.withUnsafeBufferPointer {
                    let found = UnsafeBufferPointer(rebasing: $0[segment.range])
                    sink.append(id, found: found, text.origin(of: segment.range) ?? 0..<0)
                }
                continue
            }
            var part = text
            if segments.count > 1 { part.keep(segment.range) }
            let isFirst = isAtStart && segment.range.lowerBound == 0
            part.allow(sink.room)
            let pieces = try preTokenizer.cut(part, isAtStart: isFirst)
            sink.room -= pieces.text.peak
            try encode(pieces, scratch, &sink)
        }
    }

    private func encode(_ pieces: Pieces, _ scratch: EncodingScratch, _ sink: inout EncodingSink) throws(AIError) {
        let result = pieces.text.bytes.withUnsafeBufferPointer { bytes in
            Result { () throws(AIError) in
                for range in pieces.ranges {
                    let piece = UnsafeBufferPointer(rebasing: bytes[range])
                    if sink.isTracked || !self.model.keepsWordsApart {
                        try self.model.encode(piece, scratch, into: &sink.output)
                        if sink.isTracked { sink.place(range, pieces.text) }
                    } else {
                        var start = 0
                        while start < piece.count {
                            let end = Self.wordEnd(piece, start)
                            let word = UnsafeBufferPointer(rebasing: piece[start..<end])
                            try self.model.encode(word, scratch, into: &sink.output)
                            start = end
                        }
                    }
                }
            }
        }
        try result.get()
    }

    /// The start of the next word: a `▁` after another character.
    private static func wordEnd(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        func isSpace(_ at: Int) -> Bool {
            at + 2 < text.count && text[at] == 0xE2 && text[at + 1] == 0x96 && text[at + 2] == 0x81
        }
        var at = start
        while isSpace(at) { at += 3 }
        while at < text.count, !isSpace(at) { at += 1 }
        return at
    }
}

/// The output of encoding: ids only, or tokens with origins.
struct EncodingSink {
    var output: ModelOutput
    private(set) var tokens: [Encoding.Token] = []
    var sequence = 0
    /// The id that is shown as the text it matched.
    var spelledAsFound: Int?
    /// How many bytes the tokenizer's parts may still produce.
    var room = 0
    private var word = 0

    init(isTracked: Bool) { output = ModelOutput(isTracked: isTracked) }

    var isTracked: Bool { output.isTracked }

    /// Appends an added token.
    mutating func append(_ id: Int, found: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        guard isTracked else { return output.ids.append(id) }
        var token = Encoding.Token(id: id, typeID: sequence, range: range, word: word, sequence: sequence)
        token.found = Array(found)
        tokens.append(token)
        word += 1
    }

    /// Appends the tokens of the last encoded piece.
    mutating func place(_ piece: Range<Int>, _ text: TrackedText) {
        for (id, span) in zip(output.ids, output.spans) {
            let start = min(piece.lowerBound + span.lowerBound, piece.upperBound)
            let range = start..<min(piece.lowerBound + span.upperBound, piece.upperBound)
            var token = Encoding.Token(
                id: id, typeID: sequence, range: text.origin(of: range) ?? text.origin(before: start), word: word,
                sequence: sequence)
            if id == spelledAsFound { token.found = Array(text.bytes[range]) }
            tokens.append(token)
        }
        output.ids.removeAll(keepingCapacity: true)
        output.spans.removeAll(keepingCapacity: true)
        word += 1
    }
}
