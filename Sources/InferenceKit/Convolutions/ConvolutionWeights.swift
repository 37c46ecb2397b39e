import CKernels
import HubCore

/// A convolution's weights in float32, in the order of a plane, with what is multiplied into them: the norm after it, and
/// factors.
struct ConvolutionWeights: Sendable {
    /// How it is computed.
    enum Form: Sendable {
        /// Products of what windows see: one of each bundle of groups, its outputs by `[row][column][channel]`.
        case products([WeightMatrix])
        /// Of each channel alone: `[row][column][channel]`.
        case channels(FloatBuffer)
    }

    let convolution: ConvolutionNet.Convolution
    let form: Form
    /// Of all outputs.
    let bias: FloatBuffer

    init(
        _ c: ConvolutionNet.Convolution, prefix: String, _ source: TensorSource
    ) throws(AIError) {
        convolution = c
        let (factors, bias) = try Self.outputs(c, prefix, source)
        let stored = try Self.stored(c, prefix, source)
        self.bias = FloatBuffer(bias)
        form =
            c.isDepthwise
            ? .channels(Self.turned(c, stored, factors)) : .products(Self.matrices(c, stored, factors))
    }

    /// A matrix that was made of several.
    init(_ c: ConvolutionNet.Convolution, matrix: FloatBuffer, rows: Int, bias: FloatBuffer) {
        (convolution, self.bias) = (c, bias)
        form = .products([WeightMatrix(float32: matrix, rows: rows, columns: matrix.count / rows)])
    }

    /// The weights of a convolution of single places, `[outputs][inputs]`, and its bias, with what is multiplied into them.
    static func numbers(
        _ c: ConvolutionNet.Convolution, prefix: String, _ source: TensorSource
    ) throws(AIError) -> (weights: [Float], bias: [Float]) {
        let (factors, bias) = try outputs(c, prefix, source)
        var weights = try stored(c, prefix, source).array
        for place in weights.indices { weights[place] *= factors[place / c.inputs] }
        return (weights, bias)
    }

    /// The weights of all outputs, one after the other.
    private static func stored(
        _ c: ConvolutionNet.Convolution, _ prefix: String, _ source: TensorSource
    ) throws(AIError) -> FloatBuffer {
        guard !c.parts.isEmpty else { return try source.numbers(prefix + c.name + ".weight", c.shape) }
        var all: [Float] = []
        for name in c.names { all += try source.numbers(prefix + name + ".weight", c.partShape).array }
        return FloatBuffer(all)
    }

    /// What each output is multiplied with, and what is added then.
    private static func outputs(
        _ c: ConvolutionNet.Convolution, _ prefix: String, _ source: TensorSource
    ) throws(AIError) -> (factors: [Float], bias: [Float]) {
        var factors = [Float](repeating: 1, count: c.outputs)
        var bias = [Float](repeating: 0, count: c.outputs)
        if c.hasBias {
            bias = []
            for name in c.names { bias += try source.vector(prefix + name + ".bias", c.partShape[0]).array }
        }
        if let norm = c.norm {
            func part(_ name: String) throws(AIError) -> [Float] {
                try source.vector("\(prefix)\(norm.name).\(name)", c.outputs).array
            }
            let (weight, shift) = (try part("weight"), try part("bias"))
            let (mean, variance) = (try part("running_mean"), try part("running_var"))
            for index in 0..<c.outputs {
                factors[index] = weight[index] / (variance[index] + Float(norm.epsilon)).squareRoot()
                bias[index] = (bias[index] - mean[index]) * factors[index] + shift[index]
            }
        }
        if let name = c.factors {
            for (index, factor) in try source.vector(prefix + name, c.outputs).array.enumerated() {
                factors[index] *= factor
                bias[index] *= factor
            }
        }
        return (factors, bias)
    }

    /// From `[channel][row][column]` to `[row][column][channel]`.
    private static func turned(
        _ c: ConvolutionNet.Convolution, _ stored: FloatBuffer, _ factors: [Float]
    ) -> FloatBuffer {
        let area = c.window.side * c.window.side
        let out = FloatBuffer(stored.count)
        for channel in 0..<c.outputs {
            for place in 0..<area {
                out.start[place * c.outputs + channel] = stored.start[channel * area + place] * factors[channel]
            }
        }
        return out
    }

    /// From `[output][channel][row][column]` to a matrix of each bundle of groups, `[output][row][column][channel]`, with
    /// zeros where an output does not read a channel.
    private static func matrices(
        _ c: ConvolutionNet.Convolution, _ stored: FloatBuffer, _ factors: [Float]
    ) -> [WeightMatrix] {
        let area = c.window.side * c.window.side
        let (inputs, outputs) = (c.inputs / c.groups, c.outputs / c.groups)
        let (channels, rows) = (c.groupsAtOnce * inputs, c.groupsAtOnce * outputs)
        return (0..<c.products).map { bundle in
            let values = FloatBuffer(rows * area * channels)
            values.start.update(repeating: 0, count: values.count)
            for row in 0..<rows {
                let output = bundle * rows + row
                let target = values.start + row * area * channels + row / outputs * inputs
                let source = stored.start + output * inputs * area
                for channel in 0..<inputs {
                    for place in 0..<area {
                        target[place * channels + channel] = source[channel * area + place] * factors[output]
                    }
                }
            }
            return WeightMatrix(float32: values, rows: rows, columns: area * channels)
        }
    }
}

extension WeightMatrix {
    /// Numbers in memory, row after row.
    init(float32 values: FloatBuffer, rows: Int, columns: Int) {
        var layout = hub_matrix()
        layout.weights = UnsafeRawPointer(values.start)
        layout.stride = columns * MemoryLayout<Float>.stride
        (layout.rows, layout.columns, layout.format, layout.factor) = (rows, columns, HUB_F32, 1)
        self.init(layout, in: [], memory: values)
    }
}
