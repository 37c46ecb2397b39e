import HubCore

/// How long a model stays open when nobody uses it.
package struct KeepAlive: Sendable, Hashable {
    /// Seconds; nil for ever.
    package var seconds: Double?

    package init(seconds: Double?) { self.seconds = seconds }

    /// Reads Ollama's `keep_alive`: seconds, or a duration of Go such as `1h30m`; negative is for ever.
    ///
    /// - Throws: 400 for anything else.
    init(_ json: JSON, field: String) throws(APIFault) {
        let seconds = json.double ?? json.string.flatMap(Self.duration)
        guard let seconds, seconds.isFinite else {
            throw .invalid("'\(field)' must be seconds or a duration such as \"10m\"", param: field)
        }
        // Thirty years are for ever, too.
        self.seconds = seconds < 0 || seconds > 1e9 ? nil : seconds
    }

    /// https://pkg.go.dev/time#ParseDuration
    private static func duration(_ text: String) -> Double? {
        let isNegative = text.hasPrefix("-")
        var rest = Substring(text).drop { $0 == "-" || $0 == "+" }
        if let plain = Double(rest), plain >= 0 { return isNegative ? -plain : plain }
        var total = 0.0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            rest = rest[digits.endIndex...]
            let unit = rest.prefix { $0.isLetter }
            rest = rest[unit.endIndex...]
            let units = ["ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600]
            guard let number = Double(digits), let factor = units[String(unit)] else { return nil }
            total += number * factor
        }
        return text.isEmpty ? nil : isNegative ? -total : total
    }
}
