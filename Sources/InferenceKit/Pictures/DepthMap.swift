/// How far away each pixel of a picture is.
public struct DepthMap: Sendable, Hashable {
    /// Pixels in a row: those of the picture.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Rows from the top, `height * width` numbers: metres of a metric model; of another one larger where it is nearer,
    /// without a unit.
    public let values: [Float]

    /// The smallest number.
    public var min: Float { values.min() ?? 0 }
    /// The largest.
    public var max: Float { values.max() ?? 0 }

    init(width: Int, height: Int, values: [Float]) {
        (self.width, self.height, self.values) = (width, height, values)
    }

    /// The numbers in 16 bits, from 0 for the smallest to 65,535 for the largest, rounded; 0 where all are equal.
    public var levels: [UInt16] {
        let (least, range) = (min, max - min)
        guard range > 0 else { return Array(repeating: 0, count: values.count) }
        return values.map { UInt16((($0 - least) / range * 65_535).rounded()) }
    }
}
