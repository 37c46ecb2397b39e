import InferenceKit

/// Why an answer ends before its end.
enum AnswerEnding {
    /// A sentence about an answer that was cut.
    ///
    /// - Parameter context: the tokens that the model can attend to; nil where that is not known.
    static func cut(_ result: GenerationResult, context: Int?) -> String {
        guard let context, let prompt = result.promptTokens, let answer = result.answerTokens else {
            return "the answer was cut: it reached --max-tokens, or the provider's limit"
        }
        return prompt + answer >= context
            ? "the answer was cut: the context of \(Humanize.grouped(context)) tokens is full"
            : "the answer was cut at --max-tokens, \(Humanize.grouped(answer))"
    }
}
