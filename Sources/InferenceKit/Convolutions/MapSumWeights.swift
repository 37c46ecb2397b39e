import CKernels
import HubCore

/// Planes of several sizes to one of labels. What reads them side by side is linear, and so is enlarging: each plane goes
/// through both matrices, multiplied with each other, as small as it is, and is enlarged then.
struct MapSumWeights: Sendable {
    private let parts: [ConvolutionWeights]
    private let activation: ConvolutionNet.Activation?
    private let classifier: ConvolutionWeights

    init(_ sum: ConvolutionNet.MapSum, _ source: TensorSource) throws(AIError) {
        let (fuse, bias) = try ConvolutionWeights.numbers(sum.fuse, prefix: "", source)
        let (count, width) = (sum.projections.count, sum.fuse.outputs)
        var parts: [ConvolutionWeights] = []
        for (index, projection) in sum.projections.enumerated() {
            let (inner, shift) = try ConvolutionWeights.numbers(projection, prefix: "", source)
            let place = (count - 1 - index) * projection.outputs
            let (made, added) = Self.product(
                fuse, columns: sum.fuse.inputs, from: place, inner, shift, inputs: projection.inputs)
            // What the matrix of all adds is added once.
            let all = index == 0 ? zip(added, bias).map(+) : added
            parts.append(
                ConvolutionWeights(sum.joined(projection.inputs), matrix: made, rows: width, bias: FloatBuffer(all))
            )
        }
        self.parts = parts
        activation = sum.fuse.activation
        classifier = try ConvolutionWeights(sum.classifier, prefix: "", source)
    }

    /// Some columns of a matrix, as many as another one has outputs, times that one, `[rows][inputs]`; and times its bias.
    private static func product(
        _ left: [Float], columns: Int, from first: Int, _ right: [Float], _ bias: [Float], inputs: Int
    ) -> (FloatBuffer, [Float]) {
        let (rows, inner) = (left.count / columns, bias.count)
        let made = FloatBuffer(rows * inputs)
        made.start.update(repeating: 0, count: made.count)
        var added = [Float](repeating: 0, count: rows)
        right.withUnsafeBufferPointer { right in
            for row in 0..<rows {
                let out = made.start + row * inputs
                for place in 0..<inner {
                    let factor = left[row * columns + first + place]
                    added[row] += factor * bias[place]
                    let read = right.baseAddress! + place * inputs
                    for input in 0..<inputs { out[input] += factor * read[input] }
                }
            }
        }
        return (made, added)
    }

    /// - Parameter planes: they are given back.
    func apply(_ planes: [ConvolutionPlane], _ space: ConvolutionSpace) -> ConvolutionPlane {
        let sum = parts[0].apply(planes[0], space)
        for (part, plane) in zip(parts, planes).dropFirst() {
            let small = part.apply(plane, space)
            PlaneResizing.resize(small, keepsCorners: false, adds: true, into: sum, space.team)
            space.give(back: small)
        }
        if let activation {
            let size = sum.size
            hub_activate(
                space.team.team, activation.kernel, sum.start, nil, size.channels, size.places, size.channels,
                sum.start)
        }
        let out = classifier.apply(sum, space)
        for plane in planes + [sum] { space.give(back: plane) }
        return out
    }
}

/// Planes in other sizes.
enum PlaneResizing {
    /// - Parameters:
    ///   - keepsCorners: whether the centres of the outermost places stay where they are, and not the edges.
    ///   - adds: whether it is added to what is there.
    static func resize(
        _ plane: ConvolutionPlane, keepsCorners: Bool, adds: Bool = false, into out: ConvolutionPlane,
        _ team: ComputeTeam
    ) {
        precondition(plane.size.channels == out.size.channels)
        var resizing = hub_resizing(
            x: plane.start, height: plane.size.height, width: plane.size.width, channels: plane.size.channels,
            rows: out.size.height, columns: out.size.width, keeps_corners: keepsCorners)
        withExtendedLifetime((plane, out)) { hub_resize_places(team.team, &resizing, adds, out.start) }
    }
}
