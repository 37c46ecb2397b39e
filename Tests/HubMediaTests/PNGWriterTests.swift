import HubCore
import HubMedia
import Support
import Testing

@Suite struct PNGWriterTests {
    @Test(arguments: [(1, 1), (7, 5), (300, 2), (64, 200)])
    func aPictureThatIsWrittenIsReadAgain(_ width: Int, _ height: Int) throws {
        var random = SeededRandom(number: width)
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) } }
        for alpha in [nil, bytes(width * height)] {
            let picture = Picture(width: width, height: height, pixels: bytes(3 * width * height), alpha: alpha)
            let file = try picture.png()
            #expect(PictureKind(file) == .png)
            #expect(try PictureFile.read(file, name: "x") == picture)
        }
    }
}
