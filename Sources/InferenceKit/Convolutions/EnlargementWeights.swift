import CKernels
import HubCore

/// A transposed convolution whose windows do not overlap: a product that writes where each number belongs.
struct EnlargementWeights: Sendable {
    private let description: ConvolutionNet.Enlargement
    /// For each row of the squares `[column][output]` by inputs.
    private let matrices: [WeightMatrix]
    /// Of a row of a square: the same for each column.
    private let bias: FloatBuffer

    init(_ d: ConvolutionNet.Enlargement, _ source: TensorSource) throws(AIError) {
        description = d
        let (channels, factor) = (d.channels, d.factor)
        let stored = try source.numbers(d.name + ".weight", d.shape)
        let own = try source.vector(d.name + ".bias", channels).array
        bias = FloatBuffer((0..<factor).flatMap { _ in own })
        matrices = (0..<factor).map { y in
            let values = FloatBuffer(factor * channels * channels)
            for x in 0..<factor {
                for output in 0..<channels {
                    let target = values.start + (x * channels + output) * channels
                    for input in 0..<channels {
                        target[input] = stored.start[((input * channels + output) * factor + y) * factor + x]
                    }
                }
            }
            return WeightMatrix(float32: values, rows: factor * channels, columns: channels)
        }
    }

    /// The rows of a plane are groups of products: a row of squares is `factor` rows of the larger plane.
    func apply(_ plane: ConvolutionPlane, _ space: ConvolutionSpace) -> ConvolutionPlane {
        let out = space.plane(description.plane(of: plane.size))
        let (factor, channels, width) = (description.factor, description.channels, plane.size.width)
        let bytes = ConvolutionExtent.packedBytes(rows: width, columns: channels)
        let rows = plane.size.height
        withUnsafeTemporaryAllocation(of: hub_matrix.self, capacity: factor) { layouts in
            withUnsafeTemporaryAllocation(of: hub_input.self, capacity: rows) { inputs in
                withUnsafeTemporaryAllocation(of: hub_product.self, capacity: rows * factor) { products in
                    withUnsafeTemporaryAllocation(of: hub_group.self, capacity: rows) { groups in
                        for (y, matrix) in matrices.enumerated() {
                            layouts.initializeElement(at: y, to: matrix.layout)
                        }
                        for row in 0..<rows {
                            var input = hub_input()
                            input.values = UnsafePointer(plane.start + row * width * channels)
                            (input.stride, input.rows, input.columns) = (channels, width, channels)
                            (input.exact, input.packed) = (true, space.packed + row * bytes)
                            inputs.initializeElement(at: row, to: input)
                            for y in 0..<factor {
                                let made = (row * factor + y) * width * factor * channels
                                products.initializeElement(
                                    at: row * factor + y,
                                    to: hub_product(
                                        matrix: layouts.baseAddress! + y, bias: bias.start, out: out.start + made,
                                        stride: factor * channels))
                            }
                            groups.initializeElement(
                                at: row,
                                to: hub_group(
                                    input: inputs.baseAddress! + row,
                                    products: products.baseAddress! + row * factor, count: factor))
                        }
                        withExtendedLifetime(matrices) {
                            hub_multiply_groups(space.team.team, groups.baseAddress, rows)
                        }
                    }
                }
            }
        }
        return out
    }
}
