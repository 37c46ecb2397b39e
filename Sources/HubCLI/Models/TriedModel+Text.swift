import Catalog
import HubCore

/// What `hub ls` and `hub info` show of an earlier smoke test.
extension TriedModel {
    /// `works, 1,980 tokens/s`, or `works, 80 tokens/s at hf:groq`.
    var sentence: String {
        let place = provider.map { " at \($0)" } ?? ""
        guard let rate = tokensPerSecond, rate > 0, verdict != "fail" else { return state + place }
        return "\(state), \(Humanize.perSecond(rate)) tokens/s\(place)"
    }

    /// The verdict as hub try says it.
    private var state: String {
        switch verdict {
        case "pass": "works"
        case "warn": "works with warnings"
        case "fail": "does not work"
        default: verdict
        }
    }

    var style: Styled.Style {
        switch verdict {
        case "fail": .bad
        case "warn": .caution
        default: .plain
        }
    }

    var json: JSON {
        .object([
            "at": .string(Timestamp.iso8601(at)), "verdict": .string(verdict),
            "tokens_per_second": tokensPerSecond.map { .double($0) }, "provider": provider.map { .string($0) },
        ])
    }
}
