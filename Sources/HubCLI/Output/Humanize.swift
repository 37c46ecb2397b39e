import HubCore

/// Numbers and times as people read them. Sizes are ``ByteCount``'s own matter.
enum Humanize {
    /// `7`, `1.2k`, `34k`, `1.2M`, `3.4B`.
    static func count(_ number: Int64) -> String {
        guard number.magnitude >= 1000 else { return String(number) }
        var value = Double(number)
        var unit = ""
        for next in ["k", "M", "B", "T"] {
            value /= 1000
            unit = next
            // 999,950 is 1.0M, not 1000k.
            if value.magnitude < 999.5 { break }
        }
        if value.magnitude >= 99.95 { return "\(Int(value.rounded()))\(unit)" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))\(unit)"
    }

    /// `512`, `4,096`.
    static func grouped(_ number: Int) -> String { number.grouped }

    /// A rate per second: `1,980`, `35`, `3.5`, `0.35`.
    static func perSecond(_ rate: Double) -> String {
        guard rate.isFinite, rate > 0 else { return "0" }
        switch rate {
        case 10...: return grouped(Int(min(rate, 1e15).rounded()))
        case 1...:
            let tenths = Int((rate * 10).rounded())
            return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
        default:
            let hundredths = max(1, Int((rate * 100).rounded()))
            return hundredths >= 100 ? "1" : "0.\(hundredths < 10 ? "0" : "")\(hundredths)"
        }
    }

    /// `1 file`, `1,200 files`.
    static func plural(_ number: Int, _ noun: String, _ nouns: String? = nil) -> String {
        "\(grouped(number)) \(number == 1 ? noun : nouns ?? noun + "s")"
    }

    /// `0.4 s`, `35 s`, `1 min 20 s`, `2 h 5 min`, `3 d 4 h`.
    static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e10 else { return "very long" }
        if seconds < 9.95 {
            let tenths = Int((max(seconds, 0) * 10).rounded())
            return "\(tenths / 10).\(tenths % 10) s"
        }
        let whole = Int(seconds.rounded())
        func two(_ large: Int, _ largeUnit: String, _ small: Int, _ smallUnit: String) -> String {
            small == 0 ? "\(large) \(largeUnit)" : "\(large) \(largeUnit) \(small) \(smallUnit)"
        }
        switch whole {
        case ..<60: return "\(whole) s"
        case ..<3600: return two(whole / 60, "min", whole % 60, "s")
        case ..<86_400: return two(whole / 3600, "h", whole % 3600 / 60, "min")
        default: return two(whole / 86_400, "d", whole % 86_400 / 3600, "h")
        }
    }

    private static let steps: [(name: String, seconds: Double, most: Double)] = [
        ("second", 1, 60), ("minute", 60, 60), ("hour", 3600, 24), ("day", 86_400, 6), ("week", 604_800, 6),
        ("month", 2_592_000, 11), ("year", 31_536_000, .infinity),
    ]

    /// `3 days ago`, in the steps of the Hub's own client: the largest unit that gives a whole number. Both times are
    /// seconds since 1970.
    static func age(of time: Double, now: Double) -> String {
        let delta = now - time
        if delta < -60 { return "in the future" }
        if delta < 20 { return "a few seconds ago" }
        // Python's round() takes halves to the even neighbour.
        func number(_ seconds: Double) -> Double { (delta / seconds).rounded(.toNearestOrEven) }
        let step = steps.first { number($0.seconds) <= $0.most } ?? steps[steps.count - 1]
        return "\(plural(Int(exactly: number(step.seconds)) ?? 0, step.name)) ago"
    }

    /// `118 MB/s`.
    static func rate(_ bytesPerSecond: Double) -> String {
        "\(ByteCount(Int64(min(max(bytesPerSecond, 0), 9e18).rounded(.down))))/s"
    }
}
