import CKernels

/// The scratch memory of recurrent layers in one step.
final class RecurrentSpace {
    // [rows][...]
    let inputs: FloatBuffer
    let gates: FloatBuffer
    let steps: FloatBuffer
    let betas: FloatBuffer
    let results: FloatBuffer
    /// Where the states before and after each row are.
    private(set) var rows: [hub_state_row] = []

    /// Of a row.
    struct Size: Sendable, Hashable {
        let input: Int
        let result: Int
        let heads: Int

        /// nil for a model without recurrent layers.
        init?(_ d: ModelDescription) {
            let all = d.layers.compactMap(\.recurrence)
            guard !all.isEmpty else { return nil }
            input = all.map(\.inputWidth).max() ?? 0
            result = all.map(\.resultWidth).max() ?? 0
            heads = all.map(\.heads).max() ?? 0
        }

        var numbers: Int { input + 2 * result + 2 * heads }
    }

    init(_ size: Size, rows: Int) {
        inputs = FloatBuffer(rows * size.input)
        gates = FloatBuffer(rows * size.result)
        steps = FloatBuffer(rows * size.heads)
        betas = FloatBuffer(rows * size.heads)
        results = FloatBuffer(rows * size.result)
    }

    /// Finds the states of a step's rows, and room for those after them.
    func begin(_ step: Step) {
        rows = []
        var rest = step.rows[...]
        while let first = rest.first {
            guard let states = first.states else { preconditionFailure("a row of a recurrent model has no states") }
            let own = rest.prefix { $0.states === states }
            let sampled = own.firstIndex(where: \.wantsLogits) ?? own.endIndex
            rows += states.advance(own.count, at: first.position, logitsFrom: sampled - own.startIndex)
            rest = rest[own.endIndex...]
        }
    }
}
