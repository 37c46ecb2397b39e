import CKernels
import HubCore
import Libc

/// The way into several residual streams, and out of them.
struct StreamsBlock: Sendable {
    private let inputs: [Linear]
    private let outputs: [Linear]

    init(_ d: ModelDescription.Streams, _ table: TensorTable) throws(AIError) {
        var (inputs, outputs) = ([Linear](), [Linear]())
        for stream in 1..<d.count {
            inputs.append(try table.linear(.streamInput(stream)))
            outputs.append(try table.linear(.streamOutput(stream)))
        }
        (self.inputs, self.outputs) = (inputs, outputs)
    }

    /// Makes the streams, `[streams][rows][width]`, of the embedding.
    func enter(rows: Int, _ w: Workspace) {
        let (width, streams) = (inputs[0].columns, w.streams.start)
        let size = rows * width
        streams.update(from: w.hidden.start, count: size)
        let products = inputs.enumerated().map { ($1, streams + ($0 + 1) * size) }
        w.multiply(w.hidden, rows: rows, columns: width, products)
        for stream in 1...inputs.count { Self.equalise(streams + stream * size, to: streams, rows, width, w) }
    }

    /// Makes the rows that go to the last norm.
    func leave(rows: Int, _ w: Workspace) {
        let (width, streams) = (inputs[0].columns, w.streams.start)
        let size = rows * width
        w.hidden.start.update(from: streams, count: size)
        for (index, output) in outputs.enumerated() {
            w.multiply(
                w.streams, from: (index + 1) * rows, rows: rows, columns: width, [(output, w.branch.start)])
            Self.equalise(w.branch.start, to: streams, rows, width, w)
            hub_add(w.team.team, w.hidden.start, w.branch.start, 1, size)
        }
        hub_scale(w.team.team, w.hidden.start, 1 / Float(outputs.count + 1), size)
    }

    /// Gives each row the length of another one.
    private static func equalise(
        _ x: UnsafeMutablePointer<Float>, to other: UnsafeMutablePointer<Float>, _ rows: Int, _ width: Int,
        _ w: Workspace
    ) {
        for row in 0..<rows {
            let (at, wanted) = (x + row * width, meanSquare(other + row * width, width))
            let factor = (wanted / max(meanSquare(at, width), 1e-5)).squareRoot()
            hub_scale(w.team.team, at, Float(factor), width)
        }
    }

    private static func meanSquare(_ x: UnsafePointer<Float>, _ count: Int) -> Double {
        var sum = 0.0
        for i in 0..<count { sum += Double(x[i]) * Double(x[i]) }
        return sum / Double(count)
    }
}

/// What a layer does to the streams: before it each is mixed of all, after it each is moved by what the layer changed.
/// How much depends on the row.
struct StreamMixBlock: Sendable {
    private let count: Int
    private let router: Linear
    private let norm: NormBlock
    /// `[streams * streams][streams]` and `[streams][streams]`
    private let prediction: [Float]
    private let correction: [Float]
    /// nil for none.
    private let scale: [Float]?

    init(_ d: ModelDescription.Streams, _ layer: Int, _ table: TensorTable) throws(AIError) {
        count = d.count
        router = try table.linear(.streamRouter, layer)
        norm = try NormBlock(d.norm, .streamRouterNorm, layer, table)
        prediction = try table.matrix(.streamPrediction, layer).widened().array
        correction = try table.matrix(.streamCorrection, layer).widened().array
        scale = d.scalesCorrection ? try table.vector(.streamScale, layer).array : nil
    }

    /// Fills the workspace's predicted streams, and its residual stream with the first of them.
    func predict(rows: Int, _ w: Workspace) {
        let (width, modes) = (router.columns, modes(of: w.streams.start, rows, w))
        let size = rows * width
        w.predicted.start.update(from: w.streams.start, count: count * size)
        let places = (0..<rows).flatMap { row in (0..<count).map { UInt32($0 * rows + row) } }
        for stream in 0..<count {
            let matrix = prediction[stream * count * count..<(stream + 1) * count * count]
            let weights = modes.flatMap { Self.product(matrix, $0) }
            hub_combine(
                w.team.team, w.streams.start, 0, count * rows, places, weights, count,
                w.predicted.start + stream * size, rows, width)
        }
        w.hidden.start.update(from: w.predicted.start, count: size)
    }

    /// Makes the streams of the predicted ones and of what the layer made of the first, the workspace's residual stream.
    func correct(rows: Int, _ w: Workspace) {
        let (width, modes) = (router.columns, modes(of: w.hidden.start, rows, w))
        let size = rows * width
        hub_add(w.team.team, w.hidden.start, w.predicted.start, -1, size)
        w.streams.start.update(from: w.predicted.start, count: count * size)
        let places = (0..<rows).map { UInt32($0) }
        let weights = modes.map { Self.product(correction[...], $0) }
        for stream in 0..<count {
            hub_combine(
                w.team.team, w.hidden.start, 0, rows, places, weights.map { $0[stream] + 1 }, 1,
                w.streams.start + stream * size, rows, width)
        }
        w.hidden.start.update(from: w.streams.start, count: size)
        guard let scale else { return }
        for row in 0..<rows {
            let out = w.hidden.start + row * width
            for i in 0..<width { out[i] *= scale[i] }
        }
    }

    /// The streams that take what comes of ``LayerInputs``: all but the first.
    func others(rows: Int, _ w: Workspace) -> [UnsafeMutablePointer<Float>] {
        (1..<count).map { w.streams.start + $0 * rows * router.columns }
    }

    /// What the mixing of each row depends on, from -1 to 1.
    private func modes(of x: UnsafeMutablePointer<Float>, _ rows: Int, _ w: Workspace) -> [[Float]] {
        let width = router.columns
        norm.apply(x, rows: rows, w.team, into: w.normed.start)
        hub_scale(w.team.team, w.normed.start, 1 / Float(width), rows * width)
        w.multiply(w.normed, rows: rows, columns: width, isExact: true, [(router, w.branch.start)])
        return (0..<rows).map { row in (0..<count).map { Float(tanh(Double(w.branch.start[row * count + $0]))) } }
    }

    /// A matrix times a vector.
    private static func product(_ matrix: ArraySlice<Float>, _ x: [Float]) -> [Float] {
        (0..<matrix.count / x.count).map { row in
            var sum: Float = 0
            for (i, value) in x.enumerated() { sum += matrix[matrix.startIndex + row * x.count + i] * value }
            return sum
        }
    }
}
