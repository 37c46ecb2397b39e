import InferenceKit

/// Shows an answer as it comes: the text as it is. The reasoning before it is dimmed on a terminal with color, folded into
/// a line on one without, and left out elsewhere, where the text alone is wanted.
struct AnswerPrinter {
    private let output: Output
    /// Whether reasoning was shown that the text has to be set apart from.
    private var isReasoning = false
    private var hasText = false
    /// Whether the last line that was written has its end.
    private var isAtLineStart = true

    init(_ output: Output) { self.output = output }

    mutating func show(_ chunk: GenerationChunk) {
        if !chunk.reasoning.isEmpty, output.mode == .human, output.settings.outputIsTerminal, !hasText {
            show(reasoning: chunk.reasoning)
        }
        guard !chunk.text.isEmpty else { return }
        if isReasoning, !hasText { output.stream(isAtLineStart ? "\n" : "\n\n") }
        hasText = true
        write(chunk.text, .plain)
    }

    private mutating func show(reasoning text: String) {
        if output.settings.colorsOutput {
            write(text, .faint)
        } else if !isReasoning {
            write("(reasoning, not shown without color)", .faint)
        }
        isReasoning = true
    }

    private mutating func write(_ text: String, _ style: Styled.Style) {
        output.stream(text, style)
        isAtLineStart = text.hasSuffix("\n")
    }

    /// Ends the last line.
    mutating func end() {
        if !isAtLineStart || !hasText { output.stream("\n") }
        isAtLineStart = true
    }
}
