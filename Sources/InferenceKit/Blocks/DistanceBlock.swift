import CKernels
import HubCore

/// What the distances between positions add to the scores of attention, as the lists that the kernels read.
struct DistanceBlock: Sendable {
    /// Positions that the rows are known for.
    private let longest: Int
    /// The row of each distance, from the furthest key behind a query to the furthest before it.
    private let rows: [UInt32]
    /// Numbers for each head; nil where there are vectors.
    private let biases: FloatBuffer?
    private let vectors: (description: ModelDescription.Distances.Vectors, table: FloatBuffer)?

    init(_ d: ModelDescription.Distances, _ model: ModelDescription, _ table: TensorTable, _ team: ComputeTeam)
        throws(AIError)
    {
        let longest = model.maxPositions
        if case .slopes(let slopes) = d.buckets {
            (self.longest, rows, vectors) = (longest, [], nil)
            biases = Self.list(slopes, longest)
            return
        }
        (self.longest, rows) = (longest, (1 - longest..<longest).reversed().map { UInt32(d.row($0)) })
        let stored = try table.matrix(.distances)
        let values = stored.widened()
        guard let kind = d.vectors else {
            let lists = FloatBuffer(stored.columns * DistanceSpace.stride(longest))
            rows.withUnsafeBufferPointer {
                hub_list_distances(
                    team.team, values.start, stored.columns, $0.baseAddress, $0.count, lists.start,
                    DistanceSpace.stride(longest))
            }
            (biases, vectors) = (lists, nil)
            return
        }
        if let norm = kind.norm {
            try NormBlock(norm, .distancesNorm, nil, table).apply(
                values.start, rows: stored.rows, team, into: values.start)
        }
        (biases, vectors) = (nil, (kind, values))
    }

    /// What slopes make of each distance.
    private static func list(_ slopes: [Float], _ longest: Int) -> FloatBuffer {
        let stride = DistanceSpace.stride(longest)
        let lists = FloatBuffer(slopes.count * stride)
        for (head, slope) in slopes.enumerated() {
            for place in 0..<stride {
                lists.start[head * stride + place] = -slope * Float(abs(longest - 1 - place))
            }
        }
        return lists
    }

    /// The lists of a layer for texts of up to a length.
    ///
    /// - Parameters:
    ///   - key: makes keys of vectors, as
    ///   - query: makes queries.
    func lists(_ key: Linear, _ query: Linear, length: Int, _ w: Workspace) -> (lists: hub_distances, origin: Int) {
        var lists = hub_distances()
        guard let vectors, let space = w.distances else {
            lists.stride = DistanceSpace.stride(longest)
            lists.biases = biases.map { UnsafePointer($0.start) }
            return (lists, longest - 1)
        }
        let needed = rows[longest - length..<longest + length - 1]
        lists.stride = DistanceSpace.stride(length)
        if vectors.description.hasKeys {
            lists.with_queries = list(key, needed, vectors.table, space.keys, w, space)
        }
        if vectors.description.hasQueries {
            lists.with_keys = list(query, needed, vectors.table, space.queries, w, space)
        }
        return (lists, length - 1)
    }

    /// Projects the rows that are needed, and lists them by distance.
    private func list(
        _ linear: Linear, _ needed: ArraySlice<UInt32>, _ table: FloatBuffer, _ out: FloatBuffer, _ w: Workspace,
        _ space: DistanceSpace
    ) -> UnsafePointer<Float> {
        let last = Int(needed.max() ?? 0)
        var next = Int(needed.min() ?? 0)
        while next <= last {
            let count = min(w.rows, last + 1 - next)
            w.multiply(
                table, from: next, rows: count, columns: linear.columns,
                [(linear, space.projected.start + next * linear.rows)])
            next += count
        }
        needed.withUnsafeBufferPointer {
            hub_list_distances(
                w.team.team, space.projected.start, linear.rows, $0.baseAddress, $0.count, out.start,
                DistanceSpace.stride((needed.count + 1) / 2))
        }
        return UnsafePointer(out.start)
    }
}
