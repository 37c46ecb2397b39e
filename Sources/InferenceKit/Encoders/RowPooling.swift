/// The rows of a text as one vector.
enum RowPooling {
    /// - Parameter rows: `[count][width]`
    static func apply(_ modules: SentenceModules, _ rows: UnsafePointer<Float>, count: Int, width: Int) -> [Float] {
        var vector = [Float](repeating: 0, count: width)
        switch modules.pooling {
        case .first: for i in 0..<width { vector[i] = rows[i] }
        case .last: for i in 0..<width { vector[i] = rows[(count - 1) * width + i] }
        case .mean:
            for i in 0..<width {
                var sum = 0.0
                for row in 0..<count { sum += Double(rows[row * width + i]) }
                vector[i] = Float(sum / Double(count))
            }
        case .largest:
            for i in 0..<width { vector[i] = (0..<count).map { rows[$0 * width + i] }.max() ?? 0 }
        }
        guard modules.isNormalized else { return vector }
        let length = vector.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot()
        // As torch's normalize, which never divides by less.
        return vector.map { Float(Double($0) / max(length, 1e-12)) }
    }
}
