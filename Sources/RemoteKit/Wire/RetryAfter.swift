import Fetcher
import HubCore

/// When a server wants to be asked again: `retry-after-ms`, or `Retry-After` in seconds or as a date.
enum RetryAfter {
    /// Seconds from now; nil if the fields say nothing that can be read.
    ///
    /// - Parameter now: seconds since 1970.
    static func seconds(_ fields: HTTPFields, now: Double) -> Double? {
        if let text = fields["retry-after-ms"], let value = Double(text), value >= 0 { return value / 1000 }
        guard let text = fields["Retry-After"]?.trimmed else { return nil }
        if let value = Double(text) { return value >= 0 && value.isFinite ? value : nil }
        return date(text).map { max(0, $0 - now) }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`. RFC 9110, section 5.6.7
    static func date(_ text: String) -> Double? {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: words[2]), words[1].count == 2,
            words[3].count == 4
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp.parse("\(words[3])-\(number)-\(words[1])T\(words[4])Z")
    }
}
