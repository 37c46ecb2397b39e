import Libc

/// Chooses the experts of a row by the router's scores.
struct RoutingBlock: Sendable {
    private let routing: ModelDescription.Routing
    private let count: Int
    private let used: Int
    /// Added for the choice alone; nil for none.
    private let bias: [Float]?
    /// Of each expert's weights; nil for none.
    private let factors: [Float]?

    init(_ experts: ModelDescription.Experts, bias: FloatBuffer?, factors: FloatBuffer?) {
        (routing, count, used) = (experts.routing, experts.count, experts.used)
        (self.bias, self.factors) = (bias?.array, factors?.array)
    }

    /// The experts of a row, in their order, with their weights.
    ///
    /// - Parameter scores: the router's, of all experts; they are changed.
    func choose(_ scores: UnsafeMutablePointer<Float>) -> [(expert: Int, weight: Float)] {
        switch routing.scores {
        case .softmax: Self.softmax(UnsafeMutableBufferPointer(start: scores, count: count))
        case .sigmoid: for i in 0..<count { scores[i] = Self.sigmoid(scores[i]) }
        case .softmaxOfChosen: break
        case .oneByOne(let margin): return oneByOne(scores, margin)
        }
        var ranks = Array(UnsafeBufferPointer(start: scores, count: count))
        if let bias { for i in 0..<count { ranks[i] += bias[i] } }
        if let groups = routing.groups { Self.keep(groups, of: &ranks) }
        let chosen = Self.best(used, of: ranks).sorted()
        var weights = chosen.map { scores[$0] }
        if routing.scores == .softmaxOfChosen { weights.withUnsafeMutableBufferPointer { Self.softmax($0) } }
        if routing.renormalizes {
            // Sigmoids may all be 0.
            let sum = Float(weights.reduce(0) { $0 + Double($1) } + routing.leastSum)
            for i in weights.indices { weights[i] /= sum }
        }
        return zip(chosen, weights).map { ($0, $1 * routing.factor * (factors?[$0] ?? 1)) }
    }

    /// See ``ModelDescription/Routing/Scores/oneByOne(margin:)``.
    private func oneByOne(_ scores: UnsafeMutablePointer<Float>, _ margin: Float) -> [(expert: Int, weight: Float)]
    {
        var left = Array(UnsafeBufferPointer(start: scores, count: count))
        var chosen: [(expert: Int, weight: Float)] = []
        for _ in 0..<used {
            let first = Self.best(1, of: left)[0]
            let largest = left[first]
            var sum = 0.0
            for i in left.indices where !((largest - scores[i]) / max(abs(scores[i]), largest) > margin) {
                sum += exp(Double(left[i] - largest))
            }
            chosen.append((first, Float(1 / sum)))
            left[first] = -.infinity
        }
        return chosen.sorted { $0.expert < $1.expert }
    }

    static func sigmoid(_ x: Float) -> Float { Float(1 / (1 + exp(-Double(x)))) }

    private static func softmax(_ x: UnsafeMutableBufferPointer<Float>) {
        let largest = x.max() ?? 0
        var sum = 0.0
        for i in x.indices { sum += exp(Double(x[i] - largest)) }
        for i in x.indices { x[i] = Float(exp(Double(x[i] - largest)) / sum) }
    }

    /// The places of the largest numbers; of equals the first.
    private static func best(_ wanted: Int, of x: some RandomAccessCollection<Float>) -> [Int] {
        var left = Array(x)
        return (0..<wanted).map { _ in
            var best = -1
            for i in left.indices where !left[i].isNaN && (best < 0 || left[i] > left[best]) { best = i }
            // Where all are NaN, so is the answer, whatever is chosen.
            if best < 0 { best = left.indices.first { left[$0].isNaN && left[$0].sign == .plus } ?? 0 }
            left[best] = -.nan
            return best
        }
    }

    /// Takes the experts of all but the best groups out of the choice.
    private static func keep(_ groups: ModelDescription.Routing.Groups, of ranks: inout [Float]) {
        let size = ranks.count / groups.count
        let sums = (0..<groups.count).map { group in
            let members = ranks[group * size..<(group + 1) * size]
            return best(groups.counted, of: members).reduce(0) { $0 + members[members.startIndex + $1] }
        }
        let kept = Set(best(groups.used, of: sums))
        for i in ranks.indices where !kept.contains(i / size) { ranks[i] = -.infinity }
    }
}
