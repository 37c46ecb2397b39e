public import HubCore
public import HubMedia

/// Turns pictures into what a model was trained on, as its files say: resized, cropped, normalised.
///
/// The steps and their rounding are those of transformers, timm and open_clip with Pillow: levels of 8 bits are resized and rounded
/// to 8 bits, then become numbers. transformers 5 resizes with torchvision instead, some levels of which differ by one. DINOv3 and
/// OWLv2 are resized in floats.
public struct PictureProcessor: Sendable {
    /// Where the pixels are resized.
    enum Arithmetic: Sendable, Hashable {
        /// In levels of 8 bits.
        case levels
        /// In floats, averaging over all that is covered.
        case floats
        /// In floats, the square that the picture is padded to, blurred first: OWLv2.
        case blurredSquare
    }

    struct Crop: Sendable, Hashable {
        var height, width: Int
        /// Levels of what is added to a picture that is too small.
        var fill: [UInt8] = [0, 0, 0]
        /// Whether half a pixel goes to the even side, as torchvision's own transforms do, and not down.
        var isRoundedToEven = false
    }

    enum Padding: Sendable, Hashable {
        /// To the right and to the bottom, up to this size.
        case to(height: Int, width: Int)
        /// On all sides, to whole multiples.
        case around(multiple: Int)
    }

    var size = PictureSize.unchanged
    var filter = ResizeFilter.bilinear
    var arithmetic = Arithmetic.levels
    var crop: Crop?
    /// What levels are multiplied with.
    var factor = 1.0
    /// Of red, green and blue, after the factor.
    var means = [0.0, 0, 0], deviations = [1.0, 1, 1]
    /// Whether blue comes first; means and deviations are then none.
    var isBlueFirst = false
    var padding: Padding?
    /// The most pixels of what is made on the way.
    package var mostPixels = PictureLimits().pixels
    /// Pixels on a side of the patches that the model takes in the order of ``PicturePixels/patches(side:)``; nil for others.
    public internal(set) var patchSide: Int?

    /// Processes a picture. Its alpha is not looked at, as in transformers' own loader; ``Picture/onWhite`` before this gives what
    /// its processors make of RGBA.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` if the picture would get sides of 0 or more than 100 million pixels.
    public func process(
        _ picture: Picture, layout: PicturePixels.Layout = .planes
    ) throws(AIError) -> PicturePixels {
        var sides = (height: picture.height, width: picture.width)
        if arithmetic == .blurredSquare {
            sides = (max(sides.height, sides.width), max(sides.height, sides.width))
            try check(picture, sides.height, sides.width)
        }
        let target = size.sides(height: sides.height, width: sides.width)
        try check(picture, target.height, target.width)
        // Between the two passes.
        try check(picture, sides.height, target.width)
        if let crop { try check(picture, crop.height, crop.width) }
        let pixels: PicturePixels
        if arithmetic == .levels {
            let resized = picture.resized(width: target.width, height: target.height, filter: filter)
            pixels = normalized(crop.map { resized.cropped(to: $0) } ?? resized, layout)
        } else {
            pixels = normalized(floats(picture, target.height, target.width), layout)
        }
        return try padded(pixels, picture)
    }

    private func check(_ picture: Picture, _ height: Int, _ width: Int) throws(AIError) {
        try check((picture.height, picture.width), height, width)
    }

    private func check(_ sides: (height: Int, width: Int), _ height: Int, _ width: Int) throws(AIError) {
        guard height > 0, width > 0, height <= mostPixels / width else {
            throw AIError(
                .invalidInput,
                "a picture of \(sides.width) by \(sides.height) pixels would become one of \(width) by \(height)")
        }
    }

    /// The sides of what becomes of a picture, without making it.
    ///
    /// - Throws: what ``process(_:layout:)`` throws.
    func sides(height: Int, width: Int) throws(AIError) -> (height: Int, width: Int) {
        let longer = max(height, width)
        var made = arithmetic == .blurredSquare ? (height: longer, width: longer) : (height: height, width: width)
        made = size.sides(height: made.height, width: made.width)
        if arithmetic == .levels, let crop { made = (crop.height, crop.width) }
        try check((height, width), made.height, made.width)
        switch padding {
        case nil: break
        case .to(let height, let width): made = (height, width)
        case .around(let multiple):
            func whole(_ side: Int) -> Int { (side + multiple - 1) / multiple * multiple }
            made = (whole(made.height), whole(made.width))
        }
        try check((height, width), made.height, made.width)
        return made
    }

    /// Levels as the model's numbers; there are 256 of a colour.
    private func normalized(_ picture: Picture, _ layout: PicturePixels.Layout) -> PicturePixels {
        let tables = (0..<3).map { color in
            (0..<256).map { Float((Double($0) * factor - means[color]) / deviations[color]) }
        }
        return filled(picture.height, picture.width, layout) { at, color in tables[color][Int(picture.pixels[at])] }
    }

