package import Libc

/// Times as seconds since 1970 in UTC, written and read as ISO 8601, the form of the Hub and of `--json`.
package enum Timestamp {
    /// Now, with its fraction.
    package static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Now in whole nanoseconds, for comparing with those of files.
    package static var nowNanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }

    /// Whole nanoseconds since 1970. Of times before 1933 and after 2225 the nearest of these, so that the difference of two
    /// fits as well: a clock and a file may show any time.
    package static func nanoseconds(_ time: timespec) -> Int64 {
        let (seconds, isTooFar) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let limit = Int64(1) << 60
        guard !isTooFar else { return time.tv_sec < 0 ? -limit : .max - limit }
        return min(max(seconds, -limit), .max - limit - 1_000_000_000) + Int64(time.tv_nsec)
    }

    /// `2026-01-02T03:04:05Z`; fractions are cut off.
    package static func iso8601(_ seconds: Double) -> String {
        // Clamped to the years 0 to 9999; NaN becomes 1970.
        var time = time_t(seconds.isNaN ? 0 : min(max(seconds, -62_167_219_200), 253_402_300_799).rounded(.down))
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return "1970-01-01T00:00:00Z" }
        func pad(_ value: Int32, _ width: Int = 2) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        return "\(pad(parts.tm_year + 1900, 4))-\(pad(parts.tm_mon + 1))-\(pad(parts.tm_mday))"
            + "T\(pad(parts.tm_hour)):\(pad(parts.tm_min)):\(pad(parts.tm_sec))Z"
    }

    /// Reads `2024-01-01T00:00:00.000Z`, with or without fraction, with `Z` or `+hh:mm`; nil for anything else.
    package static func parse(_ text: String) -> Double? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 19 else { return nil }
        func number(_ range: Range<Int>) -> Int32? {
            guard range.upperBound <= bytes.count, bytes[range].allSatisfy({ (48...57).contains($0) }) else {
                return nil
            }
            return Int32(String(decoding: bytes[range], as: UTF8.self))
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), bytes[10] == UInt8(ascii: "T"),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            (1...12).contains(month), day >= 1, day <= days(in: month, of: year), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, day)
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second)
        var seconds = Double(timegm(&parts))
        var at = 19
        if at < bytes.count, bytes[at] == UInt8(ascii: ".") {
            var end = at + 1
            while end < bytes.count, (48...57).contains(bytes[end]) { end += 1 }
            guard end > at + 1, let fraction = Double("0" + String(decoding: bytes[at..<end], as: UTF8.self)) else {
                return nil
            }
            seconds += fraction
            at = end
        }
        switch at < bytes.count ? bytes[at] : 0 {
        case UInt8(ascii: "Z") where at + 1 == bytes.count: return seconds
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            guard at + 6 == bytes.count, bytes[at + 3] == UInt8(ascii: ":"), let hours = number(at + 1..<at + 3),
                let minutes = number(at + 4..<at + 6), hours < 24, minutes < 60
            else { return nil }
            let offset = Double(hours * 3600 + minutes * 60)
            return bytes[at] == UInt8(ascii: "+") ? seconds - offset : seconds + offset
        default: return nil
        }
    }

    private static func days(in month: Int32, of year: Int32) -> Int32 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
