/// Guesses the next tokens from the text itself: what followed the last few tokens when they came before
/// (https://github.com/apoorvumang/prompt-lookup-decoding). Summaries and edits repeat much; where guesses fail, it
/// pauses.
struct PromptLookup {
    private let isOn: Bool
    /// Tokens that must match.
    private static let (longest, shortest) = (4, 2)
    /// Guesses at once: a step of a few rows costs hardly more than one of one row.
    private var most = 8
    /// Steps to wait until the next guess.
    private var pause = 0
    private var failures = 0

    /// Where each run of ``shortest`` tokens ended last, by its tokens.
    private var places: [Pair: [Int]] = [:]
    /// Tokens of the text that are in ``places``.
    private var known = 2

    private struct Pair: Hashable {
        let first: Int
        let second: Int
    }

    init(isOn: Bool) { self.isOn = isOn }

    /// Guesses what follows a text, which has grown since the last call.
    mutating func draft(after text: [Int], atMost room: Int) -> [Int] {
        guard isOn, room > 0 else { return [] }
        take(text)
        guard pause == 0 else {
            pause -= 1
            return []
        }
        guard text.count > Self.shortest,
            let ends = places[Pair(first: text[text.count - 2], second: text[text.count - 1])]
        else { return [] }
        // The place with the longest match; of equals the last.
        var best: (match: Int, end: Int)?
        for end in ends.suffix(16).reversed() where end < text.count {
            var match = 0
            while match < Self.longest, match < end, text[end - 1 - match] == text[text.count - 1 - match] {
                match += 1
            }
            if match > best?.match ?? 0 { best = (match, end) }
        }
        guard let best, best.match >= Self.shortest else { return [] }
        return Array(text[best.end..<min(text.count, best.end + min(room, most))])
    }

    /// Learns from the outcome of a step.
    mutating func judge(drafted: Int, accepted: Int) {
        guard drafted > 0 else { return }
        if accepted == 0 {
            failures += 1
            pause = min(32, 1 << failures)
            most = 4
        } else {
            failures = 0
            most = accepted == drafted ? min(16, most * 2) : max(4, accepted + 2)
        }
    }

    private mutating func take(_ text: [Int]) {
        // The run that ends before the newest token has a successor.
        for end in known..<max(known, text.count) {
            places[Pair(first: text[end - 2], second: text[end - 1]), default: []].append(end)
        }
        known = max(known, text.count)
    }
}
