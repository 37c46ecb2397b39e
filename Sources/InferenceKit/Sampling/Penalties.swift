/// The penalties on tokens that a text has had already, within a window that moves with the text.
struct Penalties {
    private struct Count {
        /// In the prompt and the text.
        var all = 0
        /// In the text alone.
        var generated = 0
    }

    private let repetition: Float
    private let frequency: Float
    private let presence: Float
    private let window: Int
    private let promptCount: Int
    private var tokens: [Int]
    private var counts: [Int: Count] = [:]

    init(_ config: GenerateConfig, prompt: [Int]) {
        repetition = Float(config.repetitionPenalty)
        frequency = Float(config.frequencyPenalty)
        presence = Float(config.presencePenalty)
        window = config.penaltyWindow ?? .max
        tokens = prompt
        promptCount = prompt.count
        for id in prompt.suffix(window) { counts[id, default: Count()].all += 1 }
    }

    /// Whether any penalty changes logits.
    var isOn: Bool { window > 0 && (repetition != 1 || frequency != 0 || presence != 0) }

    /// Adds the next token of the text.
    mutating func add(_ id: Int) {
        tokens.append(id)
        counts[id, default: Count()].all += 1
        counts[id, default: Count()].generated += 1
        guard tokens.count > window else { return }
        let place = tokens.count - window - 1
        let left = tokens[place]
        counts[left]?.all -= 1
        if place >= promptCount { counts[left]?.generated -= 1 }
        if counts[left]?.all == 0 { counts[left] = nil }
    }

    /// Changes the logits of the tokens in the window. No token is banned: the lowest result is the smallest finite number.
    func apply(to logits: inout [Float]) {
        guard isOn else { return }
        for (id, count) in counts where logits.indices.contains(id) && logits[id] > -.infinity {
            var logit = logits[id]
            if repetition != 1 { logit = logit > 0 ? logit / repetition : logit * repetition }
            if count.generated > 0 { logit -= frequency * Float(count.generated) + presence }
            logits[id] = max(logit, -Float.greatestFiniteMagnitude)
        }
    }
}
