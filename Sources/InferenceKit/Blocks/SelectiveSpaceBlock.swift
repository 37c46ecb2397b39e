import CKernels
import HubCore
import Libc

/// Mamba's selective state space, in the place of attention.
struct SelectiveSpaceBlock: Sendable {
    private let description: ModelDescription.SelectiveSpace
    private let input: Linear
    private let gate: Linear
    private let convolution: ConvolutionBlock
    /// What steps are made of, what writes, what reads.
    private let parts: [(linear: Linear, norm: NormBlock?)]
    private let step: Linear
    private let output: Linear
    /// `[stateSize][channels]`
    private let rates: FloatBuffer
    private let skips: FloatBuffer

    init(_ d: ModelDescription.SelectiveSpace, _ layer: Int, _ table: TensorTable) throws(AIError) {
        description = d
        let both = try table.recurrentInputs(layer, [d.channels, d.channels])
        (input, gate) = (both[0], both[1])
        convolution = try ConvolutionBlock(d.convolution, hasSiLU: true, layer, table)
        let split = try table.matrix(.recurrentParts, layer).split(1, d.parts)
        let roles: [TensorRole] = [.recurrentStepNorm, .recurrentWriteNorm, .recurrentReadNorm]
        var parts: [(Linear, NormBlock?)] = []
        for (index, role) in roles.enumerated() {
            var norm: NormBlock?
            if let described = d.norm {
                norm =
                    described.hasWeight
                    ? try NormBlock(described, role, layer, table) : NormBlock(described, width: d.parts[index])
            }
            parts.append((Linear(split[index], bias: nil), norm))
        }
        self.parts = parts
        step = try table.linear(.recurrentStep, layer)
        output = try table.linear(.recurrentOutput, layer)
        let stored = try table.numbers(.recurrentRate, layer)
        rates = FloatBuffer(stored.count)
        for channel in 0..<d.channels {
            for number in 0..<d.stateSize {
                let rate = stored.start[channel * d.stateSize + number]
                rates.start[number * d.channels + channel] = d.storesRates ? rate : -exp(rate)
            }
        }
        skips = try table.vector(.recurrentSkip, layer)
    }

    func apply(
        _ x: FloatBuffer, rows: Int, state: Int, _ w: Workspace, _ space: RecurrentSpace, into out: FloatBuffer
    ) {
        let (d, team) = (description, w.team.team)
        w.multiply(
            x, rows: rows, columns: input.columns, [(input, space.inputs.start), (gate, space.gates.start)])
        convolution.apply(space.inputs, state: state, w, space)
        let starts = [0, d.parts[0] * rows, (d.parts[0] + d.parts[1]) * rows].map { space.betas.start + $0 }
        w.multiply(
            space.inputs, rows: rows, columns: d.channels, zip(parts, starts).map { ($0.linear, $1) })
        for (part, start) in zip(parts, starts) { part.norm?.apply(start, rows: rows, w.team, into: start) }
        w.multiply(space.betas, rows: rows, columns: d.stepRank, [(step, space.steps.start)])
        space.rows.withUnsafeBufferPointer { states in
            var selection = hub_selection()
            selection.rows = states.baseAddress
            selection.count = states.count
            selection.state = state + d.convolution.stateSize
            selection.channels = d.channels
            selection.state_size = d.stateSize
            selection.x = UnsafePointer(space.inputs.start)
            selection.steps = UnsafePointer(space.steps.start)
            selection.writes = UnsafePointer(starts[1])
            selection.reads = UnsafePointer(starts[2])
            selection.rates = UnsafePointer(rates.start)
            selection.skips = UnsafePointer(skips.start)
            selection.out = space.results.start
            hub_select(team, &selection)
        }
        hub_activate(
            team, HUB_SILU, space.gates.start, space.results.start, d.channels, rows, d.channels,
            space.results.start)
        w.multiply(space.results, rows: rows, columns: d.channels, [(output, out.start)])
    }
}
