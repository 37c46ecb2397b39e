import CKernels
import HubCore

/// A mixture of experts in place of a layer's feed-forward half.
///
/// Rows are gathered by expert; the products of all experts are one round of the team. A row's results are added in the
/// order of its experts, so that its bits depend on nothing else.
struct ExpertsBlock: Sendable {
    private let description: ModelDescription.Experts
    private let router: Linear
    /// Before the router, over the root of the width; nil for none.
    private let norm: NormBlock?
    private let routing: RoutingBlock
    /// nil for plain ones.
    private let gates: ExpertMatrices?
    private let ups: ExpertMatrices?
    /// Both in one, their outputs alternating; then there is none of those.
    private let pairs: ExpertMatrices?
    private let downs: ExpertMatrices
    private let shared: FeedForwardBlock?
    /// Makes the factor of what the shared one gives; nil for none.
    private let scoring: Linear?

    init(_ d: ModelDescription.Experts, _ layer: Int, _ table: TensorTable) throws(AIError) {
        description = d
        router = try table.linear(.router, layer)
        if let epsilon = d.routing.norm {
            let root = 1 / Float(router.columns).squareRoot()
            norm = NormBlock(weight: try table.vector(.routerNorm, layer).array.map { $0 * root }, epsilon: epsilon)
        } else {
            norm = nil
        }
        routing = RoutingBlock(
            d, bias: try table.bias(.choiceBias, layer),
            factors: d.routing.hasFactors ? try table.vector(.expertFactors, layer) : nil)
        let alternates = d.isGated && table.gatesAlternate
        gates = d.isGated && !alternates ? try table.experts(.expertGate, layer) : nil
        ups = alternates ? nil : try table.experts(.expertUp, layer)
        pairs = alternates ? try table.alternatingExperts(layer) : nil
        downs = try table.experts(.expertDown, layer)
        shared = d.shared == nil ? nil : try FeedForwardBlock(sharedOf: d, layer, table)
        scoring = try table.optionalLinear(.sharedScore, layer)
    }

    /// `[rows][width]` to `[rows][width]`.
    ///
    /// - Parameter stream: the rows before the experts' norm.
    func apply(_ x: FloatBuffer, of stream: FloatBuffer, rows: Int, _ w: Workspace, into out: FloatBuffer) {
        guard let space = w.experts else { preconditionFailure("the workspace is another model's") }
        let width = router.columns
        // A small error may choose other experts, so these are exact always.
        norm?.apply(stream.start, rows: rows, w.team, into: out.start)
        w.multiply(
            norm == nil ? x : out, rows: rows, columns: width, isExact: true, [(router, space.scores.start)])
        let plan = Plan(count: description.count, rows: rows, used: description.used) { row in
            routing.choose(space.scores.start + row * description.count)
        }
        out.start.update(repeating: 0, count: rows * width)
        var first = 0
        while first < plan.sources.count {
            let end = min(plan.sources.count, first + space.capacity)
            for place in first..<end {
                (space.gathered.start + (place - first) * width).update(
                    from: x.start + plan.sources[place] * width, count: width)
            }
            compute(plan.pieces(first..<end), rows: end - first, width, space, w)
            hub_combine(
                w.team.team, space.gathered.start, first, end, plan.places, plan.weights, description.used,
                out.start, rows, width)
            first = end
        }
        addShared(x, rows: rows, width, space, w, into: out)
    }

    /// Puts gathered rows through their experts, in place.
    private func compute(
        _ pieces: [(expert: Int, rows: Range<Int>)], rows: Int, _ width: Int, _ space: ExpertSpace, _ w: Workspace
    ) {
        let inner = description.width
        w.multiply(
            columns: width,
            pieces.map { expert, rows in
                let at = rows.lowerBound * inner
                let products = [
                    gates?.product(expert, space.gate.start + at),
                    ups?.product(expert, (gates == nil ? space.gate : space.up).start + at),
                    pairs?.product(expert, space.pairs.start + 2 * at),
                ]
                return .init(
                    values: space.gathered.start + rows.lowerBound * width, rows: rows.count,
                    products: products.compactMap { $0 })
            })
        if pairs != nil {
            hub_split(w.team.team, space.pairs.start, rows, inner, space.gate.start, space.up.start)
        }
        hub_activate(
            w.team.team, description.activation.kernel, space.gate.start,
            description.isGated ? space.up.start : nil, inner, rows, inner, space.gate.start)
        w.multiply(
            columns: inner,
            pieces.map { expert, rows in
                let product = downs.product(expert, space.gathered.start + rows.lowerBound * width)
                return .init(
                    values: space.gate.start + rows.lowerBound * inner, rows: rows.count, products: [product])
            })
    }

    private func addShared(
        _ x: FloatBuffer, rows: Int, _ width: Int, _ space: ExpertSpace, _ w: Workspace, into out: FloatBuffer
    ) {
        guard let shared else { return }
        shared.apply(x, rows: rows, w, into: space.gathered)
        var factors = [Float](repeating: 1, count: rows)
        if let scoring {
            w.multiply(x, rows: rows, columns: width, isExact: true, [(scoring, space.scores.start)])
            for row in 0..<rows { factors[row] = RoutingBlock.sigmoid(space.scores.start[row]) }
        }
        hub_combine(
            w.team.team, space.gathered.start, 0, rows, (0..<UInt32(rows)).map { $0 }, factors, 1, out.start, rows,
            width)
    }
}

extension ExpertsBlock {
    /// Which rows go through which experts.
    private struct Plan {
        /// The row of each place; the places of an expert stand together.
        private(set) var sources: [Int]
        /// The first place of each expert, and the end.
        private let starts: [Int]
        // [rows][used]
        private(set) var places: [UInt32]
        private(set) var weights: [Float]

        init(count: Int, rows: Int, used: Int, _ choose: (Int) -> [(expert: Int, weight: Float)]) {
            let choices = (0..<rows).map(choose)
            var next = [Int](repeating: 0, count: count + 1)
            for (expert, _) in choices.joined() { next[expert + 1] += 1 }
            for expert in 0..<count { next[expert + 1] += next[expert] }
            starts = next
            sources = Array(repeating: 0, count: rows * used)
            (places, weights) = ([], [])
            for (row, chosen) in choices.enumerated() {
                for (expert, weight) in chosen {
                    sources[next[expert]] = row
                    places.append(UInt32(next[expert]))
                    weights.append(weight)
                    next[expert] += 1
                }
            }
        }

        /// The experts of some places, with the rows that are theirs, from the first of the places.
        func pieces(_ range: Range<Int>) -> [(expert: Int, rows: Range<Int>)] {
            (0..<starts.count - 1).compactMap { expert in
                let own = (starts[expert]..<starts[expert + 1]).clamped(to: range)
                guard !own.isEmpty else { return nil }
                return (expert, own.lowerBound - range.lowerBound..<own.upperBound - range.lowerBound)
            }
        }
    }
}

extension ExpertMatrices {
    /// An expert's product.
    fileprivate func product(_ expert: Int, _ out: UnsafeMutablePointer<Float>) -> Workspace.Group.Product {
        let matrix = matrices[expert]
        return .init(matrix: matrix, bias: biases.map { UnsafePointer($0.start + expert * matrix.rows) }, out: out)
    }
}
