import HubMedia
import Support
import Testing

/// Boxes and their names on pictures.
@Suite struct DrawingTests {
    private static func plain(_ width: Int, _ height: Int) -> Picture {
        Picture(width: width, height: height, pixels: [UInt8](repeating: 128, count: 3 * width * height))
    }

    private func color(_ picture: Picture, _ x: Int, _ y: Int) -> [UInt8] {
        let at = 3 * (y * picture.width + x)
        return Array(picture.pixels[at..<at + 3])
    }

    private static func bytes(_ color: (UInt8, UInt8, UInt8)) -> [UInt8] { [color.0, color.1, color.2] }

    @Test func aBoxIsDrawnWhereItIs() {
        let box = DrawnBox(left: 50.4, top: 60.3, right: 149.6, bottom: 119.8, text: "", color: 4)
        let drawn = Self.plain(250, 250).drawing([box])
        let blue = Self.bytes(Palette.color(4))
        for (x, y) in [(50, 60), (149, 60), (50, 119), (149, 119), (100, 60), (50, 90), (149, 90), (100, 119)] {
            #expect(color(drawn, x, y) == blue, "\(x), \(y)")
        }
        // A thin line around it and one inside, and nothing else.
        #expect(color(drawn, 49, 59) == [255, 255, 255] && color(drawn, 51, 61) == [255, 255, 255])
        for (x, y) in [(47, 57), (53, 63), (100, 90), (152, 122), (0, 0), (249, 249)] {
            #expect(color(drawn, x, y) == [128, 128, 128], "\(x), \(y)")
        }
    }

    /// Lines are as thick as suits the picture, and a larger one has larger letters.
    @Test(arguments: [(40, 30), (250, 250), (1000, 800), (2400, 1800)])
    func linesGrowWithThePicture(width: Int, height: Int) {
        let (w, h) = (Double(width), Double(height))
        let box = DrawnBox(left: w / 4, top: h / 4, right: w * 3 / 4, bottom: h * 3 / 4, text: "", color: 0)
        let drawn = Self.plain(width, height).drawing([box])
        let orange = Self.bytes(Palette.color(0))
        let thickness = (0..<width / 2).count { color(drawn, $0, height / 2) == orange }
        #expect(thickness == max(1, Int(((w * h).squareRoot() / 250).rounded())))
    }

    /// What is outside of a picture, or is no number, changes nothing beside it and stops nothing.
    @Test func anyBoxCanBeDrawn() {
        var random = SeededRandom(number: 7)
        let numbers: [Double] = [
            -1e300, -50, -0.4, 0, 0.5, 3, 19.6, 20, 31, 1e6, 1e300, .nan, .infinity, -.infinity,
        ]
        func number() -> Double { numbers[Int(random.next() % UInt64(numbers.count))] }
        for turn in 0..<400 {
            let (width, height) = (1 + turn % 23, 1 + turn % 19)
            let text = String(repeating: "Wä\u{1F600}~", count: turn % 5)
            let boxes = (0..<turn % 4).map { _ in
                DrawnBox(
                    left: number(), top: number(), right: number(), bottom: number(), text: text,
                    color: turn - 200)
            }
            let picture = Self.plain(width, height)
            let drawn = picture.drawing(boxes)
            #expect(drawn.width == width && drawn.height == height)
            let isSeen = boxes.contains { box in
                [box.left, box.top, box.right, box.bottom].allSatisfy(\.isFinite) && box.left <= box.right
                    && box.top <= box.bottom && box.right >= 0 && box.bottom >= 0 && box.left <= Double(width)
                    && box.top <= Double(height)
            }
            #expect((drawn != picture) == isSeen, "\(boxes)")
        }
    }

    /// A name stands above its box, within the picture; a second one is not laid on it.
    @Test func namesStandBesideEachOther() {
        let boxes = [0, 1].map { number in
            DrawnBox(left: 100, top: 100, right: 200, bottom: 200, text: "disc 0.9\(number)", color: number)
        }
        let drawn = Self.plain(400, 400).drawing(boxes)
        let (first, second) = (Self.bytes(Palette.color(0)), Self.bytes(Palette.color(1)))
        func count(_ rows: Range<Int>, _ wanted: [UInt8]) -> Int {
            rows.reduce(0) { sum, y in sum + (0..<400).count { color(drawn, $0, y) == wanted } }
        }
        #expect(count(78..<99, first) > 500 && count(78..<99, second) == 0)
        #expect(count(103..<124, second) > 500)
        let corner = DrawnBox(left: 395, top: 0, right: 400, bottom: 3, text: "disc 0.9", color: 2)
        #expect(Self.plain(400, 400).drawing([corner]) != Self.plain(400, 400))
    }

    /// Each printable letter has a form of its own, and any other is a question mark.
    @Test func lettersDiffer() {
        func drawn(_ letter: String) -> Picture {
            Self.plain(60, 60).drawing([
                DrawnBox(left: 10, top: 30, right: 50, bottom: 55, text: letter, color: 3)
            ])
        }
        let letters = (33..<127).map { String(Unicode.Scalar(UInt8($0))) }
        #expect(Set(letters.map { drawn($0).pixels }).count == letters.count)
        for other in ["ä", "字", "\u{7F}", "\t"] { #expect(drawn(other) == drawn("?")) }
    }

    @Test func thePaletteGoesRound() {
        let colors = (0..<8).map { Self.bytes(Palette.color($0)) }
        #expect(Set(colors).count == 8 && colors[0] == [230, 159, 0])
        for index in [-8, 8, 800] { #expect(Self.bytes(Palette.color(index)) == colors[0]) }
        #expect(Self.bytes(Palette.color(.min)) == colors[0])
    }

    @Test func transparentPicturesAreDrawnOnWhite() {
        let picture = Picture(
            width: 2, height: 1, pixels: [UInt8](repeating: 9, count: 6), alpha: [255, 0])
        let drawn = picture.drawing([])
        #expect(drawn.pixels == [9, 9, 9, 255, 255, 255] && drawn.alpha == nil)
    }
}
