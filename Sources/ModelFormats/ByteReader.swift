/// Bytes gone through front to back, each step checked against their end. Numbers are little-endian.
package struct ByteReader {
    /// The bytes end before what was asked for does.
    package struct Short: Error {
        /// Bytes from the beginning that would have been enough for this step.
        package let needed: Int
    }

    package let bytes: UnsafeRawBufferPointer
    /// Where the next step begins.
    package private(set) var at: Int

    package init(_ bytes: UnsafeRawBufferPointer, at: Int = 0) {
        self.bytes = bytes
        self.at = min(max(0, at), bytes.count)
    }

    /// How many bytes are left.
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

    /// Passes over so many bytes; where they lie.
    @discardableResult
    package mutating func skip(_ count: Int) throws(Short) -> Range<Int> {
        guard count >= 0, rest >= count else { throw short(count) }
        defer { at += count }
        return at..<at + count
    }

    /// The bytes up to the next `byte`, which is passed over.
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
    /// Text; nil where it is not UTF-8.
    func text(_ range: Range<Int>) -> String? { String(validating: self[range], as: UTF8.self) }

    /// Text of bytes that may be anything.
    func repairedText(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }
}
