import HubServer
import Testing

@Suite struct ByteRangeTests {
    @Test(
        arguments: [
            ("bytes=0-0", 0..<1), ("bytes=0-", 0..<100), ("bytes=99-", 99..<100), ("bytes=10-19", 10..<20),
            ("bytes=10-1000", 10..<100), ("bytes=-1", 99..<100), ("bytes=-100", 0..<100), ("bytes=-1000", 0..<100),
            ("BYTES=1-2", 1..<3), ("bytes= 1 - 2 ", 1..<3), ("bytes=0-99999999999999999999999", 0..<100),
            ("bytes=-99999999999999999999999", 0..<100),
        ] as [(String, Range<Int64>)])
    func part(_ header: String, _ expected: Range<Int64>) {
        #expect(ByteRange(header: header, length: 100) == .part(expected))
    }

    @Test(arguments: ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999-"])
    func unsatisfiable(_ header: String) {
        #expect(ByteRange(header: header, length: 100) == .unsatisfiable)
    }

    /// RFC 9110, 14.2: what is invalid, unknown or not supported is ignored.
    @Test(arguments: [
        nil, "", "bytes", "bytes=", "bytes=-", "bytes=5", "bytes=2-1", "bytes=a-b", "bytes=+1-2", "bytes=1-+2",
        "items=0-1", "bytes=0-1,5-6", "bytes=--1", "bytes=1-2-3",
    ])
    func ignored(_ header: String?) {
        #expect(ByteRange(header: header, length: 100) == .whole)
    }

    @Test func emptyContentHasNoRange() {
        #expect(ByteRange(header: "bytes=0-", length: 0) == .unsatisfiable)
        #expect(ByteRange(header: "bytes=-5", length: 0) == .unsatisfiable)
        #expect(ByteRange(header: nil, length: 0) == .whole)
    }
}
