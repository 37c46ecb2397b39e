import CKernels
import HubCore
import Libc

/// Samples tokens from logits according to a ``GenerateConfig``. The same seed gives the same tokens.
///
/// The settings always leave at least one token, so that a choice is always possible.
struct Sampler {
    private struct Candidate {
        var id: Int
        var weight: Double

        /// By probability, ties by smaller id, so that the order is unique.
        func goesBefore(_ other: Candidate) -> Bool {
            weight != other.weight ? weight > other.weight : id < other.id
        }
    }

    private let config: GenerateConfig
    private var random: Xoshiro256
    private var penalties: Penalties
    private let mask: (any TokenMask)?

    /// - Parameters:
    ///   - prompt: Ids that the repetition penalty counts as seen.
    ///   - mask: Bans tokens; nil for none.
    init(_ config: GenerateConfig, seed: UInt64, prompt: [Int], mask: (any TokenMask)? = nil) {
        self.config = config
        self.mask = mask
        random = Xoshiro256(seed: seed)
        penalties = Penalties(config, prompt: prompt)
    }

    /// Chooses the next token and remembers it.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` if a logit is NaN.
    mutating func next(_ logits: UnsafeBufferPointer<Float>) throws(AIError) -> Int {
        let likeliest = hub_argmax(logits.baseAddress, logits.count)
        guard likeliest < logits.count, logits[likeliest] > -.infinity, logits[likeliest] < .infinity else {
            throw .notFinite
        }
        let id = try choose(logits, likeliest)
        remember(id)
        return id
    }

    /// Counts a token as chosen that nothing else could have been.
    mutating func remember(_ id: Int) {
        penalties.add(id)
        mask?.accept(id)
    }

    private mutating func choose(_ logits: UnsafeBufferPointer<Float>, _ likeliest: Int) throws(AIError) -> Int {
        guard changesLogits else {
            return config.isGreedy ? likeliest : draw(logits, likeliest)
        }
        var changed = Array(logits)
        for (id, bias) in config.logitBias where changed.indices.contains(id) { changed[id] += Float(bias) }
        penalties.apply(to: &changed)
        if let mask {
            try changed.withUnsafeMutableBufferPointer { buffer throws(AIError) in try mask.ban(in: buffer) }
        }
        let best = hub_argmax(changed, changed.count)
        guard best < changed.count, changed[best] > -.infinity else {
            throw AIError(.generationFailed, "no token is allowed here")
        }
        return config.isGreedy ? best : changed.withUnsafeBufferPointer { draw($0, best) }
    }

    private var changesLogits: Bool { penalties.isOn || !config.logitBias.isEmpty || mask != nil }

    /// Probabilities up to a common factor, the likeliest being 1: each from 0 to 1, also beside infinite logits.
    private static func weights(
        _ logits: UnsafeBufferPointer<Float>, _ likeliest: Int, _ temperature: Double
    ) -> [Double] {
        let largest = Double(logits[likeliest])
        return logits.map { logit in
            if Double(logit) == largest { return 1 }
            // A temperature near 0 overflows the quotient; exp then gives the limit, the likeliest token alone.
            let weight = exp((Double(logit) - largest) / temperature)
            return weight > 0 ? min(weight, 1) : 0
        }
    }

    /// - Parameter likeliest: the token with the largest logit, which is not -infinity.
    private mutating func draw(_ logits: UnsafeBufferPointer<Float>, _ likeliest: Int) -> Int {
        let weights = Self.weights(logits, likeliest, config.temperature)
        var candidates: [Candidate]
        if let k = config.topK {
            candidates = Self.largest(k, of: weights)
        } else if config.topP ?? 1 < 1 {
            candidates = Self.nucleus(config.topP ?? 1, of: weights)
        } else {
            candidates = weights.indices.map { Candidate(id: $0, weight: weights[$0]) }
        }
        if config.topK != nil, let p = config.topP { Self.cut(&candidates, toProbability: p) }
        // 1 is the likeliest one's weight, so min-p is a plain threshold.
        if let minP = config.minP { candidates.removeAll { $0.weight < minP } }
        if let p = config.typicalP, p < 1 { candidates = Self.typical(p, of: candidates) }

        let total = candidates.reduce(0) { $0 + $1.weight }
        var rest = random.unit() * total
        for candidate in candidates {
            rest -= candidate.weight
            if rest < 0 { return candidate.id }
        }
        // Rounding can leave a remainder; the last drawable candidate takes it.
        return candidates.last { $0.weight > 0 }?.id ?? likeliest
    }

