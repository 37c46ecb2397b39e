import CPictures
import CPlatform
import HubCore

/// A part of a picture that is resized, in pixels from the left upper corner; its edges may lie within pixels. They are floats of 32
/// bits because Pillow's are.
public struct PictureBox: Sendable, Hashable {
    /// The edges in pixels, left and upper first.
    public var left, top, right, bottom: Float

    /// A box between these edges.
    public init(left: Float, top: Float, right: Float, bottom: Float) {
        (self.left, self.top, self.right, self.bottom) = (left, top, right, bottom)
    }
}

extension Picture {
    /// The picture in another size, equal to Pillow's `Image.resize` in every level: shrinking averages over the pixels that are
    /// covered, the width comes first, and each pass rounds to 8 bits. The result has no alpha. Pillow from 13 on begins with the
    /// height where that shrinks much more than the width: some levels then differ by one.
    ///
    /// - Parameters:
    ///   - width: the new width in pixels.
    ///   - height: the new height in pixels.
    ///   - filter: how pixels are weighed.
    ///   - box: the part that fills the new picture; without one, all of it.
    /// - Precondition: the sides are positive, and the box is a part of the picture that is not empty.
    public func resized(width: Int, height: Int, filter: ResizeFilter, box: PictureBox? = nil) -> Picture {
        let whole = PictureBox(left: 0, top: 0, right: Float(self.width), bottom: Float(self.height))
        let box = box ?? whole
        precondition(width > 0 && height > 0)
        precondition(box.left >= 0 && box.top >= 0 && box.left < box.right && box.top < box.bottom)
        precondition(box.right <= whole.right && box.bottom <= whole.bottom)
        if box == whole, width == self.width, height == self.height { return opaque }
        if filter == .nearest { return nearest(width: width, height: height, box: box) }
        let across = ResizePlan(size: self.width, part: box.left..<box.right, outputs: width, filter: filter)
        let down = ResizePlan(size: self.height, part: box.top..<box.bottom, outputs: height, filter: filter)
        var (rows, source) = (0..<self.height, pixels)
        // A pass that changes nothing is left out.
        if width != self.width || box.left != 0 || box.right != whole.right {
            rows = down.inputs
            source = resizedRows(across, rows)
        }
        if height != self.height || box.top != 0 || box.bottom != whole.bottom {
            source = Self.resizedColumns(source, down.from(rows.lowerBound), width: width)
        }
        return Picture(width: width, height: height, pixels: source)
    }

    /// Rows that one processor takes at a time.
    private static let rowsAtOnce = 64

    private func resizedRows(_ plan: ResizePlan, _ rows: Range<Int>) -> [UInt8] {
        let outputs = plan.starts.count
        return Self.bytes(3 * outputs * rows.count) { target in
            pixels.withUnsafeBufferPointer { source in
                guard let start = source.baseAddress else { return }
                let (source, end) = (start + 3 * width * rows.lowerBound, start + source.count)
                Self.perform(rows.count) { part in
                    plan.withPlan {
                        hub_resize_rows(
                            source + 3 * width * part.lowerBound, end, width, part.count, &$0,
                            target + 3 * outputs * part.lowerBound)
                    }
                }
            }
        }
    }

    private static func resizedColumns(_ source: [UInt8], _ plan: ResizePlan, width: Int) -> [UInt8] {
        let outputs = plan.starts.count
        return bytes(3 * width * outputs) { target in
            source.withUnsafeBufferPointer { source in
                perform(outputs) { part in
                    plan.withPlan {
                        hub_resize_columns(
                            source.baseAddress, 3 * width, &$0, part.lowerBound, part.upperBound,
                            target + 3 * width * part.lowerBound)
                    }
                }
            }
        }
    }

    /// Calls a body with parts of `0..<count`, on several processors if there is much to do.
    private static func perform(_ count: Int, _ body: (Range<Int>) -> Void) {
        let parts = (count + rowsAtOnce - 1) / rowsAtOnce
        func part(_ number: Int) -> Range<Int> {
            number * rowsAtOnce..<min(count, (number + 1) * rowsAtOnce)
        }
        if parts < 2 { return body(0..<count) }
        // Any thread fills rows of its own.
        Parallel.perform(parts) { body(part($0)) }
    }

    private static func bytes(_ count: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> Void) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            hub_prefer_large_pages(buffer.baseAddress, count)
            if let start = buffer.baseAddress { fill(start) }
            filled = count
        }
    }

    /// Pillow's `ImagingScaleAffine`: the places are summed up, so that they are off by the same rounding.
    private func nearest(width: Int, height: Int, box: PictureBox) -> Picture {
        func places(_ start: Float, _ end: Float, _ count: Int, _ limit: Int) -> [Int?] {
            let step = Double(end - start) / Double(count)
            var place = Double(start) + step * 0.5
            return (0..<count).map { _ in
                defer { place += step }
                let index = place < 0 ? -1 : Int(place)
                return index >= 0 && index < limit ? index : nil
            }
        }
        let columns = places(box.left, box.right, width, self.width)
        var result = [UInt8](repeating: 0, count: 3 * width * height)
        for (y, row) in places(box.top, box.bottom, height, self.height).enumerated() {
            guard let row else { continue }
            for (x, column) in columns.enumerated() {
                guard let column else { continue }
                let (from, to) = (3 * (row * self.width + column), 3 * (y * width + x))
                for color in 0..<3 { result[to + color] = pixels[from + color] }
            }
        }
        return Picture(width: width, height: height, pixels: result)
    }
}
