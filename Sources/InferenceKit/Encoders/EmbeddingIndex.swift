public import HubCore

/// Vectors that are compared with another: all of them, which for some thousands takes a millisecond.
public struct EmbeddingIndex: Sendable {
    /// A vector near another.
    public struct Neighbor: Sendable, Hashable {
        /// Its place in the order of adding.
        public let index: Int
        /// The cosine of the angle between both, -1 to 1.
        public let cosine: Double
    }

    /// Numbers of a vector; 0 while there is none.
    public private(set) var dimensions = 0
    /// The number of vectors.
    public private(set) var count = 0
    /// Of length 1, each filled up with zeros to a whole number of lanes.
    private var values: [SIMD8<Float>] = []

    /// An index of some vectors.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for vectors of different lengths.
    public init(_ vectors: some Sequence<EmbeddingResult> = []) throws(AIError) {
        for vector in vectors { try add(vector) }
    }

    /// Adds a vector.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for one of another length.
    public mutating func add(_ vector: EmbeddingResult) throws(AIError) {
        if count == 0 { dimensions = vector.dimensions }
        values += try lanes(vector)
        count += 1
    }

    /// The vectors nearest to another by their cosine, the nearest first; of equally near ones the first added.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a vector of another length.
    public func nearest(to vector: EmbeddingResult, count wanted: Int) throws(AIError) -> [Neighbor] {
        guard count > 0, wanted > 0 else { return [] }
        let query = try lanes(vector)
        let cosines = values.withUnsafeBufferPointer { values in
            query.withUnsafeBufferPointer { query in
                (0..<count).map {
                    Self.dot(
                        query, UnsafeBufferPointer(rebasing: values[$0 * query.count..<($0 + 1) * query.count]))
                }
            }
        }
        let order = cosines.indices.sorted { (cosines[$1], $0) < (cosines[$0], $1) }
        return order.prefix(wanted).map { Neighbor(index: $0, cosine: Double(min(1, max(-1, cosines[$0])))) }
    }

    private static func dot(
        _ left: UnsafeBufferPointer<SIMD8<Float>>, _ right: UnsafeBufferPointer<SIMD8<Float>>
    ) -> Float {
        var sum = SIMD8<Float>()
        for i in left.indices { sum += left[i] * right[i] }
        return sum.sum()
    }

    /// A vector of length 1; one of zeros stays as it is.
    private func lanes(_ vector: EmbeddingResult) throws(AIError) -> [SIMD8<Float>] {
        guard vector.dimensions == dimensions else {
            throw AIError(
                .invalidInput,
                "a vector of \(vector.dimensions) numbers cannot be compared with ones of \(dimensions)")
        }
        let length = vector.vector.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot()
        var lanes = [SIMD8<Float>](repeating: SIMD8(), count: (dimensions + 7) / 8)
        guard length > 0 else { return lanes }
        for (i, value) in vector.vector.enumerated() { lanes[i / 8][i % 8] = Float(Double(value) / length) }
        return lanes
    }
}
