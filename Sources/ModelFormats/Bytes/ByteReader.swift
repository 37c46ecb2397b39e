/// Reads bytes front to back with bounds checks. Numbers are little-endian.
package struct ByteReader {
    /// The bytes end too early.
    package struct Short: Error {
        /// Number of bytes from the start that this step needs.
        package let needed: Int
    }

    package let bytes: UnsafeRawBufferPointer
    /// The offset of the next read.
    package private(set) var at: Int

    package init(_ bytes: UnsafeRawBufferPointer, at: Int = 0) {
        self.bytes = bytes
        self.at = min(max(0, at), bytes.count)
    }

    /// The number of remaining bytes.
    package var rest: Int { bytes.count - at }

    package mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(Short)
        -> Number
    {
        let size = MemoryLayout<Number>.size
        guard rest >= size else { throw short(size) }
        let value = Number(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: Number.self))
        at += size
        return value
    }

    /// Skips bytes and returns their range.
    @discardableResult
    package mutating func skip(_ count: Int) throws(Short) -> Range<Int> {
        guard count >= 0, rest >= count else { throw short(count) }
        defer { at += count }
        return at..<at + count
    }

    /// The bytes up to the next `byte`, which is skipped.
    @discardableResult
    package mutating func until(_ byte: UInt8) throws(Short) -> Range<Int> {
        guard let end = bytes[at...].firstIndex(of: byte) else { throw short(rest + 1) }
        defer { at = end + 1 }
        return at..<end
    }

    private func short(_ count: Int) -> Short {
        let (needed, overflow) = at.addingReportingOverflow(max(0, count))
        return Short(needed: overflow ? .max : needed)
    }
}

extension UnsafeRawBufferPointer {
    /// Text; nil if it is not UTF-8.
    func text(_ range: Range<Int>) -> String? { String(validating: self[range], as: UTF8.self) }

    /// Text with invalid UTF-8 replaced.
    func repairedText(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }
}
