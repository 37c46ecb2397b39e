/// A picture: RGB of 8 bits, rows from the top, without padding.
public struct Picture: Sendable, Hashable {
    /// Pixels in a row.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Red, green and blue of each pixel, 0 to 255: `3 * width * height` bytes.
    public let pixels: [UInt8]
    /// How much each pixel covers, 0 to 255: `width * height` bytes; nil if all of them do. The colours are those of the file, not
    /// multiplied with it.
    public let alpha: [UInt8]?

    /// A picture of these pixels.
    ///
    /// - Precondition: both sides are positive; `pixels` has `3 * width * height` bytes, `alpha` has `width * height`.
    public init(width: Int, height: Int, pixels: [UInt8], alpha: [UInt8]? = nil) {
        precondition(width > 0 && height > 0 && pixels.count == 3 * width * height)
        precondition(alpha == nil || alpha?.count == width * height)
        (self.width, self.height, self.pixels, self.alpha) = (width, height, pixels, alpha)
    }

    /// The picture without ``alpha``: the colours as they are, which is what `convert("RGB")` of Pillow gives.
    public var opaque: Picture { alpha == nil ? self : Picture(width: width, height: height, pixels: pixels) }

    /// The picture laid on white, by the arithmetic of Pillow's `alpha_composite`, which transformers 5 uses.
    public var onWhite: Picture {
        guard let alpha else { return self }
        var result = pixels
        for (at, cover) in alpha.enumerated() where cover != 255 {
            for index in 3 * at..<3 * at + 3 {
                let sum = Int(pixels[index]) * Int(cover) + 255 * (255 - Int(cover))
                result[index] = Self.dividedBy255(sum)
            }
        }
        return Picture(width: width, height: height, pixels: result)
    }

    /// Pillow's division of a sum of products by 255, rounded, with seven more bits as `Imaging/AlphaComposite.c` has them.
    private static func dividedBy255(_ sum: Int) -> UInt8 {
        // The share of the upper picture is its cover times 255 * 2^7, divided by the joint cover, which is whole here.
        let product = (sum << 7) + (0x80 << 7)
        return UInt8((((product >> 8) + product) >> 8) >> 7)
    }

    /// A part of the picture.
    ///
    /// - Precondition: it lies within the picture and is not empty.
    public func cropped(left: Int, top: Int, width: Int, height: Int) -> Picture {
        precondition(left >= 0 && top >= 0 && width > 0 && height > 0)
        precondition(width <= self.width - left && height <= self.height - top)
        func part(_ source: [UInt8], _ bytes: Int) -> [UInt8] {
            var result: [UInt8] = []
            result.reserveCapacity(width * height * bytes)
            for y in top..<top + height {
                let start = (y * self.width + left) * bytes
                result += source[start..<start + width * bytes]
            }
            return result
        }
        return Picture(width: width, height: height, pixels: part(pixels, 3), alpha: alpha.map { part($0, 1) })
    }
}
