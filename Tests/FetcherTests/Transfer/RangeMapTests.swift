import HubCore
import Support
import Testing

@testable import Fetcher

@Suite struct RangeMapTests {
    private let folder = try! TemporaryFolder()
    private var path: String { folder("x.hub.map.incomplete") }
    private let digest = String(repeating: "ab", count: 32)

    private func text(
        version: String = "1", digest: String? = nil, size: String = "100", inode: String = "\"12\"",
        nonce: String = "\"n\"", safe: String = "[[0,10],[20,30]]"
    ) -> String {
        let digest = digest ?? "\"\(self.digest)\""
        return "{\"version\":\(version),\"digest\":\(digest),\"size\":\(size),\"inode\":\(inode),"
            + "\"nonce\":\(nonce),\"safe\":\(safe)}"
    }

    @Test(
        arguments: [
            [], [0..<1], [0..<10, 20..<100], [5..<6, 9..<10, (1 << 52)..<(1 << 53)],
        ] as [[Range<Int64>]])
    func whatIsWrittenIsRead(_ ranges: [Range<Int64>]) throws {
        for digest in [ContentDigest.sha256(digest), .gitSHA1(String(repeating: "c", count: 40))] {
            let map = RangeMap(
                digest: digest, size: 1 << 53, inode: .max, nonce: "0011", safe: IntervalSet(ranges))
            try map.write(path)
            #expect(RangeMap.read(path) == map)
        }
        // Nothing stays behind beside it.
        #expect(try FileSystem.entries(folder.path) == ["x.hub.map.incomplete"])
    }

    @Test func whatACrashLeftOfAMapBeingWrittenGoes() throws {
        let map = RangeMap(digest: .sha256(digest), size: 9, inode: 1, nonce: "n", safe: IntervalSet([0..<9]))
        try folder.write("x.hub.map.next.incomplete", "{\"version\":")
        try map.write(path)
        #expect(RangeMap.read(path) == map)
        #expect(try FileSystem.entries(folder.path) == ["x.hub.map.incomplete"])
        try folder.write("x.hub.map.next.incomplete", "{\"version\":")
        try RangeMap.remove(path)
        #expect(try FileSystem.entries(folder.path) == [])
    }

    @Test func theFormThatIsDocumentedIsRead() throws {
        try folder.write("x.hub.map.incomplete", text())
        let map = try #require(RangeMap.read(path))
        #expect(map.safe.ranges == [0..<10, 20..<30])
        #expect(map.size == 100)
        #expect(map.inode == 12)
        #expect(map.digest == .sha256(digest))
    }

    @Test func everythingMalformedIsNoMap() throws {
        #expect(RangeMap.read(path) == nil)
        let bad = [
            "", "{", "[]", "null", "{}", "\u{0}", text() + "x",
            text(version: "2"), text(version: "\"1\""), text(version: "1.5"),
            text(digest: "\"abc\""), text(digest: "\"\(digest.uppercased())\""), text(digest: "12"),
            text(size: "-1"), text(size: "\"100\""), text(size: "1e400"), text(size: "29"),
            text(size: "9223372036854775808"),
            text(inode: "12"), text(inode: "\"-1\""), text(inode: "\"\""), text(nonce: "1"),
            text(safe: "{}"), text(safe: "null"), text(safe: "[[0]]"), text(safe: "[[0,1,2]]"),
            text(safe: "[[5,5]]"), text(safe: "[[6,5]]"), text(safe: "[[-1,5]]"), text(safe: "[[0,101]]"),
            text(safe: "[[0,\"5\"]]"), text(safe: "[0,5]"), text(safe: "[[0,1.5]]"),
            text(safe: "[[0,9223372036854775807]]"), text(safe: "[[0,9223372036854775808]]"),
        ]
        for text in bad {
            try folder.write("x.hub.map.incomplete", text)
            #expect(RangeMap.read(path) == nil, "\(text)")
        }
    }

    @Test func aFolderOrAnEndlessFileInItsPlaceIsNoMap() throws {
        try FileSystem.createDirectories(path)
        #expect(RangeMap.read(path) == nil)
        try FileSystem.removeTree(path)
        let file = try FileDescriptor(path, [.write, .create])
        try file.truncate(to: 1 << 40)
        #expect(RangeMap.read(path) == nil)
    }
}
