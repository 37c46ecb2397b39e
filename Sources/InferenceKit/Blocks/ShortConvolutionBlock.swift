import CKernels
import HubCore

/// A short convolution between two gates (transformers' `Lfm2ShortConv`): what most layers of LFM2 have in the place of
/// attention.
struct ShortConvolutionBlock: Sendable {
    /// What enters the convolution is the product of the first and the last; what leaves it, times the second.
    private let inputs: [Linear]
    private let convolution: ConvolutionBlock
    private let output: Linear

    init(_ d: ModelDescription.Convolution, _ layer: Int, _ table: TensorTable) throws(AIError) {
        inputs = try table.recurrentInputs(layer, Array(repeating: d.channels, count: 3))
        convolution = try ConvolutionBlock(d, hasSiLU: false, layer, table)
        output = try table.linear(.recurrentOutput, layer)
    }

    func apply(
        _ x: FloatBuffer, rows: Int, state: Int, _ w: Workspace, _ space: RecurrentSpace, into out: FloatBuffer
    ) {
        let width = output.columns
        let (team, inner) = (w.team.team, space.inputs)
        let places = [space.results.start, space.gates.start, inner.start]
        w.multiply(x, rows: rows, columns: inputs[0].columns, Array(zip(inputs, places)))
        hub_times(team, inner.start, space.results.start, rows * width)
        convolution.apply(inner, state: state, w, space)
        hub_times(team, inner.start, space.gates.start, rows * width)
        w.multiply(inner, rows: rows, columns: width, [(output, out.start)])
    }
}
