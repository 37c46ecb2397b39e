import Libc

extension ModelDescription {
    /// How distances between positions add to scores: a table with a row for each, or for buckets of them.
    struct Distances: Sendable, Hashable {
        /// Rows of the table.
        var rows: Int
        var buckets: Buckets
        /// nil where a row has a number for each head, which is added to the scaled score.
        var vectors: Vectors?

        /// A row is a vector as wide as the model, which each layer turns into a query and a key (DeBERTa,
        /// https://arxiv.org/abs/2006.03654).
        struct Vectors: Sendable, Hashable {
            /// Of the table; nil for none.
            var norm: Norm?
            /// Whether a query's products with the keys of distances count,
            var hasKeys: Bool
            /// and those of a key with their queries.
            var hasQueries: Bool
            /// Whether the matrices are those of the rows themselves.
            var isShared: Bool
            /// Whether the matrix of keys has a bias; that of queries has one.
            var hasKeyBias: Bool
        }

        /// Which row a distance has.
        enum Buckets: Sendable, Hashable {
            /// One half of the rows for keys before the query, the other for those behind; in each, small distances have
            /// rows of their own, others share them by logarithm (T5, https://arxiv.org/abs/1910.10683).
            case halves(count: Int, furthest: Int)
            /// All rows for keys before the query, in the same way.
            case before(count: Int, furthest: Int)
            /// From the middle of the table to both sides; where `furthest` is given, distances of more than a quarter of
            /// the rows share rows by logarithm.
            case middle(furthest: Int?)
            /// There is no table: a head lowers scores by its slope times the distance.
            case slopes([Float])
        }
    }
}

extension ModelDescription.Distances {
    /// Whether it is stored.
    var hasTable: Bool { rows > 0 }

    /// The row of a distance: the query's position less the key's. Logarithms are rounded as the reference rounds them.
    func row(_ distance: Int) -> Int {
        switch buckets {
        case .halves(let count, let furthest):
            let half = count / 2
            return (distance < 0 ? half : 0) + Self.near(abs(distance), half, furthest)
        case .before(let count, let furthest): return Self.near(max(0, distance), count, furthest)
        case .middle(let furthest):
            let half = rows / 2
            let place = furthest.map { Self.far(distance, half / 2, $0) } ?? distance
            return min(max(half + place, 0), rows - 1)
        case .slopes: return 0
        }
    }

    private static func near(_ distance: Int, _ count: Int, _ furthest: Int) -> Int {
        let exact = count / 2
        guard distance >= exact else { return distance }
        let share = logf(Float(distance) / Float(exact)) / Float(log(Double(furthest) / Double(exact)))
        let place = share * Float(count - exact)
        return place < Float(count - 1 - exact) ? exact + Int(place) : count - 1
    }

    private static func far(_ distance: Int, _ exact: Int, _ furthest: Int) -> Int {
        guard abs(distance) > exact else { return distance }
        let share = logf(Float(abs(distance)) / Float(exact)) / logf(Float(Double(furthest - 1) / Double(exact)))
        let place = (share * Float(exact - 1)).rounded(.up) + Float(exact)
        // Where the furthest is the last exact one, the reference has no number either.
        return (Int(exactly: place) ?? furthest) * distance.signum()
    }
}
