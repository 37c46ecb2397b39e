import CKernels
import HubCore
import Libc

/// A gated delta rule (https://arxiv.org/abs/2412.06464): what a layer of Qwen 3.5 has in the place of attention.
struct GatedDeltaBlock: Sendable {
    private let description: ModelDescription.GatedDelta
    private let input: Linear
    private let gate: Linear
    private let step: Linear
    private let beta: Linear
    private let output: Linear
    private let convolution: ConvolutionBlock
    private let norm: NormBlock
    /// Of the decay, by head.
    private let rates: FloatBuffer
    private let stepBias: FloatBuffer

    init(_ d: ModelDescription.GatedDelta, _ layer: Int, _ table: TensorTable) throws(AIError) {
        description = d
        if d.isPackedByKeyHead {
            let values = d.valueHeads / d.keyHeads
            let width = values * d.valueSize
            let parts = try table.matrix(.recurrentInput, layer).split(
                d.keyHeads, [d.keySize, d.keySize, width, width])
            let factors = try table.matrix(.recurrentBeta, layer).split(d.keyHeads, [values, values])
            input = Linear(parts[0] + parts[1] + parts[2], bias: nil)
            (gate, beta, step) = (
                Linear(parts[3], bias: nil), Linear(factors[0], bias: nil), Linear(factors[1], bias: nil)
            )
        } else {
            input = try table.linear(.recurrentInput, layer)
            gate = try table.linear(.recurrentGate, layer)
            beta = try table.linear(.recurrentBeta, layer)
            step = try table.linear(.recurrentStep, layer)
        }
        output = try table.linear(.recurrentOutput, layer)
        convolution = try ConvolutionBlock(d.convolution, hasSiLU: true, layer, table)
        norm = try NormBlock(d.norm, .recurrentNorm, layer, table)
        let stored = try table.vector(.recurrentRate, layer)
        rates = d.storesRates ? stored : FloatBuffer(stored.array.map { -exp($0) })
        stepBias = try table.vector(.recurrentStepBias, layer)
    }

    func apply(
        _ x: FloatBuffer, rows: Int, state: Int, _ w: Workspace, _ space: RecurrentSpace, into out: FloatBuffer
    ) {
        let (d, team) = (description, w.team.team)
        w.multiply(
            x, rows: rows, columns: input.columns,
            [
                (input, space.inputs.start), (gate, space.gates.start), (step, space.steps.start),
                (beta, space.betas.start),
            ])
        convolution.apply(space.inputs, state: state, w, space)
        space.rows.withUnsafeBufferPointer { states in
            var delta = hub_delta()
            delta.rows = states.baseAddress
            delta.count = states.count
            delta.state = state + d.convolution.stateSize
            delta.key_heads = d.keyHeads
            delta.value_heads = d.valueHeads
            delta.key_size = d.keySize
            delta.value_size = d.valueSize
            delta.is_tiled = d.isTiled
            delta.x = UnsafePointer(space.inputs.start)
            delta.steps = UnsafePointer(space.steps.start)
            delta.betas = UnsafePointer(space.betas.start)
            delta.rates = UnsafePointer(rates.start)
            delta.biases = UnsafePointer(stepBias.start)
            delta.out = space.results.start
            hub_delta_rule(team, &delta)
        }
        norm.apply(space.results.start, rows: rows * d.valueHeads, w.team, into: space.results.start)
        hub_activate(
            team, HUB_SILU, space.gates.start, space.results.start, d.valueWidth, rows, d.valueWidth,
            space.results.start)
        w.multiply(space.results, rows: rows, columns: d.valueWidth, [(output, out.start)])
    }
}
