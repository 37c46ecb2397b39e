import HubCore
import ModelFormats

extension Output {
    /// A line of facts for people: what it is about on the left, the text on the right, wrapped below
    /// itself where the terminal is too narrow. Nothing without a text.
    func fact(_ name: String, _ text: String?, _ style: Styled.Style = .plain) {
        guard let text, !text.isEmpty else { return }
        let column = 14
        let safe = SafeText.line(text)
        let lines = settings.width.map { TextWrap.cells(safe, width: max(2, $0 - column)) } ?? [safe]
        for (index, line) in lines.enumerated() {
            let start = index == 0 ? "  " + name : ""
            let padding = String(repeating: " ", count: max(1, column - start.count))
            self.line(Styled(start + padding, .faint) + Styled(line, style))
        }
    }

    /// A line that is cut where the terminal ends.
    func cutLine(_ text: Styled) {
        line(settings.width.map { text.fitted($0, .end, ellipsis: settings.ellipsis) } ?? text)
    }
}

extension MemoryNeed {
    /// `360 kB to run it, of 16.5 GB: its weights and a fifth of them`
    ///
    /// - Parameter subject: what is run.
    func sentence(_ subject: String, of total: Int64) -> String {
        let basis =
            context.map { "its weights, and \(Humanize.grouped($0)) positions by config.json" }
            ?? "its weights and a fifth of them"
        return "\(ByteCount(bytes)) to run \(subject), of \(ByteCount(total)): \(basis)"
    }
}
