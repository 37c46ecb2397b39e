import HubCore
import Libc
import Support
import Testing

@Suite struct TimestampTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2024-01-01T00:00:00.000Z", 1_704_067_200),
            ("2000-02-29T23:59:59Z", 951_868_799),
            ("2024-01-01T00:00:00.5Z", 1_704_067_200.5), ("2024-01-01T02:00:00+02:00", 1_704_067_200),
            ("2023-12-31T18:30:00-05:30", 1_704_067_200), ("1969-12-31T23:59:59Z", -1),
            ("2024-01-01T00:00:00.123456789Z", 1_704_067_200.123456789), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] as [(String, Double)])
    func reads(_ text: String, _ seconds: Double) { #expect(Timestamp.parse(text) == seconds) }

    @Test(arguments: [
        "", "2024", "2024-01-01", "2024-01-01T00:00:00", "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z",
        "2024-01-32T00:00:00Z", "2024-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "2024-01-01T24:00:00Z",
        "2024-01-01T00:60:00Z", "2024-01-01T00:00:61Z", "2024-01-01X00:00:00Z", "2024-01-01T00:00-00Z",
        "2024-01-01T00-00:00Z", "2024/01/01T00:00:00Z", "2024-01-01T00:00:00Zx", "2024-01-01T00:00:00.Z",
        "2024-01-01T00:00:00+0200", "2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00+02:60",
        "+024-01-01T00:00:00Z",
        "２024-01-01T00:00:00Z", "2024-01-01T00:00:00.5", "yesterday, at noon",
    ])
    func refusesAnythingElse(_ text: String) { #expect(Timestamp.parse(text) == nil) }

    /// A clock and a file may show any time, and differences of two must not overflow.
    @Test func wholeNanosecondsHaveABound() throws {
        let limits = (
            Timestamp.nanoseconds(timespec(tv_sec: .min, tv_nsec: 0)),
            Timestamp.nanoseconds(timespec(tv_sec: .max, tv_nsec: 999_999_999))
        )
        #expect(limits.1 - limits.0 > 0)
        for seconds in [-1 << 62, -20_000_000_000, -1, 0, 1_704_067_200, 8_000_000_000, 11_234_000_000, 1 << 62] {
            let time = Timestamp.nanoseconds(timespec(tv_sec: seconds, tv_nsec: 5))
            #expect(time >= limits.0 && time <= limits.1)
            if abs(seconds) < 1_800_000_000 { #expect(time == Int64(seconds) * 1_000_000_000 + 5) }
        }
        #expect(abs(Double(Timestamp.nowNanoseconds) / 1e9 - Timestamp.now) < 60)
        // In 2326, and long before 1970.
        let folder = try TemporaryFolder()
        let path = try folder.write("file", [1])
        for seconds in [11_234_000_000.0, -20_000_000_000] {
            try FileSystem.setTimes(path, accessed: seconds, modified: seconds)
            let status = try #require(try FileSystem.status(path))
            #expect(status.modifiedNanoseconds >= limits.0 && status.modifiedNanoseconds <= limits.1)
        }
    }

    @Test(arguments: [0, 1, 951_868_799, 1_704_067_200, 4_102_444_800, -1, 253_402_300_799] as [Double])
    func whatIsWrittenIsReadBack(_ seconds: Double) {
        #expect(Timestamp.parse(Timestamp.iso8601(seconds)) == seconds)
    }

    @Test func fractionsAreCutOff() {
        #expect(Timestamp.iso8601(0.999) == "1970-01-01T00:00:00Z")
        #expect(Timestamp.iso8601(-0.001) == "1969-12-31T23:59:59Z")
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func aTimeThatIsNoneDoesNotEndTheProgram(_ seconds: Double) {
        #expect(Timestamp.iso8601(seconds).hasSuffix("Z"))
    }

    @Test func nowIsAfterThisWasWritten() { #expect(Timestamp.now > 1_700_000_000) }
}
