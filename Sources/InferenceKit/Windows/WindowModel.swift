import CKernels
import HubCore
import ModelFormats

/// A transformer with windows and its weights. Pictures go through it one after the other, so what comes out of one does not
/// depend on those beside it.
struct WindowModel: Sendable {
    /// What makes the rows of a stage of four of the one before it each.
    struct Merge: Sendable {
        let norm: RowNorm
        let reduction: Linear
    }

    let net: WindowNet
    private let squares: Linear
    private let squareNorm: RowNorm
    private let merges: [Merge]
    private let layers: [[WindowLayer]]
    private let finalNorm: RowNorm?
    private let classifier: Linear?
    /// Bytes of the stored tensors that were read.
    let weightsBytes: Int64

    /// Maps and checks the tensors.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a tensor that is missing or has another shape,
    ///   ``ErrorCode/unsupportedModel`` for one that is not of this net or has a type without kernels.
    init(_ net: WindowNet, _ source: TensorSource, _ team: ComputeTeam) throws(AIError) {
        try net.checkBeside(source.list.names, source.path)
        self.net = net
        let first = net.stages[0].channels
        squares = Linear(
            matrix: try source.kernel(net.squareName + ".weight", [first, 3, net.patch, net.patch]),
            bias: try source.vector(net.squareName + ".bias", first))
        squareNorm = try RowNorm(net.squareNormName, first, WindowNet.usualEpsilon, source)
        var (merges, layers) = ([Merge](), [[WindowLayer]]())
        for (number, stage) in net.stages.enumerated() {
            if number > 0 { merges.append(try Self.merge(net, number, source)) }
            var list: [WindowLayer] = []
            for layer in 0..<stage.depth {
                list.append(try WindowLayer(net, stage: number, layer: layer, source, team))
            }
            layers.append(list)
        }
        (self.merges, self.layers) = (merges, layers)
        finalNorm =
            net.hasFinalNorm ? try RowNorm(net.finalNormName, net.features, Float(net.epsilon), source) : nil
        if let name = net.classifier, let labels = net.labels {
            classifier = try source.linear(name, rows: labels.count, columns: net.features, bias: name + ".bias")
        } else {
            classifier = nil
        }
        weightsBytes = source.readBytes
        try source.files.checkIntact()
    }

    private static func merge(_ net: WindowNet, _ stage: Int, _ source: TensorSource) throws(AIError) -> Merge {
        let name = net.mergeName(stage)
        return Merge(
            norm: try RowNorm(name + "norm", net.mergeNormWidth(stage), WindowNet.usualEpsilon, source),
            reduction: try source.linear(
                name + "reduction", rows: net.stages[stage].channels, columns: 4 * net.stages[stage - 1].channels,
                bias: nil))
    }

    /// A picture's features, the mean of its last rows, or what the classifier makes of them.
    ///
    /// - Parameters:
    ///   - pixels: `[height][width][3]`.
    ///   - classifies: whether outputs are wanted, if there is a classifier.
    /// - Precondition: the scratch memory has room for it.
    func run(
        _ pixels: [Float], height: Int, width: Int, _ plan: WindowPlan, classifies: Bool, _ space: WindowSpace
    ) -> [Float] {
        let last = rows(pixels, height: height, width: width, plan, space)
        let features = FloatBuffer(net.features)
        hub_sum_places(
            space.team.team, last.start, last.height, last.width, net.features, false, features.start)
        for number in 0..<net.features { features.start[number] /= Float(last.height * last.width) }
        guard classifies, let classifier else { return features.array }
        let outputs = FloatBuffer(classifier.rows)
        space.multiply(features.start, rows: 1, columns: net.features, [(classifier, outputs.start)])
        return withExtendedLifetime(features) { outputs.array }
    }

    /// A picture's rows behind the last norm: `[height][width][features]`, in the scratch memory, where they stay until the
    /// next picture.
    func rows(
        _ pixels: [Float], height: Int, width: Int, _ plan: WindowPlan, _ space: WindowSpace
    ) -> (start: UnsafeMutablePointer<Float>, height: Int, width: Int) {
        precondition(space.extent.holds(WindowExtent(net, plan)))
        embed(pixels, height: height, width: width, plan, space)
        for (number, place) in plan.stages.enumerated() {
            if number > 0 { merge(number, plan, space) }
            compute(layers[number], net.stages[number], place, space)
        }
        let last = plan.stages[plan.stages.count - 1]
        finalNorm?.apply(space.rows.start, rows: last.places, space.team, into: space.rows.start)
        return (space.rows.start, last.height, last.width)
    }

    /// Squares of pixels to rows: of each the first colour, row by row, then the next. Pixels that a square lacks are 0.
    private func embed(_ pixels: [Float], height: Int, width: Int, _ plan: WindowPlan, _ space: WindowSpace) {
        let (side, count, channels) = (net.patch, net.squareCount, net.stages[0].channels)
        let places = plan.height * plan.width
        for first in stride(from: 0, to: places, by: WindowExtent.rowsAtOnce) {
            let rows = min(WindowExtent.rowsAtOnce, places - first)
            space.wide.start.update(repeating: 0, count: rows * count)
            pixels.withUnsafeBufferPointer { pixels in
                for row in 0..<rows {
                    let (top, left) = (
                        (first + row) / plan.width * side, (first + row) % plan.width * side
                    )
                    let out = space.wide.start + row * count
                    for y in 0..<min(side, height - top) {
                        for x in 0..<min(side, width - left) {
                            let from = 3 * ((top + y) * width + left + x)
                            for color in 0..<3 { out[(color * side + y) * side + x] = pixels[from + color] }
                        }
                    }
                }
            }
            let made = space.rows.start + first * channels
            space.multiply(space.wide.start, rows: rows, columns: count, [(squares, made)])
            squareNorm.apply(made, rows: rows, space.team, into: made)
        }
    }

    /// Four rows become one: the two below each other at the left, then those at the right. What is missing is 0.
    private func merge(_ number: Int, _ plan: WindowPlan, _ space: WindowSpace) {
        let (before, after) = (plan.stages[number - 1], plan.stages[number])
        let (width, made) = (net.stages[number - 1].channels, net.stages[number].channels)
        let merge = merges[number - 1]
        for first in stride(from: 0, to: after.places, by: WindowExtent.rowsAtOnce) {
            let rows = min(WindowExtent.rowsAtOnce, after.places - first)
            for row in 0..<rows {
                let (top, left) = (2 * ((first + row) / after.width), 2 * ((first + row) % after.width))
                for part in 0..<4 {
                    let (y, x) = (top + part % 2, left + part / 2)
                    let out = space.wide.start + (4 * row + part) * width
                    if y < before.height, x < before.width {
                        out.update(from: space.rows.start + (y * before.width + x) * width, count: width)
                    } else {
                        out.update(repeating: 0, count: width)
                    }
                }
            }
            let out = space.merged.start + first * made
            if net.version == .first {
                merge.norm.apply(space.wide.start, rows: rows, space.team, into: space.wide.start)
            }
            space.multiply(space.wide.start, rows: rows, columns: 4 * width, [(merge.reduction, out)])
            if net.version == .second { merge.norm.apply(out, rows: rows, space.team, into: out) }
        }
        space.rows.start.update(from: space.merged.start, count: after.places * made)
    }
}
