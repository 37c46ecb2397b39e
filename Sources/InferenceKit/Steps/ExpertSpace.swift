import ModelFormats

/// The scratch memory of experts.
struct ExpertSpace {
    /// Rows of experts that are computed at once: of each row that goes through several, one for each of them.
    let capacity: Int
    // [capacity][...]
    /// The rows of each expert, one behind the other; then its results.
    let gathered: FloatBuffer
    let gate: FloatBuffer
    let up: FloatBuffer
    /// Both, where they alternate; untouched memory costs nothing elsewhere.
    let pairs: FloatBuffer
    /// What they give where something stands beside them, `[rows][width]`.
    let beside: FloatBuffer
    /// The router's, `[rows][experts]`.
    let scores: FloatBuffer

    struct Size: Sendable, Hashable {
        let capacity: Int
        // Numbers of a row, of the model and of an expert.
        let width: Int
        let inner: Int
        /// Numbers of what stands beside.
        let beside: Int
        let scores: Int
        /// What the packed rows of all experts take.
        let packedBytes: Int

        private static let most = 48 << 20

        /// nil for a model without experts.
        init?(_ d: ModelDescription, rows: Int) {
            let mixtures = d.layers.compactMap(\.experts)
            guard let used = mixtures.map(\.used).max(), let inner = mixtures.map(\.width).max(),
                let count = mixtures.map(\.count).max()
            else { return nil }
            (width, self.inner) = (d.width, inner)
            let fitting = Self.most / (4 * (d.width + 4 * inner))
            capacity = max(rows, min(rows * used, fitting))
            beside = mixtures.contains(where: \.isBeside) ? rows * d.width : 0
            scores = rows * count
            packedBytes = Workspace.packedBytes(groups: count, rows: capacity, columns: max(d.width, inner))
        }

        /// Numbers in all.
        var numbers: Int64 {
            Int64(capacity).multipliedClamped(by: Int64(width + 4 * inner)).addedClamped(Int64(beside))
                .addedClamped(Int64(scores))
        }
    }

    init(_ size: Size) {
        capacity = size.capacity
        gathered = FloatBuffer(capacity * size.width)
        gate = FloatBuffer(capacity * size.inner)
        up = FloatBuffer(capacity * size.inner)
        pairs = FloatBuffer(capacity * 2 * size.inner)
        beside = FloatBuffer(size.beside)
        scores = FloatBuffer(size.scores)
    }
}
