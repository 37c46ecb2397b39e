import CKernels

/// The scratch memory of vectors of distances.
struct DistanceSpace {
    /// `[rows of the table][query width]`
    let projected: FloatBuffer
    // Lists by distance, `[query width][distances]`.
    let keys: FloatBuffer
    let queries: FloatBuffer

    init(_ d: ModelDescription, queryWidth: Int) {
        let lists = queryWidth * Self.stride(d.maxPositions)
        projected = FloatBuffer((d.distances?.rows ?? 0) * queryWidth)
        keys = FloatBuffer(lists)
        queries = FloatBuffer(lists)
    }

    /// Floats from one list to the next, for texts of up to a length.
    static func stride(_ longest: Int) -> Int { 2 * longest - 1 + Int(HUB_BEHIND) }
}
