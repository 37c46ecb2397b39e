import CKernels
import HubCore
import Libc

/// Mamba 2's selective state space, in the place of attention.
struct StateSpaceBlock: Sendable {
    private let description: ModelDescription.StateSpace
    private let gate: Linear
    private let input: Linear
    private let step: Linear
    private let output: Linear
    private let convolution: ConvolutionBlock
    private let norm: NormBlock?
    // By head.
    private let rates: FloatBuffer
    private let stepBias: FloatBuffer
    private let skips: FloatBuffer

    init(_ d: ModelDescription.StateSpace, _ layer: Int, _ table: TensorTable) throws(AIError) {
        description = d
        let parts = try table.recurrentInputs(layer, [d.width, d.convolution.channels, d.heads])
        (gate, input, step) = (parts[0], parts[1], parts[2])
        output = try table.linear(.recurrentOutput, layer)
        let shared = d.groups * d.stateSize
        convolution = try ConvolutionBlock(
            d.convolution, hasSiLU: true, layer, table,
            factors: [(d.factors.input, d.width), (d.factors.write, shared), (d.factors.read, shared)])
        norm =
            if let described = d.norm {
                try NormBlock(groups: d.groups, described, .recurrentNorm, layer, table)
            } else { nil }
        let stored = try table.numbers(.recurrentRate, layer)
        rates = d.isGGUF ? stored : FloatBuffer(stored.array.map { -exp($0) })
        stepBias = try table.vector(.recurrentStepBias, layer)
        skips = try table.numbers(.recurrentSkip, layer)
    }

    func apply(
        _ x: FloatBuffer, rows: Int, state: Int, _ w: Workspace, _ space: RecurrentSpace, into out: FloatBuffer
    ) {
        let (d, team) = (description, w.team.team)
        w.multiply(
            x, rows: rows, columns: input.columns,
            [(gate, space.gates.start), (input, space.inputs.start), (step, space.steps.start)])
        if d.factors.step != 1 { hub_scale(team, space.steps.start, d.factors.step, rows * d.heads) }
        if d.factors.gate != 1 { hub_scale(team, space.gates.start, d.factors.gate, rows * d.width) }
        convolution.apply(space.inputs, state: state, w, space)
        space.rows.withUnsafeBufferPointer { states in
            var scan = hub_space()
            scan.rows = states.baseAddress
            scan.count = states.count
            scan.state = state + d.convolution.stateSize
            scan.heads = d.heads
            scan.groups = d.groups
            scan.head_size = d.headSize
            scan.state_size = d.stateSize
            scan.x = UnsafePointer(space.inputs.start)
            scan.steps = UnsafePointer(space.steps.start)
            scan.rates = UnsafePointer(rates.start)
            scan.biases = UnsafePointer(stepBias.start)
            scan.skips = UnsafePointer(skips.start)
            scan.least_step = d.steps.lowerBound
            scan.most_step = d.steps.upperBound
            scan.out = space.results.start
            hub_scan_space(team, &scan)
        }
        if d.gatesLast {
            norm?.apply(space.results.start, rows: rows * d.groups, w.team, into: space.results.start)
        }
        hub_activate(
            team, HUB_SILU, space.gates.start, space.results.start, d.width, rows, d.width, space.results.start)
        if !d.gatesLast {
            norm?.apply(space.results.start, rows: rows * d.groups, w.team, into: space.results.start)
        }
        w.multiply(space.results, rows: rows, columns: d.width, [(output, out.start)])
    }
}
