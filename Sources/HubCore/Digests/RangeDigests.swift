import CCrypto

/// The SHA-256 states at the end of each 16 MiB of a verified file. With them each range can be checked separately,
/// from one state to the next, to locate damage. Unlike a digest per range, they cost nothing to compute.
///
/// A state is the eight 32-bit words of FIPS 180-4, section 6.2, each with its most significant byte first. There is
/// one per range except the last, which ends with the digest of the whole.
package struct RangeDigests: Sendable, Hashable {
    /// Bytes of a range; a multiple of SHA-256's block of 64.
    package static let rangeBytes: Int64 = 16 << 20

    /// 32 bytes per range except the last.
    package private(set) var states: [UInt8] = []

    package init() {}

    /// Stored states; nil if their number is wrong for a file of `size` bytes.
    package init?(_ states: [UInt8], size: Int64) {
        guard states.count == 32 * Self.count(size) else { return nil }
        self.states = states
    }

    /// The number of states of a file of `size` bytes.
    private static func count(_ size: Int64) -> Int { size == 0 ? 0 : Int((size - 1) / rangeBytes) }

    package var isEmpty: Bool { states.isEmpty }

    fileprivate mutating func append(_ words: [UInt32]) {
        for word in words { withUnsafeBytes(of: word.bigEndian) { states.append(contentsOf: $0) } }
    }

    fileprivate func words(_ index: Int) -> [UInt32] {
        (0..<8).map { word in
            states[index * 32 + word * 4..<index * 32 + word * 4 + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// The damaged ranges of a file; for a truncated file everything after its end.
    ///
    /// - Parameters:
    ///   - digest: SHA-256 of the whole.
    ///   - size: of the whole.
    package func damage(in path: String, digest: ContentDigest, size: Int64) throws(AIError) -> [Range<Int64>] {
        let file = try FileDescriptor(path)
        var out: [Range<Int64>] = []
        let count = Self.count(size)
        for index in 0...count {
            let range = Int64(index) * Self.rangeBytes..<min(size, Int64(index + 1) * Self.rangeBytes)
            let hasher = index == 0 ? SHA256Hasher() : SHA256Hasher(from: words(index - 1), count: range.lowerBound)
            let isWhole = try feed(hasher, range, of: file)
            let isRight = index == count ? hasher.finish().hexadecimal == digest.hex : hasher.words == words(index)
            if !isWhole || !isRight { out.append(range) }
        }
        return out
    }

    /// false if the file ends before the range.
    private func feed(_ hasher: SHA256Hasher, _ range: Range<Int64>, of file: borrowing FileDescriptor)
        throws(AIError) -> Bool
    {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let wanted = UnsafeMutableRawBufferPointer(
                rebasing: buffer.prefix(Int(min(Int64(buffer.count), range.upperBound - offset))))
            let count = try file.read(into: wanted, at: offset)
            guard count > 0 else { return false }
            hasher.update(UnsafeRawBufferPointer(rebasing: wanted.prefix(count)))
            offset += Int64(count)
        }
        return true
    }
}

/// SHA-256 with access to the state between blocks.
final class SHA256Hasher {
    private var context = SHA256_CTX()
    private(set) var ranges = RangeDigests()
    private var count: Int64 = 0

    init() { SHA256_Init(&context) }

    /// Continues from a state after `count` bytes, a multiple of 64.
    init(from words: [UInt32], count: Int64) {
        SHA256_Init(&context)
        withUnsafeMutableBytes(of: &context.h) { state in
            words.withUnsafeBytes { state.copyMemory(from: $0) }
        }
        // The length in bits, as two words. https://github.com/openssl/openssl/blob/openssl-3.0/include/openssl/sha.h
        (context.Nl, context.Nh) = (UInt32(truncatingIfNeeded: count << 3), UInt32(truncatingIfNeeded: count >> 29))
        self.count = count
    }

    /// The state after a whole number of blocks.
    var words: [UInt32] { withUnsafeBytes(of: context.h) { Array($0.bindMemory(to: UInt32.self)) } }

    /// Feeds the next bytes, and records the state at each range's end except the last.
    func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let position = count % RangeDigests.rangeBytes
            // Only now it is certain that more follows.
            if position == 0, count > 0 { ranges.append(words) }
            let piece = rest.prefix(Int(min(Int64(rest.count), RangeDigests.rangeBytes - position)))
            SHA256_Update(&context, UnsafeRawBufferPointer(rebasing: piece).baseAddress, piece.count)
            count += Int64(piece.count)
            rest = rest.dropFirst(piece.count)
        }
    }

    func finish() -> [UInt8] {
        var out = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256_Final(&out, &context)
        return out
    }
}
