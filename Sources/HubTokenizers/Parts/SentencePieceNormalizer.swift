import HubCore

/// Normalizes a text as SentencePiece does (https://github.com/google/sentencepiece/blob/master/src/normalizer.cc).
struct SentencePieceNormalizer: Sendable {
    var charsmap: Charsmap?
    var addsPrefix = true
    /// Whether only the start of a text gets that space, not the parts after added tokens.
    var prefixesOnlyTheStart = false
    var removesExtraSpaces = true
    var escapesSpaces = true
    /// Whether the space is added at the end.
    var addsSuffix = false
    /// Pieces that are not rewritten.
    var untouched: ByteTrie?

    /// - Parameter isAtStart: Whether the text is the start of the input.
    /// - Throws: ``ErrorCode/generationFailed`` if the result is too long.
    func normalize(_ text: inout TrackedText, isAtStart: Bool = true) throws(AIError) {
        guard !text.bytes.isEmpty else { return }
        let addsPrefix = addsPrefix && (isAtStart || !prefixesOnlyTheStart)
        var result = TrackedText(like: text)
        let space = escapesSpaces ? SentencePieceSpace.bytes : [UInt8(ascii: " ")]
        text.bytes.withUnsafeBufferPointer { bytes in
            var at = 0
            if removesExtraSpaces {
                while at < bytes.count {
                    let (content, length) = prefix(bytes, at)
                    guard content.elementsEqual([UInt8(ascii: " ")]) else { break }
                    at += length
                }
            }
            if at == bytes.count { return }
            func origin(_ place: Int) -> Range<Int> { text.origins?[place] ?? 0..<0 }
            if addsPrefix, !addsSuffix { result.append(space, from: origin(at)) }
            var isAfterSpace = removesExtraSpaces
            while at < bytes.count, result.bytes.count <= result.limit {
                let (found, length) = prefix(bytes, at)
                let content = isAfterSpace ? found.drop { $0 == UInt8(ascii: " ") } : found
                for byte in content {
                    if byte == UInt8(ascii: " ") {
                        result.append(space, from: origin(at))
                    } else {
                        result.append(CollectionOfOne(byte), from: origin(at))
                    }
                }
                if let last = content.last { isAfterSpace = removesExtraSpaces && last == UInt8(ascii: " ") }
                at += length
            }
            if removesExtraSpaces {
                var end = result.bytes.count
                while end >= space.count, result.bytes[end - space.count..<end].elementsEqual(space) {
                    end -= space.count
                }
                if end < result.bytes.count { result.keep(0..<end) }
            }
            if addsPrefix, addsSuffix { result.append(space, from: origin(bytes.count - 1)) }
        }
        text = result
    }

    /// The replacement at an offset, and the length it replaces.
    private func prefix(_ bytes: UnsafeBufferPointer<UInt8>, _ at: Int) -> (ArraySlice<UInt8>, Int) {
        if let untouched {
            var end = at
            untouched.forEachToken(bytes, at: at) { _, last in end = last }
            if end > at { return (ArraySlice(bytes[at..<end]), end - at) }
        }
        if let found = charsmap?.longest(bytes[at...]) { return found }
        let width = bytes.scalar(at: at).width
        return (ArraySlice(bytes[at..<at + width]), width)
    }
}