    /// The candidates whose surprise is nearest to the entropy and that together reach a probability, in the order they
    /// came.
    private static func typical(_ p: Double, of candidates: [Candidate]) -> [Candidate] {
        let total = candidates.reduce(0) { $0 + $1.weight }
        func surprise(_ candidate: Candidate) -> Double { -log(candidate.weight / total) }
        let entropy = candidates.reduce(0) { $0 + ($1.weight > 0 ? $1.weight / total * surprise($1) : 0) }
        let order = candidates.indices.filter { candidates[$0].weight > 0 }
            .map { (index: $0, distance: abs(surprise(candidates[$0]) - entropy)) }
            .sorted { $0.distance != $1.distance ? $0.distance < $1.distance : $0.index < $1.index }
        var sum = 0.0
        var kept: Set<Int> = []
        for (index, _) in order where kept.isEmpty || sum < p * total {
            kept.insert(index)
            sum += candidates[index].weight
        }
        return candidates.enumerated().filter { kept.contains($0.offset) }.map(\.element)
    }

    /// The k likeliest, in order, at least one.
    private static func largest(_ k: Int, of weights: [Double]) -> [Candidate] {
        let k = max(1, k)
        guard k < weights.count else { return sorted(weights, above: -1) }
        // Keeps k in a sorted list; most tokens of a vocabulary fail the first comparison.
        var kept: [Candidate] = []
        kept.reserveCapacity(k + 1)
        for (id, weight) in weights.enumerated() {
            let candidate = Candidate(id: id, weight: weight)
            if kept.count == k, !candidate.goesBefore(kept[k - 1]) { continue }
            var low = 0
            var high = kept.count
            while low < high {
                let middle = (low + high) / 2
                if kept[middle].goesBefore(candidate) { low = middle + 1 } else { high = middle }
            }
            kept.insert(candidate, at: low)
            if kept.count > k { kept.removeLast() }
        }
        return kept
    }

    /// The likeliest candidates that together reach a probability. Only possible members are sorted.
    private static func nucleus(_ p: Double, of weights: [Double]) -> [Candidate] {
        let goal = p * weights.reduce(0, +)
        var threshold = 1e-3
        while true {
            var candidates = sorted(weights, above: threshold)
            if candidates.reduce(0, { $0 + $1.weight }) >= goal || threshold == -1 {
                cut(&candidates, toWeight: goal)
                return candidates
            }
            threshold = threshold > 1e-12 ? threshold * 1e-3 : -1
        }
    }

    private static func sorted(_ weights: [Double], above threshold: Double) -> [Candidate] {
        weights.indices.filter { weights[$0] > threshold }.map { Candidate(id: $0, weight: weights[$0]) }
            .sorted { $0.goesBefore($1) }
    }

    private static func cut(_ candidates: inout [Candidate], toProbability p: Double) {
        cut(&candidates, toWeight: p * candidates.reduce(0) { $0 + $1.weight })
    }

    /// Keeps the shortest prefix that reaches a weight, at least one.
    private static func cut(_ candidates: inout [Candidate], toWeight goal: Double) {
        var sum = 0.0
        let end = candidates.firstIndex { candidate in
            sum += candidate.weight
            return sum >= goal
        }
        if let end { candidates.removeSubrange((end + 1)...) }
    }
}
