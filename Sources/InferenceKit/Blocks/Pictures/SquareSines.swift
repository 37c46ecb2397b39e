import Libc

/// Where squares are, as sines and cosines: how far down in the first half of a row, and how far across in the other
/// (transformers' `DetrSinePositionEmbedding`; https://arxiv.org/abs/2005.12872, appendix A.4).
enum SquareSines {
    private static let temperature: Float = 10_000
    /// Keeps a picture of no squares from dividing by 0.
    private static let least: Float = 1e-6

    /// `[rows * columns][width]`, for squares row by row.
    static func table(rows: Int, columns: Int, width: Int) -> FloatBuffer {
        let half = width / 2
        let periods = (0..<half).map { powf(temperature, Float(2 * ($0 / 2)) / Float(half)) }
        func numbers(_ place: Int, of count: Int) -> [Float] {
            let way = Float(place + 1) / (Float(count) + least) * (2 * Float.pi)
            return periods.enumerated().map { $0 % 2 == 0 ? sinf(way / $1) : cosf(way / $1) }
        }
        let down = (0..<rows).map { numbers($0, of: rows) }
        let across = (0..<columns).map { numbers($0, of: columns) }
        return FloatBuffer(down.flatMap { row in across.flatMap { row + $0 } })
    }
}
