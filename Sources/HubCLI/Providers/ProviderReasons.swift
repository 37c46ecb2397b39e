import HubCore
import RemoteKit

/// Why a provider was chosen, for `--why`.
struct ProviderReasons: Sendable {
    /// What was found out about one that could answer.
    struct Candidate: Sendable {
        var provider: String
        var isAccepted: Bool
        /// One short sentence each.
        var reasons: [String]
    }

    /// The provider's label.
    var chosen: String
    /// What decided: `--provider`, or a rule.
    var rule: String
    var candidates: [Candidate] = []
    /// Whether a rule sends away what was typed, which nobody asked for by name.
    var sendsAway = false

    /// Says on stderr what has to be known, or all of it.
    func tell(_ output: Output, all: Bool = false) {
        if !all {
            if sendsAway { output.note("\(rule); Hugging Face's providers answer, and may charge for it") }
            return
        }
        output.note("\(chosen) answers: \(rule)")
        for candidate in candidates {
            let verdict = candidate.isAccepted ? "can answer" : "cannot answer"
            output.note("\(candidate.provider) \(verdict): \(candidate.reasons.joined(separator: "; "))")
        }
    }

    var json: JSON {
        .object([
            "provider": .string(chosen), "rule": .string(rule),
            "candidates": .array(
                candidates.map {
                    .object([
                        "provider": .string($0.provider), "accepted": .bool($0.isAccepted),
                        "reasons": .array($0.reasons.map { .string($0) }),
                    ])
                }),
        ])
    }
}
