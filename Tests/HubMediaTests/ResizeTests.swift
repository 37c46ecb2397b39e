import CPictures
import HubCore
import HubMedia
import Support
import Testing

/// Resizing against Pillow and PyTorch (scripts/goldens_resizing.py).
@Suite struct ResizeTests {
    private static func goldens(_ key: String) throws -> [JSON] {
        try #require(try Fixtures.json("goldens/resizing.json")[key]?.array)
    }

    private static func numbers(_ json: JSON?) -> [Int] { (json?.array ?? []).compactMap { $0.int.map(Int.init) } }

    private static func picture(seed: Int, width: Int, height: Int) -> Picture {
        var random = SeededRandom(number: seed)
        let pixels = (0..<3 * width * height).map { _ in UInt8(random.next() >> 56) }
        return Picture(width: width, height: height, pixels: pixels)
    }

    @Test func everyLevelIsPillows() throws {
        var filters: Set<ResizeFilter> = []
        for golden in try Self.goldens("pictures") {
            let (from, to) = (Self.numbers(golden["from"]), Self.numbers(golden["to"]))
            let seed = try #require(golden["seed"]?.int), number = try #require(golden["filter"]?.int)
            let filter = try #require(ResizeFilter(rawValue: Int(number)))
            let box = golden["box"]?.array?.compactMap { $0.double.map { Float($0) } }
            let resized = Self.picture(seed: Int(seed), width: from[0], height: from[1]).resized(
                width: to[0], height: to[1], filter: filter,
                box: box.map { PictureBox(left: $0[0], top: $0[1], right: $0[2], bottom: $0[3]) })
            #expect(resized.width == to[0] && resized.height == to[1] && resized.alpha == nil)
            let digest = resized.pixels.sha256
            #expect(digest.prefix(16) == golden["sha256"]?.string ?? "", "\(golden.text())")
            filters.insert(filter)
        }
        #expect(filters == Set(ResizeFilter.allCases))
    }

    /// The kernels of this processor against portable code, at the ends of memory, too.
    @Test func everyKernelDoesTheSame() {
        var random = SeededRandom(number: 5)
        for _ in 0..<60 {
            let (width, height) = (1 + random.below(70), 1 + random.below(20))
            let source = (0..<3 * width * height).map { _ in UInt8(random.one(in: 3) ? 255 : random.below(256)) }
            let outputs = 1 + random.below(40), stride = 4 * (1 + random.below(8))
            func plan(_ size: Int) -> (starts: [Int32], taps: [Int32], weights: [Int32]) {
                var starts: [Int32] = [], taps: [Int32] = [], weights: [Int32] = []
                for _ in 0..<outputs {
                    let count = 1 + random.below(min(size, stride))
                    starts.append(Int32(random.below(size - count + 1)))
                    taps.append(Int32(count))
                    for tap in 0..<stride {
                        // Together never more than a sum of 32 bits holds.
                        let most = (1 << 23) / count
                        weights.append(tap < count ? Int32(random.below(2 * most) - most) : 0)
                    }
                }
                return (starts, taps, weights)
            }
            let across = plan(width), down = plan(height)
            var fast = [UInt8](repeating: 1, count: 3 * outputs * height), plain = fast
            var rows = hub_resize_plan()
            across.starts.withUnsafeBufferPointer { starts in
                across.taps.withUnsafeBufferPointer { taps in
                    across.weights.withUnsafeBufferPointer { weights in
                        rows = hub_resize_plan(
                            starts: starts.baseAddress, taps: taps.baseAddress, weights: weights.baseAddress,
                            outputs: outputs, stride: stride)
                        source.withUnsafeBufferPointer {
                            let end = $0.baseAddress.map { $0 + source.count }
                            hub_resize_rows($0.baseAddress, end, width, height, &rows, &fast)
                            hub_resize_rows_portable($0.baseAddress, width, height, &rows, &plain)
                        }
                    }
                }
            }
            #expect(fast == plain)
            fast = [UInt8](repeating: 1, count: 3 * width * outputs)
            plain = fast
            down.starts.withUnsafeBufferPointer { starts in
                down.taps.withUnsafeBufferPointer { taps in
                    down.weights.withUnsafeBufferPointer { weights in
                        rows = hub_resize_plan(
                            starts: starts.baseAddress, taps: taps.baseAddress, weights: weights.baseAddress,
                            outputs: outputs, stride: stride)
                        hub_resize_columns(source, 3 * width, &rows, 0, outputs, &fast)
                        hub_resize_columns_portable(source, 3 * width, &rows, 0, outputs, &plain)
                    }
                }
            }
            #expect(fast == plain)
        }
    }

    /// Rows and columns that several processors take, against the same picture in one piece.
    @Test func aLargePictureIsResizedAsASmallOneIs() {
        let picture = Self.picture(seed: 77, width: 700, height: 500)
        let whole = picture.resized(width: 90, height: 200, filter: .bicubic)
        for (top, rows) in [(0, 1), (63, 3), (128, 72)] {
            let scale: Float = 500 / 200
            let box = PictureBox(
                left: 0, top: Float(top) * scale, right: 700, bottom: Float(top + rows) * scale)
            let part = picture.resized(width: 90, height: rows, filter: .bicubic, box: box)
            #expect(part == whole.cropped(left: 0, top: top, width: 90, height: rows))
        }
    }

    @Test func everyGridIsPyTorchs() throws {
        var worst: Float = 0
        for golden in try Self.goldens("grids") {
            let (from, to) = (Self.numbers(golden["from"]), Self.numbers(golden["to"]))
            var random = SeededRandom(number: Int(try #require(golden["seed"]?.int)))
            let values = (0..<3 * from[0] * from[1]).map { _ in Float(random.next() >> 40) / Float(1 << 24) - 0.5 }
            let grid = FloatGrid(height: from[0], width: from[1], channels: 3, values: values).resized(
                height: to[0], width: to[1],
                interpolation: golden["mode"]?.string == "bicubic" ? .bicubic : .bilinear,
                antialias: golden["antialias"]?.bool == true, alignCorners: golden["corners"]?.bool == true)
            let expected = try #require(golden["every_seventh"]?.string.flatMap { Base64.bytes($0) }).floats
            let found = stride(from: 0, to: grid.values.count, by: 7).map { grid.values[$0] }
            #expect(found.count == expected.count)
            let difference = zip(found, expected).map { abs($0 - $1) }.max() ?? 0
            #expect(difference < 2e-6, "\(golden["seed"]?.text() ?? "") \(golden["mode"]?.text() ?? "")")
            worst = max(worst, difference)
        }
        #expect(worst > 0, "no sum is rounded otherwise, so nothing was compared")
    }
}

extension [UInt8] {
    var sha256: String {
        let hasher = ContentHasher()
        hasher.update(self)
        return hasher.finish().hex
    }

    /// Numbers of 32 bits, the lowest byte first.
    var floats: [Float] {
        stride(from: 0, to: count, by: 4).map { at in
            Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(self[at + $1]) << UInt32(8 * $1) })
        }
    }
}
