import CKernels
import ModelFormats

/// What the recurrent layers of one sequence remember, and some earlier states to go back to. Used by one thread at a time.
///
/// A state is written in place unless it is kept: then the next one is written elsewhere, so keeping copies nothing.
final class RecurrentStates {
    /// Numbers of a state: of all layers.
    private let size: Int
    /// Earlier states that are kept.
    private let most: Int
    /// The number of positions remembered.
    private(set) var count = 0
    /// nil at the beginning of a text.
    private var current: FloatBuffer?
    /// States after this many positions, in ascending order.
    private var checkpoints: [(count: Int, state: FloatBuffer)] = []
    /// Memory for the next state.
    private var spare: FloatBuffer?

    /// Earlier states that are kept while a text is generated.
    static let usualCheckpoints = 3

    /// nil for a model without recurrent layers.
    ///
    /// - Parameter most: earlier states that are kept.
    init?(_ d: ModelDescription, keeping most: Int) {
        guard d.stateSize > 0 else { return nil }
        (size, self.most) = (d.stateSize, most)
    }

    /// Bytes of the states that there are, and of the room for the next one.
    var bytes: Int {
        let all = checkpoints.map(\.state) + [current, spare].compactMap { $0 }
        return Set(all.map(\.start)).count * size * MemoryLayout<Float>.stride
    }

    /// The most bytes that a text of this length takes; at most `Int64.max`. Where as many states are kept as may be, a
    /// place that becomes free is the room for the next one.
    static func mostBytes(_ d: ModelDescription, length: Int, keeping most: Int = usualCheckpoints) -> Int64 {
        Int64(d.stateSize).multipliedClamped(by: 4 * Int64(min(length, most + 1)))
    }

    /// Rows of a prompt from which on their beginning is kept.
    private static let long = 32

    /// Where the kernels find the states before and after rows that follow. They are valid until the next call.
    ///
    /// Two states may be needed again: that before the first row with logits, for the rows after it may be guesses, and
    /// the same prompt may come again; and that before a piece of a prompt, for another text may share it.
    ///
    /// - Parameters:
    ///   - rows: their number.
    ///   - position: of the first of them.
    ///   - sampled: the place among them of the first with logits.
    func advance(_ rows: Int, at position: Int, logitsFrom sampled: Int) -> [hub_state_row] {
        precondition(position == count)
        return (0..<rows).map { index in
            let isPiece = index == 0 && min(rows, sampled) >= Self.long
            if rows > 1, isPiece || index == sampled { keep() }
            let before = current
            if before == nil || isKept { current = spare ?? FloatBuffer(size) }
            if before?.start != current?.start { spare = nil }
            count += 1
            return hub_state_row(before: before.map { UnsafePointer($0.start) }, after: current?.start)
        }
    }

    private var isKept: Bool { checkpoints.last.map { $0.state.start == current?.start } ?? false }

    private func keep() {
        guard most > 0, let current, !isKept else { return }
        checkpoints.append((count, current))
        guard checkpoints.count > most else { return }
        // The one whose neighbours are nearest to each other for their distance from the end goes, never the last.
        func share(_ index: Int) -> Double {
            let before = index == 0 ? 0 : checkpoints[index - 1].count
            return Double(checkpoints[index + 1].count - before) / Double(count - before)
        }
        let dropped = checkpoints.indices.dropLast().min { share($0) < share($1) } ?? 0
        spare = checkpoints.remove(at: dropped).state
    }

    /// Forgets positions from one on, and those before it down to the nearest state that was kept.
    ///
    /// - Returns: The number of positions that are left.
    @discardableResult
    func truncate(to end: Int) -> Int {
        guard end < count else { return count }
        let old = current
        checkpoints.removeAll { $0.count > end }
        (count, current) = checkpoints.last.map { ($0.count, $0.state) } ?? (0, nil)
        if spare == nil { spare = old }
        return count
    }
}
