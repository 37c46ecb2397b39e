import HubCore
import HubMedia
import Support
import Testing

/// Pictures of every kind against what Pillow reads from the same files (scripts/goldens_pictures.py).
@Suite struct PictureFileTests {
    struct Golden: Sendable, CustomTestStringConvertible {
        let file: String
        let json: JSON
        var testDescription: String { file }

        func text(_ key: String) -> String? { json[key]?.string }

        static let all: [Golden] = {
            let json = try? Fixtures.json("pictures/goldens.json")
            return (json?["pictures"]?.array ?? []).compactMap { entry in
                entry["file"]?.string.map { Golden(file: $0, json: entry) }
            }
        }()

        /// Without those that a library of video codecs reads.
        static let everywhere = all.filter { !$0.file.hasSuffix(".heic") && !$0.file.hasSuffix(".avif") }
    }

    @Test func thereIsAGoldenOfEveryKind() throws {
        let names = try FileSystem.entries(try Fixtures.path("pictures")) ?? []
        #expect(Golden.all.map(\.file).sorted() == names.filter { $0 != "goldens.json" })
        let kinds = try Golden.all.map { PictureKind(try Fixtures.bytes("pictures/\($0.file)")) }
        #expect(Set(kinds) == Set(PictureKind.allCases))
    }

    @Test(arguments: Golden.everywhere)
    func aPictureIsPillows(_ golden: Golden) throws {
        let picture = try PictureFile.read(try Fixtures.path("pictures/\(golden.file)"))
        #expect(picture.width == golden.json["width"]?.int.map(Int.init))
        #expect(picture.height == golden.json["height"]?.int.map(Int.init))
        if picture.pixels.sha256 != golden.text("sha256") {
            let pixels = try #require(golden.text("pixels").flatMap { Base64.bytes($0) }, "not Pillow's pixels")
            #expect(Self.mostDifference(picture.pixels, pixels) <= 1)
        }
        #expect(picture.alpha?.sha256 == golden.text("alpha_sha256"))
        if picture.alpha != nil {
            #expect(picture.onWhite.pixels.sha256 == golden.text("on_white_sha256"))
            #expect(picture.opaque.alpha == nil && picture.opaque.pixels == picture.pixels)
        }
    }

    /// Colours go through YCbCr, where libavif and libheif round differently.
    @Test(arguments: ["picture.heic", "picture.avif"])
    func aPictureOfAVideoCodecIsReadIfLibheifIsThere(_ name: String) throws {
        let golden = try #require(Golden.all.first { $0.file == name })
        let path = try Fixtures.path("pictures/\(name)")
        let picture: Picture
        do throws(AIError) { picture = try PictureFile.read(path) } catch {
            guard error.message.contains("not installed") else { throw error }
            #expect(error.message.contains("libheif") && error.specificAdvice?.contains("JPEG") == true)
            try Test.cancel("libheif is not installed")
        }
        let pixels = try #require(golden.text("pixels").flatMap { Base64.bytes($0) })
        #expect(picture.width == 64 && picture.height == 48)
        #expect(Self.mostDifference(picture.pixels, pixels) <= 3)
    }

    static func mostDifference(_ one: [UInt8], _ other: [UInt8]) -> Int {
        guard one.count == other.count else { return .max }
        return zip(one, other).map { abs(Int($0) - Int($1)) }.max() ?? 0
    }
}
