/// The pixels of a picture that have a label.
public struct PictureSegment: Sendable, Hashable {
    /// The label.
    public let label: String
    /// The mean probability of the label over these pixels, 0 to 1.
    public let score: Double
    /// How many there are.
    public let pixels: Int
    /// The label's number, and that of each pixel's: a list that all segments of a picture share.
    private let number: UInt32
    private let numbers: [UInt32]

    /// Whether each pixel of the picture is one of them, row by row from the top: as many as the picture has. Made each
    /// time that it is read.
    public var mask: [Bool] { numbers.map { $0 == number } }

    init(label: String, score: Double, pixels: Int, number: UInt32, of numbers: [UInt32]) {
        (self.label, self.score, self.pixels) = (label, score, pixels)
        (self.number, self.numbers) = (number, numbers)
    }
}
