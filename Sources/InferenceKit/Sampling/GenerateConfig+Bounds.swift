package import HubCore

extension GenerateConfig {
    /// The range of each number of a request, on the command line, in every protocol of the API and in the library.
    package enum Bounds {
        /// Tokens of a text; more than any context has.
        package static let maxTokens = 0...1 << 30
        package static let temperature = 0.0...100
        package static let topK = 1...1_000_000
        /// ``GenerateConfig/topP``, ``GenerateConfig/minP`` and ``GenerateConfig/typicalP``.
        package static let share = 0.0...1
        /// With the largest logits and the smallest penalty a logit is still a finite number or an infinite one, never NaN.
        package static let repetitionPenalty = 0.01...100
        /// ``GenerateConfig/frequencyPenalty`` and ``GenerateConfig/presencePenalty``.
        package static let penalty = -100.0...100
        package static let penaltyWindow = 0...1 << 30
        package static let bias = -1000.0...1000
        package static let topLogprobs = 0...20
        package static let stopSequences = 64
    }

    /// Checks every number.
    ///
    /// - Parameter vocabulary: the number of tokens, if known: an id of a bias must be below.
    /// - Throws: ``ErrorCode/invalidInput`` for the first field that is out of range.
    package func validate(vocabulary: Int = .max) throws(AIError) {
        func check<Value>(_ name: String, _ value: Value?, _ range: ClosedRange<Value>) throws(AIError) {
            guard let value, !range.contains(value) else { return }
            throw AIError(
                .invalidInput, "\(name) must be from \(range.lowerBound) to \(range.upperBound), not \(value)")
        }
        try check("max tokens", maxTokens, Bounds.maxTokens)
        try check("the temperature", temperature, Bounds.temperature)
        try check("top-k", topK, Bounds.topK)
        try check("top-p", topP, Bounds.share)
        try check("min-p", minP, Bounds.share)
        try check("typical-p", typicalP, Bounds.share)
        for (id, bias) in logitBias.sorted(by: { $0.key < $1.key }) {
            guard id >= 0 && id < vocabulary else {
                throw AIError(.invalidInput, "the logit bias names token \(id); the model has no such token")
            }
            try check("the logit bias of token \(id)", bias, Bounds.bias)
        }
        try check("the repetition penalty", repetitionPenalty, Bounds.repetitionPenalty)
        try check("the frequency penalty", frequencyPenalty, Bounds.penalty)
        try check("the presence penalty", presencePenalty, Bounds.penalty)
        try check("the penalties' window", penaltyWindow, Bounds.penaltyWindow)
        try check("top logprobs", topLogprobs, Bounds.topLogprobs)
        guard !stopSequences.contains("") else { throw AIError(.invalidInput, "a stop sequence is empty") }
        guard stopSequences.count <= Bounds.stopSequences else {
            throw AIError(.invalidInput, "there can be at most \(Bounds.stopSequences) stop sequences")
        }
    }
}
