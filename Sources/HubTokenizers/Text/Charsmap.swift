import CUTF8Proc
import HubCore
import ModelFormats

/// The rewriting rules of SentencePiece, stored in `precompiled_charsmap`: a double array of prefixes (Darts) and their
/// replacements, each ended by a zero byte.
///
/// Source: https://github.com/google/sentencepiece/blob/master/src/normalizer.cc
struct Charsmap: Sendable {
    private let units: [UInt32]
    private let texts: [UInt8]

    /// - Throws: ``ErrorCode/malformedModel``.
    init(_ blob: [UInt8], path: String) throws(AIError) {
        func word(_ at: Int) -> UInt32 {
            UInt32(blob[at]) | UInt32(blob[at + 1]) << 8 | UInt32(blob[at + 2]) << 16 | UInt32(blob[at + 3]) << 24
        }
        guard blob.count >= 4, word(0) >= 4, word(0) % 4 == 0, Int(word(0)) <= blob.count - 4 else {
            throw .malformed(path, "the precompiled_charsmap is truncated")
        }
        let size = Int(word(0))
        units = stride(from: 4, to: 4 + size, by: 4).map(word)
        texts = Array(blob[(4 + size)...])
        guard String(validating: texts, as: UTF8.self) != nil else {
            throw .malformed(path, "the precompiled_charsmap has text that is not UTF-8")
        }
    }

    /// Reads the Base64 of a tokenizer.json.
    init(base64: String, path: String) throws(AIError) {
        guard let blob = Base64.bytes(base64) else {
            throw .malformed(path, "the precompiled_charsmap is not Base64")
        }
        try self.init(blob, path: path)
    }

    /// Calls `body` with the replacement of each prefix of a text, the shortest first, until it returns false.
    private func prefixes(of text: Slice<UnsafeBufferPointer<UInt8>>, _ body: (_ length: Int, _ value: Int) -> Bool)
    {
        // The file is untrusted: every index is checked.
        func unit(_ at: Int) -> UInt32? { units.indices.contains(at) ? units[at] : nil }
        func offset(_ unit: UInt32) -> Int { Int(unit >> 10) << Int((unit & 1 << 9) >> 6) }
        var at = offset(units[0])
        var length = 0
        for byte in text {
            // A zero byte ends a rule, so no rule contains one.
            if byte == 0 { return }
            at ^= Int(byte)
            guard let here = unit(at), here & (1 << 31 | 0xFF) == UInt32(byte) else { return }
            at ^= offset(here)
            length += 1
            if here >> 8 & 1 == 1 {
                guard let leaf = unit(at) else { return }
                if !body(length, Int(leaf & 0x7FFF_FFFF)) { return }
            }
        }
    }

    private func text(_ start: Int) -> ArraySlice<UInt8> {
        // The reference aborts if a rule points outside the texts or into a character.
        guard start < texts.count, texts[start] & 0xC0 != 0x80 else { return [] }
        return texts[start...].prefix { $0 != 0 }
    }

    /// The replacement of the shortest matching prefix, as in `tokenizers`.
    func shortest(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> ArraySlice<UInt8>? {
        var found: ArraySlice<UInt8>?
        prefixes(of: text) { _, value in
            found = self.text(value)
            return false
        }
        return found
    }

    /// The replacement of the longest matching prefix, and the prefix's length, as in SentencePiece. A rule for a part
    /// of a character matches nothing.
    func longest(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> (content: ArraySlice<UInt8>, length: Int)? {
        var found: (Int, Int)?
        prefixes(of: text) { length, value in
            let end = text.startIndex + length
            if end == text.endIndex || text[end] & 0xC0 != 0x80 { found = (length, value) }
            return true
        }
        return found.map { (self.text($0.1), $0.0) }
    }

    /// Rewrites a text as `tokenizers` does: whole grapheme clusters of fewer than six bytes first, else scalar by
    /// scalar.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` if the result is too long.
    func normalize(_ text: inout TrackedText) throws(AIError) {
        var changes: [TrackedText.Change] = []
        changes.reserveCapacity(text.bytes.count)
        var isModified = false
        let limit = text.limit
        text.bytes.withUnsafeBufferPointer { bytes in
            var at = 0
            while at < bytes.count, changes.count <= limit {
                let end = Self.clusterEnd(bytes, at)
                if end - at < 6, let content = shortest(bytes[at..<end]) {
                    isModified = true
                    Self.replace(bytes[at..<end], content, &changes)
                } else {
                    var inner = at
                    while inner < end {
                        let (value, width) = bytes.scalar(at: inner)
                        let part = bytes[inner..<inner + width]
                        if let content = shortest(part) {
                            isModified = true
                            Self.replace(part, content, &changes)
                        } else {
                            changes.append(TrackedText.Change(scalar: value, change: 0))
                        }
                        inner += width
                    }
                }
                at = end
            }
        }
        // Every change is at least one byte.
        try text.expect(changes.count, from: "normalizer Precompiled")
        if isModified { text.transform(changes) }
    }

    private static func clusterEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        var (before, width) = bytes.scalar(at: start)
        var at = start + width
        var state: Int32 = 0
        while at < bytes.count {
            let (value, next) = bytes.scalar(at: at)
            // Between two printable characters of ASCII there is always a boundary.
            if before >= 0x20, before < 0x7F, value >= 0x20, value < 0x7F { break }
            let first = Int32(bitPattern: before)
            if utf8proc_grapheme_break_stateful(first, Int32(bitPattern: value), &state) { break }
            before = value
            width = next
            at += width
        }
        return at
    }

    private static func replace(
        _ old: Slice<UnsafeBufferPointer<UInt8>>, _ content: ArraySlice<UInt8>,
        _ changes: inout [TrackedText.Change]
    ) {
        let oldCount = old.count { $0 & 0xC0 != 0x80 }
        var count = 0
        content.withUnsafeBufferPointer { content in
            var at = 0
            while at < content.count {
                let (value, width) = content.scalar(at: at)
                changes.append(TrackedText.Change(scalar: value, change: 0))
                at += width
                count += 1
            }
        }
        let difference = count - oldCount
        if difference > 0 {
            for index in changes.indices.suffix(difference) { changes[index].change = 1 }
        } else if difference < 0, !changes.isEmpty {
            // A deletion belongs to the change before it, as in the reference.
            changes[changes.count - 1].change += difference
        }
    }
}
