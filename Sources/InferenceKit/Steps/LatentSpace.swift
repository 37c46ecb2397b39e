/// The scratch memory of latent attention.
struct LatentSpace {
    // [rows][...]
    /// What queries are made of.
    let asked: FloatBuffer
    /// Queries before they go through the matrix of the keys, `[heads][numbers that do not rotate, those that do]`.
    let queries: FloatBuffer
    /// What the heads give.
    let results: FloatBuffer

    /// Of a row.
    struct Size: Sendable, Hashable {
        let asked: Int
        let queries: Int
        let results: Int
        let heads: Int
        /// The most numbers of a head that are multiplied at once,
        private let ofHead: Int
        /// and those of all heads.
        private let ofAll: Int

        /// nil for a model without any.
        init?(_ d: ModelDescription) {
            let all = d.layers.compactMap(\.attention).compactMap { attention in
                attention.latent.map { (attention, $0) }
            }
            guard !all.isEmpty else { return nil }
            func most(_ number: (ModelDescription.Attention, ModelDescription.Latent) -> Int) -> Int {
                all.map(number).max() ?? 0
            }
            asked = most { $1.queryRank ?? 0 }
            queries = most { $0.heads * $1.headSize }
            results = most { $0.heads * $1.valueSize }
            heads = most { attention, _ in attention.heads }
            ofHead = most { max($1.plain, $1.rank) }
            ofAll = most { max($0.heads * $1.valueSize, $1.queryRank ?? 0) }
        }

        var numbers: Int { asked + queries + results }

        /// What the packed rows of all heads take.
        func packedBytes(rows: Int) -> Int {
            max(
                Workspace.packedBytes(groups: heads, rows: rows * heads, columns: ofHead),
                Workspace.packedBytes(groups: 1, rows: rows, columns: ofAll))
        }
    }

    init(_ size: Size, rows: Int) {
        asked = FloatBuffer(rows * size.asked)
        queries = FloatBuffer(rows * size.queries)
        results = FloatBuffer(rows * size.results)
    }
}
