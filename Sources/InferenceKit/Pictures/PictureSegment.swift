/// The pixels of a picture that have a label.
public struct PictureSegment: Sendable, Hashable {
    /// The label.
    public let label: String
    /// The mean probability of the label over these pixels, 0 to 1.
    public let score: Double
    /// How many there are.
    public let pixels: Int
    /// Whether each pixel of the picture is one of them, row by row from the top: as many as the picture has.
    public let mask: [Bool]

    init(label: String, score: Double, pixels: Int, mask: [Bool]) {
        (self.label, self.score, self.pixels, self.mask) = (label, score, pixels, mask)
    }
}
