import CPictures
import CPlatform
import HubCore

/// One file that a C library reads: its header first, then its pixels.
final class PictureDecoder {
    private let decoder: OpaquePointer
    private var info: hub_picture_info
    private let kind: PictureKind
    private let name: String

    var width: Int { Int(info.width) }
    var height: Int { Int(info.height) }

    /// Reads the header. The bytes must outlive this object.
    ///
    /// - Throws: ``ErrorCode/unreadableFile``.
    init(_ bytes: UnsafeBufferPointer<UInt8>, _ kind: PictureKind, name: String) throws(AIError) {
        var decoder: OpaquePointer?
        var info = hub_picture_info()
        let outcome = hub_picture_open(kind.libraryKind, bytes.baseAddress, bytes.count, &decoder, &info)
        guard outcome == HUB_PICTURE_DONE, let decoder else { throw Self.error(outcome, info, kind, name) }
        (self.decoder, self.info, self.kind, self.name) = (decoder, info, kind, name)
    }

    /// Decodes the picture; once.
    ///
    /// - Throws: ``ErrorCode/unreadableFile``.
    func picture() throws(AIError) -> Picture {
        let count = width * height
        var outcome = HUB_PICTURE_DONE
        var alpha: [UInt8]?
        let pixels = Self.array(3 * count) { pixels in
            if info.has_alpha == 0 {
                outcome = hub_picture_read(decoder, pixels, nil, &info)
            } else {
                alpha = Self.array(count) { outcome = hub_picture_read(decoder, pixels, $0, &info) }
            }
        }
        guard outcome == HUB_PICTURE_DONE else { throw Self.error(outcome, info, kind, name) }
        return Picture(width: width, height: height, pixels: pixels, alpha: alpha)
    }

    /// Bytes that C fills. A decoder that failed may leave some as they were, and then nobody sees them.
    private static func array(_ count: Int, _ fill: (UnsafeMutablePointer<UInt8>?) -> Void) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            hub_prefer_large_pages(buffer.baseAddress, count)
            fill(buffer.baseAddress)
            filled = count
        }
    }

    private static func error(
        _ outcome: hub_picture_outcome, _ info: hub_picture_info, _ kind: PictureKind, _ name: String
    ) -> AIError {
        switch outcome {
        case HUB_PICTURE_NO_MEMORY:
            return AIError(
                .insufficientMemory, "there is not enough memory to read \(name.printable)",
                context: .init(path: name))
        case HUB_PICTURE_NO_LIBRARY:
            return .unreadable(
                name, "it is a \(kind.rawValue) picture, and libheif, which reads those, is not installed",
                advice: "install libheif (libheif1 on Debian), or convert the picture to JPEG")
        default:
            let text = withUnsafeBytes(of: info.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            let fault = text.isEmpty ? "its data is damaged" : text
            return .unreadable(name, "as a \(kind.rawValue) picture: \(fault)")
        }
    }

    deinit { hub_picture_close(decoder) }
}

extension PictureKind {
    fileprivate var libraryKind: hub_picture_kind {
        switch self {
        case .jpeg: HUB_PICTURE_JPEG
        case .png: HUB_PICTURE_PNG
        case .webp: HUB_PICTURE_WEBP
        case .gif: HUB_PICTURE_GIF
        case .heic, .avif: HUB_PICTURE_HEIF
        case .bmp: preconditionFailure("BMP needs no library")
        }
    }
}
