import HubCore
import HubMedia
import Support
import Testing

/// What is written of maps: levels of 16 bits, arrays of NumPy, masks over a picture.
@Suite struct MapDrawingTests {
    @Test(arguments: [(1, 1), (7, 5), (300, 2), (64, 200)])
    func levelsOfSixteenBitsAreWritten(_ width: Int, _ height: Int) throws {
        var random = SeededRandom(number: width)
        let levels = (0..<width * height).map { _ in UInt16(truncatingIfNeeded: random.next()) }
        let file = try Picture.png(levels: levels, width: width, height: height)
        #expect(Array(file[24...25]) == [16, 0])
        // The reader clips grey of 16 bits, as Pillow does.
        let read = try PictureFile.read(file, name: "x")
        #expect(read.width == width && read.height == height)
        let expected = levels.flatMap { level in Array(repeating: UInt8(min(level, 255)), count: 3) }
        #expect(read.pixels == expected)
        let small = levels.map { $0 & 255 }
        let again = try PictureFile.read(
            try Picture.png(levels: small, width: width, height: height), name: "x")
        #expect(again.pixels == small.flatMap { [UInt8($0), UInt8($0), UInt8($0)] })
    }

    /// `numpy.save` of `numpy.arange(6, dtype="<f4").reshape(2, 3) / 4`.
    @Test func arraysAreThoseOfNumPy() {
        let header =
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" + String(repeating: " ", count: 58) + "\n"
        let numbers: [UInt8] = [
            0, 0, 0, 0, 0, 0, 0x80, 0x3E, 0, 0, 0, 0x3F, 0, 0, 0x40, 0x3F, 0, 0, 0x80, 0x3F, 0, 0, 0xA0, 0x3F,
        ]
        #expect(
            NumPyFile.bytes([0, 0.25, 0.5, 0.75, 1, 1.25], width: 3, height: 2)
                == [0x93] + Array("NUMPY".utf8) + [1, 0, 118, 0] + Array(header.utf8) + numbers)
        for width in [1, 9, 99, 999, 9_999] {
            let values = [Float](repeating: 1, count: width)
            #expect(NumPyFile.bytes(values, width: width, height: 1).count % 64 == 4 * width % 64)
        }
    }

    @Test func masksHaveColoursThatDiffer() {
        let (width, height) = (40, 30)
        let picture = Picture(
            width: width, height: height, pixels: [UInt8](repeating: 128, count: 3 * width * height))
        // Columns of two pixels, more than there are colours.
        let masks = (0..<width / 2).map { number in
            (0..<width * height).map { $0 % width / 2 == number }
        }
        let drawn = picture.drawing(masks: masks)
        func columns(_ x: Int) -> [[UInt8]] {
            (0..<height).map { y in Array(drawn.pixels[3 * (y * width + x)..<3 * (y * width + x) + 3]) }
        }
        #expect(Set((0..<width / 2).map { columns(2 * $0) }).count == width / 2)
        // A line ends each, and what no mask has is grey.
        #expect(columns(1).allSatisfy { $0.allSatisfy { $0 > 200 } })
        #expect(picture.drawing(masks: []).pixels == picture.pixels)
    }
}