    private func normalized(_ grid: FloatGrid, _ layout: PicturePixels.Layout) -> PicturePixels {
        let (means, deviations) = (means.map { Float($0) }, deviations.map { Float($0) })
        return filled(grid.height, grid.width, layout) { at, color in
            (grid.values[at] - means[color]) / deviations[color]
        }
    }

    /// - Parameter value: the number of a place among red, green and blue after another, and of a colour.
    private func filled(
        _ height: Int, _ width: Int, _ layout: PicturePixels.Layout, _ value: (Int, Int) -> Float
    ) -> PicturePixels {
        let count = height * width
        let values = [Float](unsafeUninitializedCapacity: 3 * count) { values, filled in
            for color in 0..<3 {
                let place = isBlueFirst ? 2 - color : color
                let (start, step) = layout == .planes ? (place * count, 1) : (place, 3)
                for pixel in 0..<count { values[start + pixel * step] = value(3 * pixel + color, color) }
            }
            filled = 3 * count
        }
        return PicturePixels(
            height: height, width: width, contentHeight: height, contentWidth: width, layout: layout, values: values
        )
    }

    private func floats(_ picture: Picture, _ height: Int, _ width: Int) -> FloatGrid {
        let factor = Float(factor)
        var grid = FloatGrid(
            height: picture.height, width: picture.width, channels: 3,
            values: picture.pixels.map { Float($0) * factor })
        if arithmetic == .blurredSquare {
            let side = max(picture.height, picture.width)
            grid = grid.padded(height: side, width: side)
            // SciPy's zoom blurs before it leaves pixels out.
            let sigma = (Float(side) / Float(height) - 1) / 2
            if sigma > 0 { grid = grid.blurred(sigma: sigma) }
            return grid.resized(height: height, width: width, interpolation: .bilinear)
        }
        if height == grid.height, width == grid.width { return grid }
        return grid.resized(
            height: height, width: width, interpolation: filter == .bicubic ? .bicubic : .bilinear, antialias: true)
    }

    private func padded(_ pixels: PicturePixels, _ picture: Picture) throws(AIError) -> PicturePixels {
        switch padding {
        case nil: return pixels
        case .to(let height, let width):
            guard pixels.height <= height, pixels.width <= width else {
                throw AIError(
                    .invalidInput,
                    """
                    a picture of \(picture.width) by \(picture.height) pixels becomes one of \(pixels.width) by \
                    \(pixels.height), which does not fit into \(width) by \(height)
                    """)
            }
            try check(picture, height, width)
            return pixels.padded(top: 0, left: 0, height: height, width: width)
        case .around(let multiple):
            func whole(_ side: Int) -> Int { (side + multiple - 1) / multiple * multiple }
            let (height, width) = (whole(pixels.height), whole(pixels.width))
            try check(picture, height, width)
            return pixels.padded(
                top: (height - pixels.height) / 2, left: (width - pixels.width) / 2, height: height, width: width)
        }
    }
}

extension Picture {
    /// The middle of the picture; what is too small is filled up first.
    fileprivate func cropped(to crop: PictureProcessor.Crop) -> Picture {
        func start(_ side: Int, _ wanted: Int) -> Int {
            if wanted > side { return -((wanted - side) / 2) }
            let spare = side - wanted
            guard crop.isRoundedToEven else { return spare / 2 }
            return Int((Double(spare) / 2).rounded(.toNearestOrEven))
        }
        let (top, left) = (start(height, crop.height), start(width, crop.width))
        let (firstRow, firstColumn) = (max(top, 0), max(left, 0))
        let inside = cropped(
            left: firstColumn, top: firstRow, width: min(crop.width, width - firstColumn),
            height: min(crop.height, height - firstRow))
        if inside.width == crop.width, inside.height == crop.height { return inside }
        var pixels = [UInt8](repeating: 0, count: 3 * crop.width * crop.height)
        for at in pixels.indices { pixels[at] = crop.fill[at % 3] }
        for y in 0..<inside.height {
            let to = 3 * ((y + max(-top, 0)) * crop.width + max(-left, 0)), from = 3 * inside.width * y
            pixels.replaceSubrange(to..<to + 3 * inside.width, with: inside.pixels[from..<from + 3 * inside.width])
        }
        return Picture(width: crop.width, height: crop.height, pixels: pixels)
    }
}

extension PicturePixels {
    /// The same numbers with zeros around them.
    fileprivate func padded(top: Int, left: Int, height: Int, width: Int) -> PicturePixels {
        if height == self.height, width == self.width { return self }
        var result = [Float](repeating: 0, count: 3 * height * width)
        let (planes, numbers) = layout == .planes ? (3, 1) : (1, 3)
        for plane in 0..<planes {
            for y in 0..<self.height {
                let from = (plane * self.height + y) * self.width * numbers
                let to = ((plane * height + top + y) * width + left) * numbers
                let count = self.width * numbers
                result.replaceSubrange(to..<to + count, with: values[from..<from + count])
            }
        }
        return PicturePixels(
            height: height, width: width, contentHeight: contentHeight, contentWidth: contentWidth, layout: layout,
            values: result)
    }
}
