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
        headSize: Int, kind: String? = nil, base usual: Double = 10_000, share usualShare: Double = 1
    ) throws(AIError) -> ModelDescription.Rotary {
        var scope = object("rope_parameters") ?? object("rope_scaling") ?? JSONObject([])
        if let kind, let own = scope[kind]?.object { scope = own }
        func value(_ key: String) -> JSON? { scope[key].flatMap { $0.isNull ? nil : $0 } }
        let base = value("rope_theta")?.double ?? number("rope_theta") ?? usual
        guard base > 0, base.isFinite else { throw .malformed(path, "rope_theta is not a positive number") }
        let share = value("partial_rotary_factor")?.double ?? number("partial_rotary_factor") ?? usualShare
        guard share > 0, share <= 1 else {
            throw .malformed(path, "partial_rotary_factor \(share) is not above 0 and at most 1")
        }
        let rotated = isGGUF ? count("rope_dimension_count") ?? headSize : Int(Double(headSize) * share)
        guard rotated % 2 == 0, rotated > 0, rotated <= headSize else {
            throw .malformed(path, "\(rotated) rotating coordinates of a head of \(headSize) are not pairs")
        }
        var rotary = ModelDescription.Rotary(base: base, rotated: rotated)
        let type = value("rope_type")?.string ?? value("type")?.string ?? "default"
        let values = RopeScope(members: scope, path: path)
        if type == "proportional" {
            guard headSize % 2 == 0 else { throw .malformed(path, "a head of \(headSize) has no pairs") }
            rotary.rotated = headSize
            rotary.scaling = .proportional(
                turning: rotated / 2, factor: values.has("factor") ? try values.atLeastOne("factor") : 1)
            return rotary
        }
        if type == "ntk" {
            // Of GTE alone, whatever the length of the text.
            // https://huggingface.co/Alibaba-NLP/new-impl (`NTKScalingRotaryEmbedding`)
            let factor = try values.atLeastOne("factor")
            rotary.base *= factor
            rotary.scaling = .linear(factor: pow(factor, 2 / Double(rotated)))
            if values.has("mixed_b") { obstacles.append("rope_scaling with mixed_b") }
        } else {
            rotary.scaling = try scaling(type, values, rotated: rotated)
        }
        return rotary
    }

    private mutating func scaling(_ type: String, _ scope: RopeScope, rotated: Int) throws(AIError)
        -> ModelDescription.Rotary.Scaling
    {
        let positions = configuration.maxPositions
        let original = try scope.count("original_max_position_embeddings")
        let outer = count("original_max_position_embeddings")
        switch type {
        case "default", "none", "mrope": return .none
        case "linear": return .linear(factor: try scope.atLeastOne("factor"))
        case "dynamic":
            return .dynamic(
                factor: try scope.atLeastOne("factor"),
                originalPositions: try need(positions, "max_position_embeddings"))
        case "llama3":
            let (low, high) = (try scope.number("low_freq_factor"), try scope.number("high_freq_factor"))
            guard Float(low) > 0, Float(high) > Float(low), Float(high).isFinite else {
                throw .malformed(
                    path, "rope_scaling llama3 needs low_freq_factor below high_freq_factor, both positive")
            }
            return .llama3(
                factor: Float(try scope.atLeastOne("factor")), lowFrequencyFactor: Float(low),
                highFrequencyFactor: Float(high),
                originalPositions: try need(original, "original_max_position_embeddings in rope_scaling"))
        case "yarn": return try yarn(scope, try need(original ?? outer ?? positions, "max_position_embeddings"))
        case "longrope", "su":
            return try long(scope, try need(outer ?? original, "original_max_position_embeddings"), rotated)
        default:
            obstacles.append("rope_scaling \(type.printable)")
            return .none
        }
    }

    private func yarn(_ scope: RopeScope, _ original: Int) throws(AIError) -> ModelDescription.Rotary.Scaling {
        let factor =
            scope.has("factor")
            ? try scope.atLeastOne("factor") : Double(configuration.maxPositions ?? original) / Double(original)
        func mscale(_ weight: Double) -> Double { factor <= 1 ? 1 : 0.1 * weight * log(factor) + 1 }
        var attention = mscale(1)
        if scope.has("attention_factor") {
            attention = try scope.number("attention_factor")
        } else if let one = scope.members["mscale"]?.double, let all = scope.members["mscale_all_dim"]?.double,
            one != 0, all != 0
        {
            attention = mscale(one) / mscale(all)
        }
        let fast = scope.has("beta_fast") ? try scope.number("beta_fast") : 32
        let slow = scope.has("beta_slow") ? try scope.number("beta_slow") : 1
        guard fast > 0, slow > 0, attention.isFinite else {
            throw .malformed(path, "rope_scaling yarn needs positive beta_fast and beta_slow")
        }
        return .yarn(
            factor: factor, originalPositions: original, fast: fast, slow: slow, attention: attention,
            isTruncated: scope.members["truncate"]?.bool ?? true)
    }

    /// longrope of a GGUF file.
    func longScaling() throws(AIError) -> ModelDescription.Rotary.Scaling {
        let scope = RopeScope(members: object("rope_scaling") ?? JSONObject([]), path: path)
        let original = try scope.count("original_max_position_embeddings")
        return try long(scope, try need(original, "rope.scaling.original_context_length"), 0)
    }

    private func long(_ scope: RopeScope, _ original: Int, _ rotated: Int) throws(AIError)
        -> ModelDescription.Rotary.Scaling
    {
        // GGUF keeps the divisors in tensors.
        let short = isGGUF ? [] : try scope.divisors("short_factor", rotated / 2)
        let long = isGGUF ? [] : try scope.divisors("long_factor", rotated / 2)
        let factor = Double(configuration.maxPositions ?? original) / Double(original)
        var attention = factor <= 1 ? 1 : sqrt(1 + log(factor) / log(Double(original)))
        if scope.has("attention_factor") { attention = try scope.number("attention_factor") }
        return .long(short: short, long: long, originalPositions: original, attention: attention)
    }
}

/// The settings of one rope scaling.
private struct RopeScope {
    let members: JSONObject
    let path: String

    func has(_ key: String) -> Bool { members[key].map { !$0.isNull } ?? false }

    func number(_ key: String) throws(AIError) -> Double {
        guard let number = members[key]?.double, number.isFinite else {
            throw .malformed(path, "rope_scaling has no \(key)")
        }
        return number
    }

    /// As float32, in which factors are used.
    func atLeastOne(_ key: String) throws(AIError) -> Double {
        let number = try number(key)
        guard Float(number) >= 1, Float(number).isFinite else {
            throw .malformed(path, "rope_scaling: \(key) is \(number), not at least 1")
        }
        return number
    }

    func count(_ key: String) throws(AIError) -> Int? {
        guard has(key) else { return nil }
        guard let count = Int(exactly: try number(key)), count > 0 else {
            throw .malformed(path, "rope_scaling: \(key) is not a positive whole number")
        }
        return count
    }

    func divisors(_ key: String, _ count: Int) throws(AIError) -> [Double] {
        let numbers = (members[key]?.array ?? []).compactMap(\.double)
        guard numbers.count == count, numbers.allSatisfy({ $0 > 0 && $0.isFinite }) else {
            throw .malformed(path, "rope_scaling: \(key) is not a list of \(count) positive numbers")
        }
        return numbers
    }
}
