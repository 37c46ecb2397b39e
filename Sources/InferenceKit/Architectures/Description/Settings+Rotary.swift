import HubCore
import ModelFormats
import Libc

extension Settings {
    /// The rotary embedding of a kind of layers. Its settings stand in three ways: `rope_theta` beside `rope_scaling`,
    /// all of it in `rope_parameters` since transformers 5, and there one level deeper where kinds of layers differ.
    ///
    /// - Parameters:
    ///   - headSize: coordinates of a head.
    ///   - kind: `full_attention`, `sliding_attention`, where kinds may differ.
    ///   - base: the base, if the settings do not say.
    ///   - share: of a head that rotates, if the settings do not say.
    /// - Throws: ``ErrorCode/malformedModel`` for values that make no frequencies.
    mutating func rotary(
        headSize: Int, kind: String? = nil, base usual: Double? = nil, share usualShare: Double = 1
    ) throws(AIError) -> ModelDescription.Rotary {
        var scope = rope
        if let kind, let own = scope.scope(kind) { scope = own }
        let base = scope.positive("rope_theta") ?? positive("rope_theta") ?? usual ?? usualBase
        let share = scope.number("partial_rotary_factor") ?? number("partial_rotary_factor") ?? usualShare
        guard share > 0, share <= 1 else {
            throw .malformed(path, "partial_rotary_factor \(share) is not above 0 and at most 1")
        }
        let rotated = isGGUF ? count("rope_dimension_count") ?? headSize : Int(Double(headSize) * share)
        guard rotated % 2 == 0, rotated > 0, rotated <= headSize else {
            throw .malformed(path, "\(rotated) rotating coordinates of a head of \(headSize) are not pairs")
        }
        var rotary = ModelDescription.Rotary(base: base, rotated: rotated)
        let type = scope.text("rope_type") ?? scope.text("type") ?? "default"
        if type == "proportional" {
            guard headSize % 2 == 0 else { throw .malformed(path, "a head of \(headSize) has no pairs") }
            rotary.rotated = headSize
            rotary.scaling = .proportional(
                turning: rotated / 2, factor: scope.has("factor") ? try atLeastOne("factor", scope) : 1)
            return rotary
        }
        if type == "ntk" {
            // Of GTE alone, whatever the length of the text.
            // https://huggingface.co/Alibaba-NLP/new-impl (`NTKScalingRotaryEmbedding`)
            let factor = try atLeastOne("factor", scope)
            rotary.base *= factor
            rotary.scaling = .linear(factor: pow(factor, 2 / Double(rotated)))
            if scope.has("mixed_b") { refuse("rope_scaling with mixed_b") }
        } else {
            rotary.scaling = try scaling(type, scope, rotated: rotated)
        }
        return rotary
    }

    private mutating func scaling(_ type: String, _ scope: SettingScope, rotated: Int) throws(AIError)
        -> ModelDescription.Rotary.Scaling
    {
        let positions = configuration.maxPositions
        let original = scope.positions("original_max_position_embeddings")
        let outer = self.positions("original_max_position_embeddings")
        switch type {
        case "default", "none", "mrope": return .none
        case "linear": return .linear(factor: try atLeastOne("factor", scope))
        case "dynamic":
            return .dynamic(
                factor: try atLeastOne("factor", scope),
                originalPositions: try need(positions, "max_position_embeddings"))
        case "llama3":
            let (low, high) = (try factor("low_freq_factor", scope), try factor("high_freq_factor", scope))
            guard Float(low) > 0, Float(high) > Float(low) else {
                throw .malformed(
                    path, "rope_scaling llama3 needs low_freq_factor below high_freq_factor, both positive")
            }
            return .llama3(
                factor: Float(try atLeastOne("factor", scope)), lowFrequencyFactor: Float(low),
                highFrequencyFactor: Float(high),
                originalPositions: try need(original, "original_max_position_embeddings in rope_scaling"))
        case "yarn": return try yarn(scope, try need(original ?? outer ?? positions, "max_position_embeddings"))
        case "longrope", "su":
            return try long(scope, try need(outer ?? original, "original_max_position_embeddings"), rotated)
        default:
            refuse("rope_scaling", type)
            return .none
        }
    }

    private func yarn(_ scope: SettingScope, _ original: Int) throws(AIError) -> ModelDescription.Rotary.Scaling {
        let factor =
            scope.has("factor")
            ? try atLeastOne("factor", scope) : Double(configuration.maxPositions ?? original) / Double(original)
        func mscale(_ weight: Double) -> Double { factor <= 1 ? 1 : 0.1 * weight * log(factor) + 1 }
        var attention = mscale(1)
        if let told = scope.positive("attention_factor") {
            attention = told
        } else if let one = scope.number("mscale"), let all = scope.number("mscale_all_dim"), one != 0, all != 0 {
            attention = mscale(one) / mscale(all)
        }
        let (fast, slow) = (scope.positive("beta_fast") ?? 32, scope.positive("beta_slow") ?? 1)
        return .yarn(
            factor: factor, originalPositions: original, fast: fast, slow: slow, attention: attention,
            isTruncated: scope.flag("truncate") ?? true)
    }

    /// longrope of a GGUF file.
    func longScaling() throws(AIError) -> ModelDescription.Rotary.Scaling {
        let original = rope.positions("original_max_position_embeddings")
        return try long(rope, try need(original, "rope.scaling.original_context_length"), 0)
    }

    private func long(_ scope: SettingScope, _ original: Int, _ rotated: Int) throws(AIError)
        -> ModelDescription.Rotary.Scaling
    {
        // GGUF keeps the divisors in tensors.
        let short = isGGUF ? [] : try divisors("short_factor", rotated / 2, scope)
        let long = isGGUF ? [] : try divisors("long_factor", rotated / 2, scope)
        let factor = Double(configuration.maxPositions ?? original) / Double(original)
        let usual = factor <= 1 ? 1 : sqrt(1 + log(factor) / log(Double(original)))
        let attention = scope.positive("attention_factor") ?? usual
        return .long(short: short, long: long, originalPositions: original, attention: attention)
    }

    private func factor(_ key: String, _ scope: SettingScope) throws(AIError) -> Double {
        guard let number = scope.number(key) else { throw .malformed(path, "\(scope.name) has no \(key)") }
        return number
    }

    /// As float32, in which factors are used.
    private func atLeastOne(_ key: String, _ scope: SettingScope) throws(AIError) -> Double {
        let number = try factor(key, scope)
        guard Float(number) >= 1 else {
            throw .malformed(path, "\(scope.name): \(key) is \(number), not at least 1")
        }
        return number
    }

    private func divisors(_ key: String, _ count: Int, _ scope: SettingScope) throws(AIError) -> [Double] {
        let numbers = scope.numbers(key) ?? []
        guard numbers.count == count, numbers.allSatisfy({ $0 > 0 }) else {
            throw .malformed(path, "\(scope.name): \(key) is not a list of \(count) positive numbers")
        }
        return numbers
    }
}
