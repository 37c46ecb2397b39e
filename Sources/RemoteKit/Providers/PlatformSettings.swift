import HubCore
import InferenceKit

extension GenerateConfig {
    /// The fields beside the number of tokens and the temperature that differ from doing nothing, by their names.
    private var fields: [String] {
        [
            ("topK", topK != nil), ("topP", topP != nil), ("minP", minP != nil), ("typicalP", typicalP != nil),
            ("logitBias", !logitBias.isEmpty), ("repetitionPenalty", repetitionPenalty != 1),
            ("a limit of no tokens", maxTokens < 1), ("penaltyWindow", penaltyWindow != nil),
            ("frequencyPenalty", frequencyPenalty != 0), ("presencePenalty", presencePenalty != 0),
            ("stopSequences", !stopSequences.isEmpty), ("seed", seed != nil),
            ("ignoresEndOfSequence", ignoresEndOfSequence), ("topLogprobs", topLogprobs != nil),
            ("translation", translation != nil),
        ].filter { $0.1 }.map { $0.0 }
    }

    /// Refuses every field that a provider does not take.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` naming the first.
    func require(only taken: Set<String>, at name: String) throws(AIError) {
        try validate()
        if let other = fields.first(where: { !taken.contains($0) }) {
            throw AIError(
                .invalidInput, "\(name) cannot take \(other)", advice: "leave it out, or use another provider")
        }
    }
}
