import HubCore
import Testing

@testable import Fetcher

@Suite struct TarHeaderTests {
    @Test(arguments: [0, 1, 511, 512, 1 << 20, (1 << 33) - 1] as [Int64])
    func aHeaderIsReadBack(_ size: Int64) throws {
        let bytes = TarHeader.bytes(name: "blobs/x", size: size)
        #expect(Int64(bytes.count) == TarHeader.length(size: size) && bytes.count == 512)
        #expect(try TarHeader.parse(bytes) == .init(name: "blobs/x", size: size, type: UInt8(ascii: "0")))
        #expect((size + TarHeader.padding(size)) % 512 == 0 && TarHeader.padding(size) < 512)
    }

    /// From 8 GiB ustar's digits end; a pax record holds the size. Its length counts its own digits.
    @Test(arguments: [1 << 33, 99_999_999_999, 1 << 60] as [Int64])
    func largeFilesHaveAPaxRecord(_ size: Int64) throws {
        let bytes = TarHeader.bytes(name: "blobs/x", size: size)
        #expect(Int64(bytes.count) == TarHeader.length(size: size) && bytes.count == 3 * 512)
        let first = try #require(try TarHeader.parse(Array(bytes.prefix(512))))
        #expect(first.type == UInt8(ascii: "x") && first.size < 512)
        let record = Array(bytes[512..<512 + Int(first.size)])
        #expect(String(decoding: record, as: UTF8.self) == "\(record.count) size=\(size)\n")
        #expect(try TarHeader.paxSize(record) == size)
        #expect(try TarHeader.parse(Array(bytes.suffix(512)))?.isFile == true)
    }

    @Test func otherRecordsArePassedOver() throws {
        #expect(try TarHeader.paxSize(Array("11 path=ab\n14 size=12345\n".utf8)) == 12345)
        #expect(try TarHeader.paxSize(Array("11 path=ab\n".utf8)) == nil)
        for text in ["x size=1\n", "99 size=1\n", "2 \n", "9 size=-\n", "11 size=-12\n", "-1 size=1\n"] {
            #expect(throws: AIError.self, "\(text)") { try TarHeader.paxSize(Array(text.utf8)) }
        }
    }

    /// Random bytes, and headers with a byte changed, are refused or read, never a trap.
    @Test func noiseIsRefused() throws {
        var random = SystemRandomNumberGenerator()
        let sound = TarHeader.bytes(name: "blobs/x", size: 77)
        for _ in 0..<2000 {
            var bytes = sound
            // Outside the checksum, whose last byte means nothing.
            bytes[(156 + Int.random(in: 0..<504, using: &random)) % 512] ^= UInt8.random(
                in: 1...255, using: &random)
            #expect(throws: AIError.self) { try TarHeader.parse(bytes) }
            let noise = (0..<512).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(throws: AIError.self) { try TarHeader.parse(noise) }
        }
    }
}
