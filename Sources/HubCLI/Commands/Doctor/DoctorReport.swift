import HubCore

/// How `hub doctor` shows what it found.
struct DoctorReport {
    let context: Context
    let outcomes: [DoctorCommand.Outcome]
    /// Whether `--fix` is worth naming.
    let offersFix: Bool

    func show() {
        context.output.render(json: json, quiet: bad.map { "\($0.finding.section).\($0.finding.name)" }) {
            var section: String?
            for outcome in outcomes {
                if outcome.finding.section != section {
                    if section != nil { context.output.line() }
                    section = outcome.finding.section
                    context.output.line(Styled(outcome.finding.section, .strong))
                }
                show(outcome)
            }
            context.output.line()
            context.output.line(summary)
        }
    }

    private var bad: [DoctorCommand.Outcome] { outcomes.filter(\.isBad) }
    private var fixed: Int { outcomes.count { $0.fixed != nil } }

    private var summary: Styled {
        var parts = [
            bad.isEmpty ? "nothing is wrong" : Humanize.plural(bad.count, "thing is wrong", "things are wrong")
        ]
        if fixed > 0 { parts.append("\(fixed) fixed") }
        let fixable = outcomes.count { $0.fixed == nil && $0.finding.fix != nil }
        if offersFix, fixable > 0 { parts.append("hub doctor fix fixes \(fixable)") }
        return Styled(parts.joined(separator: "; "), bad.isEmpty ? .good : .bad)
    }

    private func show(_ outcome: DoctorCommand.Outcome) {
        let finding = outcome.finding
        let (mark, style) = mark(outcome)
        let texts = wrapped(finding.text)
        context.output.line("  " + Styled(mark, style) + Styled(" " + (texts.first ?? "")))
        for text in texts.dropFirst() { context.output.line(margin + Styled(text)) }
        if let fixed = outcome.fixed {
            for text in wrapped("fixed: \(fixed)") { context.output.line(margin + Styled(text, .good)) }
        } else if let advice = finding.advice {
            for text in wrapped(advice) { context.output.line(margin + Styled(text, .faint)) }
        }
    }

    private func mark(_ outcome: DoctorCommand.Outcome) -> (String, Styled.Style) {
        if outcome.fixed != nil { return (context.isUnicode ? "✓" : "ok", .good) }
        return switch outcome.finding.level {
        case .good: (context.isUnicode ? "✓" : "ok", .good)
        case .note: (context.isUnicode ? "•" : "--", .caution)
        case .bad: (context.isUnicode ? "✗" : "!!", .bad)
        }
    }

    private var markWidth: Int { context.isUnicode ? 1 : 2 }
    private var margin: Styled { Styled(String(repeating: " ", count: 3 + markWidth)) }

    /// In lines as wide as the terminal leaves room for; whole in a pipe.
    private func wrapped(_ text: String) -> [String] {
        let room = context.output.settings.width.map { max(20, $0 - 3 - markWidth) } ?? .max
        return TextWrap.lines(SafeText.lines(text), width: room)
    }

    private var json: JSONObject {
        [
            "findings": .array(
                outcomes.map { outcome in
                    let finding = outcome.finding
                    return .object([
                        "section": .string(finding.section), "name": .string(finding.name),
                        "level": .string(finding.level.rawValue), "text": .string(finding.text),
                        "count": finding.count.map { .int(Int64($0)) },
                        "size_bytes": finding.bytes.map { .int($0) },
                        "advice": finding.advice.map { .string($0) },
                        "fixed": outcome.fixed.map { .string($0) },
                    ])
                }),
            "fixed": .int(Int64(fixed)),
        ]
    }
}
