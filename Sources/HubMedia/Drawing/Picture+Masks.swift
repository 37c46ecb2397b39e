extension Picture {
    /// The picture in grey under the colours of masks, each mixed with what is below it, with a white line where one ends.
    /// Masks beyond the palette's eight colours are told apart by stripes, one kind for each eight. What was transparent is
    /// white.
    ///
    /// - Parameter masks: of each whether a pixel is in it, row by row; a pixel has the colour of the first that has it.
    ///   They are read one after the other.
    /// - Precondition: each has as many as the picture has pixels.
    public func drawing(masks: some Sequence<[Bool]>) -> Picture {
        guard alpha == nil else { return onWhite.drawing(masks: masks) }
        var owners = [Int](repeating: -1, count: width * height)
        for (number, mask) in masks.enumerated() {
            precondition(mask.count == width * height)
            for (place, isIn) in mask.enumerated() where isIn && owners[place] < 0 { owners[place] = number }
        }
        var drawn: [UInt8] = []
        drawn.reserveCapacity(pixels.count)
        for y in 0..<height {
            for x in 0..<width {
                let place = y * width + x
                let grey = luma(place)
                let (owner, isEdge) = (owners[place], isEdge(x, y, owners))
                guard owner >= 0 else {
                    drawn += [grey, grey, grey]
                    continue
                }
                let (red, green, blue) = isEdge ? (255, 255, 255) : Palette.color(owner)
                let share = isEdge || isStriped(x, y, owner) ? 8 : 5
                for color in [red, green, blue] {
                    drawn.append(UInt8((Int(color) * share + Int(grey) * (10 - share)) / 10))
                }
            }
        }
        return Picture(width: width, height: height, pixels: drawn)
    }

    /// ITU-R BT.601, as Pillow's `convert("L")` has it.
    private func luma(_ place: Int) -> UInt8 {
        let (red, green, blue) = (Int(pixels[3 * place]), Int(pixels[3 * place + 1]), Int(pixels[3 * place + 2]))
        return UInt8((red * 19_595 + green * 38_470 + blue * 7_471 + 0x8000) >> 16)
    }

    /// Whether a pixel's neighbour to the right or below belongs to another mask.
    private func isEdge(_ x: Int, _ y: Int, _ owners: [Int]) -> Bool {
        let place = y * width + x
        return x + 1 < width && owners[place + 1] != owners[place]
            || y + 1 < height && owners[place + width] != owners[place]
    }

    /// Stripes of 4 pixels, every 12: across, down, and to either side.
    private func isStriped(_ x: Int, _ y: Int, _ owner: Int) -> Bool {
        switch owner / 8 % 5 {
        case 1: (x + y) / 4 % 3 == 0
        case 2: (x + 12 * height - y) / 4 % 3 == 0
        case 3: y / 4 % 3 == 0
        case 4: x / 4 % 3 == 0
        default: false
        }
    }
}
