import CKernels

extension ConvolutionWeights {
    /// The convolution of a plane, and its activation.
    func apply(_ plane: ConvolutionPlane, _ space: ConvolutionSpace) -> ConvolutionPlane {
        let out = space.plane(convolution.plane(of: plane.size))
        switch form {
        case .channels(let weights):
            var window = hub_window(convolution.window, plane.size, out.size)
            hub_convolve_channels(space.team.team, plane.start, &window, weights.start, bias.start, out.start)
            activate(out.start, rows: out.size.places, space.team)
        case .products(let matrices): multiply(matrices, plane, out, space)
        }
        return out
    }

    /// As many places at once as the scratch memory has room for.
    private func multiply(
        _ matrices: [WeightMatrix], _ plane: ConvolutionPlane, _ out: ConvolutionPlane, _ space: ConvolutionSpace
    ) {
        let c = convolution
        var window = hub_window(c.window, plane.size, out.size)
        let (places, most) = (out.size.places, c.rowsAtOnce(of: out.size.places))
        for first in stride(from: 0, to: places, by: most) {
            let rows = min(most, places - first)
            var values = UnsafePointer(plane.start) + first * c.inputs
            if c.gathers {
                hub_gather_windows(
                    space.team.team, plane.start, &window, c.products, first, rows, space.windows.start)
                values = UnsafePointer(space.windows.start)
            }
            let made = out.start + first * c.outputs
            Self.multiply(values, rows: rows, columns: c.columns, matrices, bias, made, space.team, space.packed)
            activate(made, rows: rows, space.team)
        }
    }

    /// The same of a single place.
    func apply(row: FloatBuffer, _ space: ConvolutionSpace) -> FloatBuffer {
        guard case .products(let matrices) = form else { preconditionFailure("a place alone has no window") }
        let out = FloatBuffer(convolution.outputs)
        Self.multiply(
            UnsafePointer(row.start), rows: 1, columns: convolution.columns, matrices, bias, out.start, space.team,
            space.packed)
        activate(out.start, rows: 1, space.team)
        return out
    }

    private func activate(_ x: UnsafeMutablePointer<Float>, rows: Int, _ team: ComputeTeam) {
        guard let activation = convolution.activation else { return }
        hub_activate(
            team.team, activation.kernel, x, nil, convolution.outputs, rows, convolution.outputs, x)
    }

    /// Rows with the matrices of all bundles, of which each reads as many numbers of a row as it has columns.
    private static func multiply(
        _ values: UnsafePointer<Float>, rows: Int, columns: Int, _ matrices: [WeightMatrix], _ bias: FloatBuffer,
        _ out: UnsafeMutablePointer<Float>, _ team: ComputeTeam, _ packed: UnsafeMutableRawPointer
    ) {
        let (part, outputs) = (matrices[0].columns, bias.count)
        let bytes = ConvolutionExtent.packedBytes(rows: rows, columns: part)
        withUnsafeTemporaryAllocation(of: hub_input.self, capacity: matrices.count) { inputs in
            withUnsafeTemporaryAllocation(of: hub_matrix.self, capacity: matrices.count) { layouts in
                withUnsafeTemporaryAllocation(of: hub_product.self, capacity: matrices.count) { products in
                    withUnsafeTemporaryAllocation(of: hub_group.self, capacity: matrices.count) { groups in
                        var made = 0
                        for (index, matrix) in matrices.enumerated() {
                            var input = hub_input()
                            input.values = values + index * part
                            (input.stride, input.rows, input.columns) = (columns, rows, part)
                            (input.exact, input.packed) = (true, packed + index * bytes)
                            inputs.initializeElement(at: index, to: input)
                            layouts.initializeElement(at: index, to: matrix.layout)
                            products.initializeElement(
                                at: index,
                                to: hub_product(
                                    matrix: layouts.baseAddress! + index, bias: bias.start + made,
                                    out: out + made, stride: outputs))
                            groups.initializeElement(
                                at: index,
                                to: hub_group(
                                    input: inputs.baseAddress! + index, products: products.baseAddress! + index,
                                    count: 1))
                            made += matrix.rows
                        }
                        withExtendedLifetime(matrices) {
                            hub_multiply_groups(team.team, groups.baseAddress, matrices.count)
                        }
                    }
                }
            }
        }
    }
}

extension hub_window {
    /// - Parameter made: the plane that is made.
    init(_ window: ConvolutionNet.Window, _ plane: ConvolutionNet.Plane, _ made: ConvolutionNet.Plane) {
        self.init(
            height: plane.height, width: plane.width, channels: plane.channels, side: window.side,
            stride: window.stride, top: window.places(along: plane.height).before,
            left: window.places(along: plane.width).before, rows: made.height, columns: made.width)
    }
}

extension ConvolutionNet.Activation {
    var kernel: hub_activation {
        switch self {
        case .relu: HUB_RELU
        case .relu6: HUB_RELU6
        case .silu: HUB_SILU
        case .gelu: HUB_GELU
        case .geluTanh: HUB_GELU_TANH
        case .sigmoid: HUB_SIGMOID
        case .hardSigmoid: HUB_HARD_SIGMOID
        case .hardSwish: HUB_HARD_SWISH
        }
    }
}
