import CKernels
import ModelFormats

/// The scratch memory of vectors of distances.
struct DistanceSpace {
    /// `[rows of the table][query width]`
    let projected: FloatBuffer
    // Lists by distance, `[query width][distances]`.
    let keys: FloatBuffer
    let queries: FloatBuffer

    struct Size: Sendable, Hashable {
        /// Numbers of the projected table,
        let projected: Int
        /// and of all lists of one kind.
        let lists: Int

        /// nil for a model without any.
        init?(_ d: ModelDescription, queryWidth: Int) {
            guard let distances = d.distances, distances.vectors != nil else { return nil }
            projected = distances.rows * queryWidth
            lists = queryWidth * DistanceSpace.stride(d.maxPositions)
        }

        /// Numbers in all.
        var numbers: Int64 { Int64(lists).multipliedClamped(by: 2).addedClamped(Int64(projected)) }
    }

    init(_ size: Size) {
        projected = FloatBuffer(size.projected)
        keys = FloatBuffer(size.lists)
        queries = FloatBuffer(size.lists)
    }

    /// Floats of the lists of what places of squares add, of pictures that have so many rows together, at most.
    static func squares(heads: Int, rows: Int) -> Int {
        let each = Int64(rows).multipliedClamped(by: Int64(rows)).addedClamped(Int64(HUB_BEHIND))
        return Int(each.multipliedClamped(by: Int64(heads)))
    }

    /// Floats from one list to the next, for texts of up to a length.
    static func stride(_ longest: Int) -> Int { 2 * longest - 1 + Int(HUB_BEHIND) }
}
