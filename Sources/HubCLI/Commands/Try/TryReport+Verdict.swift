import InferenceKit

/// The verdict of a test in a sentence, which stands above everything else.
extension TryReport {
    /// `works: 1,980 tokens/s, 41 MB of memory`, or what stands in the way.
    ///
    /// - Parameter figures: what was measured.
    static func sentence(
        _ verdict: CheckResult.Status, _ checks: [CheckResult], _ figures: [String]
    ) -> Styled {
        let reasons = checks.filter { $0.status == verdict }.map(\.detail).joined(separator: "; ")
        let text =
            switch verdict {
            case .fail: "does not work: \(reasons)"
            case .warn: "works, with warnings: \(reasons)"
            default: figures.isEmpty ? "works" : "works: \(figures.joined(separator: ", "))"
            }
        return Styled(text, style(verdict))
    }

    /// The same of a check that runs nothing.
    static func checked(_ verdict: CheckResult.Status, _ checks: [CheckResult]) -> Styled {
        let names = checks.filter { $0.status == verdict }.map(\.name).joined(separator: ", ")
        let text =
            switch verdict {
            case .fail: "fails its check: \(names)"
            case .warn: "passes its check, with warnings: \(names)"
            default: "passes its check"
            }
        return Styled(text, style(verdict))
    }

    /// Whether the checks are left out: all passed, and nobody asked for them.
    static func isBrief(_ verdict: CheckResult.Status, _ output: Output) -> Bool {
        verdict == .pass && !output.settings.isVerbose
    }

    static func style(_ status: CheckResult.Status) -> Styled.Style {
        switch status {
        case .fail: .bad
        case .warn: .caution
        case .pass: .good
        case .skip: .plain
        }
    }
}
