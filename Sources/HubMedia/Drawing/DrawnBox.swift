/// A rectangle that is drawn on a picture, with a text.
public struct DrawnBox: Sendable, Hashable {
    /// Its sides in pixels from the upper left corner of the picture; what is outside of it is not drawn.
    public var left: Double
    /// The upper side.
    public var top: Double
    /// The right side.
    public var right: Double
    /// The lower side.
    public var bottom: Double
    /// Letters that are not in ASCII are drawn as question marks.
    public var text: String
    /// The number of its colour in ``Palette``.
    public var color: Int

    /// A rectangle with a text.
    public init(left: Double, top: Double, right: Double, bottom: Double, text: String, color: Int) {
        (self.left, self.top, self.right, self.bottom) = (left, top, right, bottom)
        (self.text, self.color) = (text, color)
    }
}

extension Picture {
    /// The picture with rectangles and their texts on it, the first of them uppermost. Lines and letters are as large as suits
    /// the picture. What was transparent is white.
    ///
    /// - Parameter boxes: those with a side that is not finite, and those outside of the picture, are not drawn.
    public func drawing(_ boxes: [DrawnBox]) -> Picture {
        var canvas = Canvas(onWhite)
        let size = (Double(width) * Double(height)).squareRoot()
        let line = max(1, Int((size / 250).rounded()))
        let dot = max(1, Int((size / 220).rounded()))
        let seen = boxes.compactMap { box in canvas.area(of: box).map { (box, $0) } }
        for (box, area) in seen.reversed() {
            canvas.frame(area, thickness: line, Palette.color(box.color))
        }
        // A text is not laid on that of a surer box, where there is another place.
        var taken: [Area] = []
        var tags: [(DrawnBox, Area)] = []
        for (box, area) in seen where !box.text.isEmpty {
            let tag = canvas.tag(of: area, box.text, dot: dot, line: line, besides: taken)
            taken.append(tag)
            tags.append((box, tag))
        }
        for (box, tag) in tags.reversed() {
            canvas.write(box.text, in: tag, dot: dot, on: Palette.color(box.color))
        }
        return Picture(width: width, height: height, pixels: canvas.pixels)
    }
}

/// Whole pixels: from left and top on, up to right and bottom.
struct Area: Hashable {
    var left: Int
    var top: Int
    var right: Int
    var bottom: Int

    func meets(_ other: Area) -> Bool {
        left < other.right && other.left < right && top < other.bottom && other.top < bottom
    }
}
