import CKernels
public import HubCore

/// Vectors that are compared with another: all of them, which takes some milliseconds for 100,000.
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

    /// Fewer numbers are compared before another thread has begun.
    private static let fewNumbers = 1 << 20

    /// An index of some vectors.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for vectors of different lengths.
    public init(_ vectors: some Sequence<EmbeddingResult> = []) throws(AIError) {
        for vector in vectors { try add(vector) }
    }

    /// An empty index.
    package init() {}

    /// Adds a vector.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for one of another length.
    public mutating func add(_ vector: EmbeddingResult) throws(AIError) {
        if count == 0 { dimensions = vector.dimensions }
        values += try lanes(vector)
        count += 1
    }

    /// Adds a vector of ``unitBytes(_:)``, of the same length as the others.
    package mutating func add(unit bytes: UnsafeRawBufferPointer) {
        let size = MemoryLayout<Float>.size
        if count == 0 { dimensions = bytes.count / size }
        precondition(bytes.count == dimensions * size, "a vector of another length")
        let start = values.count
        values.append(contentsOf: repeatElement(SIMD8(), count: width))
        values.withUnsafeMutableBytes { all in
            let place = start * MemoryLayout<SIMD8<Float>>.stride
            UnsafeMutableRawBufferPointer(rebasing: all[place..<place + bytes.count]).copyMemory(from: bytes)
        }
        count += 1
    }

    /// A vector's numbers, scaled to length 1, as float32 in the machine's order.
    package static func unitBytes(_ vector: EmbeddingResult) -> [UInt8] {
        unit(vector).withUnsafeBytes { Array($0) }
    }

    /// The vectors nearest to another by their cosine, the nearest first; of equally near ones the first added.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a vector of another length, ``ErrorCode/ioError`` if threads cannot be
    ///   created.
    public func nearest(to vector: EmbeddingResult, count wanted: Int) throws(AIError) -> [Neighbor] {
        guard count > 0, wanted > 0 else { return [] }
        let cosines = try cosines(try lanes(vector))
        return Self.best(cosines, wanted).map {
            Neighbor(index: $0, cosine: Double(min(1, max(-1, cosines[$0]))))
        }
    }

    /// The lanes of a vector.
    private var width: Int { (dimensions + 7) / 8 }

    private func cosines(_ query: [SIMD8<Float>]) throws(AIError) -> [Float] {
        let isSmall = count * width * 8 < Self.fewNumbers
        let team = try ComputeTeam(threads: isSmall ? 1 : nil)
        var out = [Float](repeating: 0, count: count)
        let columns = width * 8
        let packed = UnsafeMutableRawPointer.allocate(byteCount: hub_packed_bytes(1, columns), alignment: 64)
        defer { packed.deallocate() }
        values.withUnsafeBytes { values in
            query.withUnsafeBytes { query in
                out.withUnsafeMutableBufferPointer { out in
                    var input = hub_input()
                    input.values = query.baseAddress?.assumingMemoryBound(to: Float.self)
                    (input.stride, input.rows, input.columns) = (columns, 1, columns)
                    input.exact = true
                    input.packed = packed
                    var matrix = hub_matrix()
                    matrix.weights = values.baseAddress
                    matrix.stride = columns * MemoryLayout<Float>.stride
                    (matrix.rows, matrix.columns, matrix.format) = (count, columns, HUB_F32)
                    withUnsafePointer(to: &matrix) { matrix in
                        var product = hub_product(matrix: matrix, bias: nil, out: out.baseAddress, stride: count)
                        hub_multiply(team.team, &input, &product, 1)
                    }
                }
            }
        }
        return out
    }

    /// The places of the largest numbers, the largest first.
    private static func best(_ numbers: [Float], _ wanted: Int) -> [Int] {
        if wanted > numbers.count / 16 {
            return Array(numbers.indices.sorted { (numbers[$1], $0) < (numbers[$0], $1) }.prefix(wanted))
        }
        var best: [Int] = []
        best.reserveCapacity(wanted + 1)
        var least = -Float.infinity
        numbers.withUnsafeBufferPointer { numbers in
            for (index, number) in numbers.enumerated() where best.count < wanted || number > least {
                var place = best.count
                while place > 0, numbers[best[place - 1]] < number { place -= 1 }
                best.insert(index, at: place)
                if best.count > wanted { best.removeLast() }
                least = numbers[best[best.count - 1]]
            }
        }
        return best
    }

    /// A vector of length 1; one of zeros stays as it is.
    private func lanes(_ vector: EmbeddingResult) throws(AIError) -> [SIMD8<Float>] {
        guard vector.dimensions == dimensions else {
            throw AIError(
                .invalidInput,
                "a vector of \(vector.dimensions) numbers cannot be compared with ones of \(dimensions)")
        }
        var lanes = [SIMD8<Float>](repeating: SIMD8(), count: width)
        for (i, value) in Self.unit(vector).enumerated() { lanes[i / 8][i % 8] = value }
        return lanes
    }

    private static func unit(_ vector: EmbeddingResult) -> [Float] {
        let length = vector.vector.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot()
        return length > 0 ? vector.vector.map { Float(Double($0) / length) } : vector.vector
    }
}
