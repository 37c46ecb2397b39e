import HubMedia
import Libc

/// An object that a model found in a picture.
public struct FoundObject: Sendable, Hashable {
    /// What it is, as the configuration names it.
    public let label: String
    /// Its probability.
    public let score: Double
    /// Where it is.
    public let box: ObjectBox

    /// An object in a picture.
    public init(label: String, score: Double, box: ObjectBox) {
        (self.label, self.score, self.box) = (label, score, box)
    }
}

/// A rectangle in a picture, in pixels of the picture as it is shown, from its upper left corner. A model may put a side a
/// little outside of the picture.
public struct ObjectBox: Sendable, Hashable {
    /// The left side.
    public let left: Double
    /// The upper side.
    public let top: Double
    /// The right side.
    public let right: Double
    /// The lower side.
    public let bottom: Double

    /// A rectangle.
    public init(left: Double, top: Double, right: Double, bottom: Double) {
        (self.left, self.top, self.right, self.bottom) = (left, top, right, bottom)
    }
}

extension FoundObject {
    /// What a row says, for the likeliest label (transformers' `post_process_object_detection`).
    init(_ row: ObjectRow, _ labels: [String], in picture: Picture) {
        let largest = row.logits.max() ?? 0
        let weights = row.logits.map { exp(Double($0 - largest)) }
        // The last one is that of no object.
        let best = weights.dropLast().indices.max { weights[$0] < weights[$1] } ?? 0
        let shares = row.box.map(Double.init)
        let (width, height) = (Double(picture.width), Double(picture.height))
        self.init(
            label: labels[best], score: weights[best] / weights.reduce(0, +),
            box: ObjectBox(
                left: (shares[0] - shares[2] / 2) * width, top: (shares[1] - shares[3] / 2) * height,
                right: (shares[0] + shares[2] / 2) * width, bottom: (shares[1] + shares[3] / 2) * height))
    }
}
