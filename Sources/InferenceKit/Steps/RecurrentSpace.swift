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

    init(_ d: ModelDescription, rows: Int) {
        let (input, result, heads) = Self.widths(d)
        inputs = FloatBuffer(rows * input)
        gates = FloatBuffer(rows * result)
        steps = FloatBuffer(rows * heads)
        betas = FloatBuffer(rows * heads)
        results = FloatBuffer(rows * result)
    }

    private static func widths(_ d: ModelDescription) -> (input: Int, result: Int, heads: Int) {
        let all = d.layers.compactMap(\.recurrence)
        return (
            all.map(\.inputWidth).max() ?? 0, all.map(\.resultWidth).max() ?? 0, all.map(\.heads).max() ?? 0
        )
    }

    /// Numbers of a row.
    static func width(_ d: ModelDescription) -> Int {
        let (input, result, heads) = widths(d)
        return input + 2 * result + 2 * heads
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
