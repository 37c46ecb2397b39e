/// A picture as a model takes it: three colours in float32.
public struct PicturePixels: Sendable, Hashable {
    /// How the numbers are ordered.
    public enum Layout: Sendable, Hashable {
        /// Colour, row, column: PyTorch's channels first.
        case planes
        /// Row, column, colour.
        case pixels
    }

    /// Rows.
    public let height: Int
    /// Pixels in a row.
    public let width: Int
    /// Rows and pixels of a row that show the picture; those behind them, to the bottom and to the right, were added.
    public let contentHeight, contentWidth: Int
    /// How ``values`` are ordered.
    public let layout: Layout
    /// The numbers: `3 * height * width`.
    public let values: [Float]

    /// The colours of square patches: row after row of patches, each as rows of pixels of three colours; one patch has
    /// `3 * side * side` numbers. What is left over at the right and at the bottom is left out.
    ///
    /// - Precondition: the layout is ``Layout/pixels``, and the side is positive.
    public func patches(side: Int) -> [Float] {
        precondition(layout == .pixels && side > 0)
        var patches: [Float] = []
        patches.reserveCapacity(values.count)
        for row in 0..<height / side {
            for column in 0..<width / side {
                for y in row * side..<(row + 1) * side {
                    let start = 3 * (y * width + column * side)
                    patches += values[start..<start + 3 * side]
                }
            }
        }
        return patches
    }
}

extension PicturePixels {
    /// The numbers of squares of pixels, row after row of them. In planes each has the first colour, row by row, then the
    /// next, as a convolution's kernel; otherwise rows of pixels.
    func squares(side: Int, rows: Int, columns: Int) -> [[Float]] {
        guard layout == .planes else {
            let (numbers, count) = (patches(side: side), 3 * side * side)
            return (0..<rows * columns).map { Array(numbers[$0 * count..<($0 + 1) * count]) }
        }
        var all: [[Float]] = []
        all.reserveCapacity(rows * columns)
        for row in 0..<rows {
            for column in 0..<columns {
                var square: [Float] = []
                square.reserveCapacity(3 * side * side)
                for color in 0..<3 {
                    for y in row * side..<(row + 1) * side {
                        let start = (color * height + y) * width + column * side
                        square += values[start..<start + side]
                    }
                }
                all.append(square)
            }
        }
        return all
    }
}
