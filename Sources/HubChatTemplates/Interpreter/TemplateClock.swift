import Libc

/// The clock of `strftime_now`.
package struct TemplateClock: Sendable {
    var year: Int
    var month: Int
    var day: Int
    var hour = 0
    var minute = 0
    var second = 0
    var microsecond = 0

    /// This machine's local time.
    package static var now: TemplateClock {
        var spec = timespec()
        clock_gettime(CLOCK_REALTIME, &spec)
        var time = tm()
        localtime_r(&spec.tv_sec, &time)
        return TemplateClock(
            year: Int(time.tm_year) + 1900, month: Int(time.tm_mon) + 1, day: Int(time.tm_mday),
            hour: Int(time.tm_hour), minute: Int(time.tm_min), second: Int(time.tm_sec),
            microsecond: Int(spec.tv_nsec) / 1000)
    }

    /// As a C `tm`, with day of the week and of the year.
    private var time: tm {
        var time = tm()
        time.tm_year = Int32(year - 1900)
        time.tm_mon = Int32(month - 1)
        time.tm_mday = Int32(day)
        time.tm_hour = Int32(hour)
        time.tm_min = Int32(minute)
        time.tm_sec = Int32(second)
        var seconds = timegm(&time)
        gmtime_r(&seconds, &time)
        return time
    }

    /// As Python's `datetime.now().strftime`, without a time zone; nil if the result is too long.
    func text(_ format: String) -> String? {
        guard format.utf8.count <= 1000 else { return nil }
        var rest = format.unicodeScalars[...]
        var directive = "\u{1}"  // distinguishes an empty result from one that did not fit
        reading: while let scalar = rest.popFirst() {
            guard scalar == "%", let next = rest.first else {
                // NUL ends C's string, and so Python's.
                if scalar.value == 0 { break reading }
                directive.unicodeScalars.append(scalar)
                continue
            }
            rest.removeFirst()
            switch next {
            case "f":
                directive += String(repeating: "0", count: 6 - String(microsecond).count) + String(microsecond)
            case "z", "Z": break
            default: directive += "%\(next)"
            }
        }
        var buffer = [CChar](repeating: 0, count: 64 * 1024)
        var time = time
        let count = strftime(&buffer, buffer.count, directive, &time)
        guard count > 0 else { return nil }
        return String(decoding: buffer[1..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension Jinja.Run {
    func time(_ format: String) throws(Fault) -> String {
        // The cost of strftime with its own buffer.
        try spend(1000)
        guard let text = clock.text(format) else { throw fail("strftime_now() cannot write such a format") }
        return text
    }
}
