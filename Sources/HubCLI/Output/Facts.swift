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
    /// `needs about 360 kB (weights + 20%); this machine has 16.5 GB`
    ///
    /// - Parameter subject: which set of weights is meant, where there are several.
    func sentence(_ subject: String? = nil, of total: Int64) -> String {
        let basis = context.map { "weights + a \(Humanize.grouped($0))-token context" } ?? "weights + 20%"
        let start = subject.map { "\($0) needs" } ?? "needs"
        return "\(start) about \(ByteCount(bytes)) (\(basis)); this machine has \(ByteCount(total))"
    }
}
