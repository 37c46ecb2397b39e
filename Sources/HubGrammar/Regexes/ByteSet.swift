/// A set of bytes.
struct ByteSet: Hashable, Sendable {
    private var words: SIMD4<UInt64> = .zero

    /// No byte.
    init() {}

    /// The bytes of a range.
    init(_ range: ClosedRange<UInt8>) { for byte in range { insert(byte) } }

    /// One byte.
    init(_ byte: UInt8) { insert(byte) }

    var isEmpty: Bool { words == .zero }

    mutating func insert(_ byte: UInt8) { words[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }

    func contains(_ byte: UInt8) -> Bool { words[Int(byte >> 6)] >> UInt64(byte & 63) & 1 == 1 }

    mutating func formUnion(_ other: ByteSet) { words |= other.words }
}
