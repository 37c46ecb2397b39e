import HubCore
import InferenceKit

/// Speech as the lines of a film.
struct Subtitles: Sendable {
    private struct Line: Sendable {
        /// Milliseconds.
        var start: Int
        var end: Int
        var text: String
    }

    private let lines: [Line]

    /// How long a line stays whose end nobody tells.
    private static let usualLength = 3000

    /// - Throws: ``ErrorCode/protocolViolation`` for speech without times.
    init(_ speech: Transcription, at provider: String) throws(AIError) {
        let timed = speech.segments.filter { $0.start != nil }
        guard !timed.isEmpty || speech.text.allSatisfy(\.isWhitespace) else {
            throw AIError(
                .protocolViolation, "\(provider) gives no times, and subtitles need them",
                advice: "--format text prints the text alone")
        }
        lines = timed.enumerated().map { place, segment in
            let start = Self.milliseconds(segment.start ?? 0)
            let next = place + 1 < timed.count ? timed[place + 1].start.map(Self.milliseconds) : nil
            let end = segment.end.map(Self.milliseconds) ?? next ?? start + Self.usualLength
            return Line(start: start, end: max(start, end), text: Self.trimmed(segment.text))
        }
    }

    /// SubRip: numbered, a comma before the milliseconds.
    var srt: String {
        lines.enumerated().map { place, line in
            "\(place + 1)\n\(Self.time(line.start, ",")) --> \(Self.time(line.end, ","))\n\(line.text)\n\n"
        }.joined()
    }

    /// WebVTT: https://www.w3.org/TR/webvtt1/. What would read as a mark is escaped.
    var vtt: String {
        "WEBVTT\n\n"
            + lines.map { line in
                let text = line.text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(
                    ">", with: "&gt;")
                return "\(Self.time(line.start, ".")) --> \(Self.time(line.end, "."))\n\(text)\n\n"
            }.joined()
    }

    /// An empty line would end a subtitle before its text does.
    private static func trimmed(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).map { line in
            let line = line.drop(while: \.isWhitespace)
            return String(line.reversed().drop(while: \.isWhitespace).reversed())
        }.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// Times of a model may be anything.
    private static func milliseconds(_ seconds: Double) -> Int {
        guard seconds.isFinite, seconds > 0 else { return 0 }
        return Int(min(seconds, 360_000).magnitude * 1000 + 0.5)
    }

    private static func time(_ milliseconds: Int, _ point: String) -> String {
        func padded(_ number: Int, _ digits: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        let seconds = milliseconds / 1000
        return
            "\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))\(point)\(padded(milliseconds % 1000, 3))"
    }
}
