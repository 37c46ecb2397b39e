import HubCore
import HubMedia
import Support

extension FuzzDoor {
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
