import HubCore
import Support
import Testing

@Suite struct RangeDigestTests {
    private let folder = try! TemporaryFolder("ranges")
    private static let range = Int(RangeDigests.rangeBytes)

    /// A file, its digest and what the digest came to on the way.
    private func proven(_ size: Int) throws -> (path: String, bytes: [UInt8], digest: ContentDigest, RangeDigests) {
        // No two pages are alike.
        var bytes = [UInt8](repeating: 7, count: size)
        for page in stride(from: 0, to: size, by: 4096) {
            withUnsafeBytes(of: page) {
                bytes.replaceSubrange(page..<min(page + 8, size), with: $0.prefix(size - page))
            }
        }
        let path = folder("file")
        try FileSystem.replace(path, with: bytes)
        let hasher = ContentHasher()
        // In pieces that end anywhere.
        var rest = bytes[...]
        while !rest.isEmpty {
            hasher.update(Array(rest.prefix(7_777_777)))
            rest = rest.dropFirst(7_777_777)
        }
        let ranges = hasher.ranges
        return (path, bytes, hasher.finish(), ranges)
    }

    @Test(arguments: [0, 1, 63, range - 1, range, range + 1, 2 * range, 3 * range + 5])
    func thereIsAStateForEachRangeButTheLastAndWhatIsRightHasNoDamage(_ size: Int) throws {
        let (path, _, digest, ranges) = try proven(size)
        #expect(ranges.states.count == 32 * (size == 0 ? 0 : (size - 1) / Self.range))
        #expect(try ranges.damage(in: path, digest: digest, size: Int64(size)).isEmpty)
        #expect(RangeDigests(ranges.states, size: Int64(size)) == ranges)
        #expect(RangeDigests(ranges.states + [0], size: Int64(size)) == nil)
    }

    @Test(arguments: [0, 5, range - 1, range, 2 * range + 17, 3 * range, 3 * range + 4])
    func aFlippedBitIsPlacedInItsRangeAlone(_ position: Int) throws {
        var (path, bytes, digest, ranges) = try proven(3 * Self.range + 5)
        bytes[position] ^= 1
        try FileSystem.replace(path, with: bytes)
        let start = position / Self.range * Self.range
        let end = min(bytes.count, start + Self.range)
        #expect(
            try ranges.damage(in: path, digest: digest, size: Int64(bytes.count)) == [Int64(start)..<Int64(end)])
    }

    @Test func whatIsMissingAtTheEndIsDamage() throws {
        let (path, bytes, digest, ranges) = try proven(2 * Self.range + 5)
        try FileSystem.replace(path, with: Array(bytes.prefix(Self.range + 100)))
        let size = Int64(bytes.count)
        #expect(
            try ranges.damage(in: path, digest: digest, size: size)
                == [Int64(Self.range)..<Int64(2 * Self.range), Int64(2 * Self.range)..<size])
    }
}
