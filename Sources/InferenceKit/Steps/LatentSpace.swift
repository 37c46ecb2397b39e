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
        let all = Self.attentions(d)
        guard !all.isEmpty else { return nil }
        func most(_ number: (ModelDescription.Attention, ModelDescription.Latent) -> Int) -> Int {
            all.map(number).max() ?? 0
        }
        asked = FloatBuffer(rows * most { $1.queryRank ?? 0 })
        queries = FloatBuffer(rows * most { $0.heads * $1.headSize })
        results = FloatBuffer(rows * most { $0.heads * $1.valueSize })
        let heads = most { attention, _ in attention.heads }
        packedBytes = max(
            Workspace.packedBytes(groups: heads, rows: rows * heads, columns: most { max($1.plain, $1.rank) }),
            Workspace.packedBytes(
                groups: 1, rows: rows, columns: most { max($0.heads * $1.valueSize, $1.queryRank ?? 0) }))
    }

    /// Numbers of a row.
    static func width(_ d: ModelDescription) -> Int {
        attentions(d).map { ($1.queryRank ?? 0) + $0.heads * ($1.headSize + $1.valueSize) }.max() ?? 0
    }

    private static func attentions(_ d: ModelDescription) -> [(ModelDescription.Attention, ModelDescription.Latent)]
    {
        d.layers.compactMap(\.attention).compactMap { attention in attention.latent.map { (attention, $0) } }
    }
}
