import HubCore
import HubMedia
import InferenceKit
import Support

extension FuzzDoor {
    /// What preprocessor_config.json says, for two pictures of odd sizes.
    static let processor: FuzzDoor = {
        let file = Result { try ScratchFile("preprocessor_config.json") }
        return FuzzDoor(
            "processor",
            seeds: {
                let goldens = try Fixtures.json("goldens/picture-inputs.json")["cases"]?.array ?? []
                return goldens.compactMap { $0["files"]?["preprocessor_config.json"] }.map { Array($0.text().utf8) }
            },
            read: { bytes in
                let file = try file.get()
                try file.write(bytes)
                do throws(AIError) {
                    var processor = try PictureProcessor(folder: Path.parent(file.path))
                    processor.mostPixels = 1 << 20
                    for (height, width) in [(48, 64), (1, 2000)] {
                        let pixels = [UInt8](repeating: 7, count: 3 * height * width)
                        let made = try processor.process(Picture(width: width, height: height, pixels: pixels))
                        guard made.values.count == 3 * made.height * made.width else {
                            throw AIError(.ioError, "a picture has not the numbers of its sides")
                        }
                    }
                } catch { try error.mustRefuse(.unsupportedModel, .malformedModel, .invalidInput) }
            })
    }()

    /// A picture of any kind, which is then resized and written.
    static let picture = FuzzDoor(
        "picture",
        seeds: {
            try Fixtures.folders("pictures").filter { $0 != "goldens.json" }
                .map { try Fixtures.bytes("pictures/\($0)") }
                // Codecs of video are loaded at run time, and are not ours to try.
                .filter { PictureKind($0) != .heic && PictureKind($0) != .avif && $0.count < 8000 }
        },
        read: { bytes in
            if let kind = PictureKind(bytes), kind == .heic || kind == .avif { return }
            do throws(AIError) {
                let limits = PictureLimits(fileBytes: 1 << 20, pixels: 1 << 20)
                let picture = try PictureFile.read(bytes, name: "f", limits: limits)
                guard picture.width * picture.height <= limits.pixels else {
                    throw AIError(.ioError, "the picture is larger than its limit")
                }
                let small = picture.onWhite.resized(width: 5, height: 4, filter: .bicubic)
                guard try PictureFile.read(small.png(), name: "f") == small else {
                    throw AIError(.ioError, "a picture that was written is read as another")
                }
            } catch { try error.mustRefuse(.unreadableFile) }
        })
}
