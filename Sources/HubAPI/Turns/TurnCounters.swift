import HubServer
import InferenceKit

/// What generating adds to the metrics.
struct TurnCounters: Sendable {
    private let metrics: ServerMetrics

    init(_ metrics: ServerMetrics) {
        self.metrics = metrics
        metrics.declare("hub_prompt_tokens_total", type: "counter", "Tokens of prompts, cached ones included.")
        metrics.declare("hub_generated_tokens_total", type: "counter", "Tokens generated.")
        metrics.declare(
            "hub_time_to_first_token_seconds", bounds: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
            "From a request to the first token of its text.")
    }

    func first(after seconds: Double) { metrics.observe("hub_time_to_first_token_seconds", seconds) }

    func ended(_ result: GenerationResult) {
        metrics.add("hub_prompt_tokens_total", Double(result.promptIDs.count))
        metrics.add("hub_generated_tokens_total", Double(result.ids.count))
    }

    /// Tokens that were read for vectors or scores.
    func read(_ tokens: Int) { metrics.add("hub_prompt_tokens_total", Double(tokens)) }
}
