import InferenceKit

/// Shows an answer as it comes. On a terminal with color it is Markdown, elsewhere the text as it is. The reasoning before
/// it is folded into a line that counts, unless it is asked for; in a pipe the text alone is wanted.
struct AnswerPrinter {
    private let output: Output
    /// Whether reasoning is shown as it comes.
    private let showsReasoning: Bool
    /// nil where the text is shown as it is.
    private var markdown: MarkdownText?
    /// Whether there was reasoning, its lines with text, and whether the last one goes on.
    private var (hasReasoning, reasoningLines, isInLine) = (false, 0, false)
    private var hasText = false
    /// Whether the last line that was written has its end.
    private var isAtLineStart = true

    init(_ context: Context, showsReasoning: Bool = false) {
        output = context.output
        self.showsReasoning = showsReasoning || context.isVerbose
        markdown = Self.markdown(context)
    }

    /// nil where texts are shown as they are.
    private static func markdown(_ context: Context) -> MarkdownText? {
        let settings = context.output.settings
        guard context.mode == .human, settings.outputIsTerminal, settings.colorsOutput else { return nil }
        // The window may have another size than at the start.
        return MarkdownText(
            width: Terminal.size(1)?.columns ?? settings.width ?? 80, isUnicode: context.isUnicode)
    }

    /// A whole answer, its last line ended.
    static func runs(of text: String, _ context: Context) -> [Styled.Run] {
        guard var markdown = markdown(context) else { return [Styled.Run(text: text + "\n", style: .plain)] }
        return markdown.add(text) + markdown.end()
    }

    /// Whether a person sees more than the text.
    private var isShown: Bool { output.mode == .human && output.settings.outputIsTerminal }

    mutating func show(_ chunk: GenerationChunk) {
        if !chunk.reasoning.isEmpty, !hasText { show(reasoning: chunk.reasoning) }
        guard !chunk.text.isEmpty else { return }
        if !hasText { endReasoning() }
        hasText = true
        guard markdown != nil else { return write(chunk.text, .plain) }
        write(markdown?.add(chunk.text) ?? [])
    }

    private mutating func show(reasoning text: String) {
        hasReasoning = true
        for character in text {
            let isEnd = character.isNewline
            if !isEnd, !isInLine { reasoningLines += 1 }
            isInLine = !isEnd
        }
        guard isShown else { return }
        if showsReasoning { return write(text, .faint) }
        // A line in place of the last one, where that is possible.
        if output.settings.colorsOutput, output.settings.errorIsTerminal {
            output.live([counted], width: Terminal.size(2)?.columns ?? 80)
        }
    }

    private var counted: String { "reasoning: \(Humanize.plural(reasoningLines, "line"))" }

    private mutating func endReasoning() {
        guard isShown, hasReasoning else { return }
        if showsReasoning { return write(isAtLineStart ? "\n" : "\n\n", .plain) }
        output.live([], width: 0)
        write("\(counted)\n\n", .faint)
    }

    private mutating func write(_ text: String, _ style: Styled.Style) {
        write([Styled.Run(text: text, style: style)])
    }

    private mutating func write(_ runs: [Styled.Run]) {
        guard let last = runs.last(where: { !$0.text.isEmpty }) else { return }
        output.stream(runs)
        isAtLineStart = last.text.hasSuffix("\n")
    }

    /// Ends the last line.
    mutating func end() {
        if !hasText { endReasoning() }
        write(markdown?.end() ?? [])
        if !isAtLineStart || !hasText { output.stream("\n") }
        isAtLineStart = true
    }
}
