/// The scratch memory of latent attention.
struct LatentSpace {
    // [rows][...]
    /// What queries are made of.
    let asked: FloatBuffer
    /// Queries before they go through the matrix of the keys, `[heads][numbers that do not rotate, those that do]`.
    let queries: FloatBuffer
    /// What the heads give.
    let results: FloatBuffer
    /// What the packed rows of all heads take.
    let packedBytes: Int

    /// nil for a model without any.
    init?(_ d: ModelDescription, rows: Int) {
        let attentions = d.layers.compactMap(\.attention).filter { $0.latent != nil }
        guard !attentions.isEmpty else { return nil }
        func most(_ number: (ModelDescription.Attention, ModelDescription.Latent) -> Int) -> Int {
            attentions.compactMap { a in a.latent.map { number(a, $0) } }.max() ?? 0
        }
        asked = FloatBuffer(rows * most { $1.queryRank ?? 0 })
        queries = FloatBuffer(rows * most { $0.heads * $1.headSize })
        results = FloatBuffer(rows * most { $0.heads * $1.valueSize })
        let columns = most { max($1.plain, $1.rank) }
        let heads = most { a, _ in a.heads }
        packedBytes = max(
            Workspace.packedBytes(groups: heads, rows: rows * heads, columns: columns),
            Workspace.packedBytes(groups: 1, rows: rows, columns: most { max($0.heads * $1.valueSize, $1.queryRank ?? 0) }))
    }
}
