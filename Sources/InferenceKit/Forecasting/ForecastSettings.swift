import HubCore
import ModelFormats

/// `chronos_config` of config.json.
struct ForecastSettings: Sendable {
    let bins: SeriesBins
    /// The most values that are forecast.
    let horizon: Int
    /// The number of paths that are drawn.
    let samples: Int
    /// How a path is drawn.
    let config: GenerateConfig
    /// What a path never has; nil for nothing.
    let end: Int?

    /// - Throws: ``ErrorCode/unsupportedModel`` for a model that forecasts nothing, or in another way,
    ///   ``ErrorCode/malformedModel`` for settings that are missing or contradict each other.
    init(_ configuration: ModelConfiguration, vocabulary: Int) throws(AIError) {
        let path = configuration.path
        guard let told = configuration.settings["chronos_config"] else {
            throw .unsupported(path, "the model forecasts no series")
        }
        let kind = told["tokenizer_class"]?.string ?? "none"
        guard kind == "MeanScaleUniformBins", told["model_type"]?.string == "seq2seq" else {
            throw .unsupported(path, "series as \(kind.printable) cannot be run yet")
        }
        func number(_ value: JSON?, _ name: String) throws(AIError) -> Double {
            guard let value = value?.double, value.isFinite else {
                throw .malformed(path, "chronos_config has no \(name)")
            }
            return value
        }
        func count(_ name: String, atMost most: Int = 1 << 20) throws(AIError) -> Int {
            guard let value = Int(exactly: try number(told[name], name)), (0...most).contains(value) else {
                throw .malformed(path, "\(name) of chronos_config is no size up to \(most)")
            }
            return value
        }
        func size(_ name: String, atMost most: Int = 1 << 20) throws(AIError) -> Int {
            let value = try count(name, atMost: most)
            guard value > 0 else { throw .malformed(path, "\(name) of chronos_config is 0") }
            return value
        }
        let ending = try count("eos_token_id")
        let limits = told["tokenizer_kwargs"]
        bins = try SeriesBins(
            low: number(limits?["low_limit"], "low_limit"), high: number(limits?["high_limit"], "high_limit"),
            tokens: size("n_tokens", atMost: vocabulary), specials: count("n_special_tokens", atMost: vocabulary),
            end: told["use_eos_token"]?.bool == true ? ending : nil, contextLength: size("context_length"),
            path: path)
        end = ending
        horizon = try size("prediction_length")
        samples = try size("num_samples", atMost: 10_000)
        let share = try number(told["top_p"], "top_p")
        config = GenerateConfig(
            maxTokens: horizon, temperature: try number(told["temperature"], "temperature"),
            topK: try size("top_k"), topP: share < 1 ? share : nil)
        try config.validate()
    }
}

/// Bans the token that ends a text: a forecast is as long as asked for.
final class EndMask: TokenMask {
    private let end: Int?
    init(_ end: Int?) { self.end = end }
    func ban(in logits: UnsafeMutableBufferPointer<Float>) {
        if let end, end < logits.count { logits[end] = -.infinity }
    }
    func accept(_ id: Int) {}
}
