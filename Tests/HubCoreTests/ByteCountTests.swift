import HubCore
import Testing

@Suite struct ByteCountTests {
    @Test(
        arguments: [
            ("0", 0), ("4096", 4096), ("20GB", 20_000_000_000), ("1.5 GiB", 1_610_612_736), ("500M", 500_000_000),
            ("137 kB", 137_000), ("1k", 1000), ("1KiB", 1024), ("1mib", 1_048_576), ("2TB", 2_000_000_000_000),
            ("1TiB", 1_099_511_627_776), ("10B", 10), ("1_000", 1000), (".5k", 500), ("0.0000001GB", 100),
            ("9007199254740993", 9_007_199_254_740_993), ("8999999999999999999", 8_999_999_999_999_999_999),
            ("5PB", 5_000_000_000_000_000), ("1EB", 1_000_000_000_000_000_000),
        ] as [(String, Int64)])
    func reads(_ text: String, _ bytes: Int64) throws { #expect(try ByteCount(parsing: text).bytes == bytes) }

    @Test(arguments: [
        "", "GB", "-1", "-1GB", "1e9", "1.5.2GB", ".", "1GBs", "GB1", "٣GB", "²", "0x10", "inf", "nan", "9.3EB",
        "99999999999GB", "1/2GB", "1,5GB", "99999999999999999999999", "ten",
    ])
    func refusesAndNamesTheText(_ text: String) {
        let error = #expect(throws: AIError.self) { try ByteCount(parsing: text) }
        #expect(error?.code == .invalidInput)
        #expect(error?.message.contains("\"\(text)\"") == true)
        #expect(error?.recoverySuggestion != nil)
    }

    /// Trap 40: decimal, as the Hub counts, and with its unit.
    @Test(
        arguments: [
            (0, "0 B"), (22, "22 B"), (999, "999 B"), (1000, "1.0 kB"), (1024, "1.0 kB"), (1_050, "1.1 kB"),
            (99_949, "99.9 kB"), (99_950, "100 kB"), (999_499, "999 kB"), (999_500, "1.0 MB"), (999_950, "1.0 MB"),
            (5_300_000, "5.3 MB"), (140_000_000_000, "140 GB"), (1_000_000_000, "1.0 GB"),
            (1_500_000_000_000, "1.5 TB"), (9_223_372_036_854_775_807, "9.2 EB"), (-1500, "-1.5 kB"),
            (-999, "-999 B"),
            (-9_223_372_036_854_775_808, "-9.2 EB"),
        ] as [(Int64, String)])
    func prints(_ bytes: Int64, _ text: String) { #expect(ByteCount(bytes).description == text) }

    @Test(
        arguments: [0, 999, 1000, 5_300_000, 140_000_000_000, 7_000_000_000_000, 5_000_000_000_000_000] as [Int64])
    func whatIsPrintedCanBeRead(_ bytes: Int64) throws {
        #expect(try ByteCount(parsing: ByteCount(bytes).description).bytes == bytes)
    }

    @Test func countsAreOrderedAndAdded() {
        #expect(ByteCount(1) < ByteCount(2))
        #expect(ByteCount(1) + ByteCount(2) == ByteCount(3))
    }

    @Test func sizesThatAServerMadeUpDoNotOverflow() {
        #expect(ByteCount(.max) + ByteCount(1) == ByteCount(.max))
        #expect(ByteCount(.min) + ByteCount(-1) == ByteCount(.min))
    }
}
