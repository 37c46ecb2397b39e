/// The formats of pictures that are read, found by content.
public enum PictureKind: String, Sendable, Hashable, CaseIterable {
    case jpeg = "JPEG"
    case png = "PNG"
    case webp = "WebP"
    /// Of several frames the first is read.
    case gif = "GIF"
    case bmp = "BMP"
    /// Read where libheif is installed.
    case heic = "HEIC"
    /// Read where libheif is installed.
    case avif = "AVIF"

    /// The format of a file that begins with these bytes, of which 32 suffice; nil if it is none of them.
    public init?(_ bytes: some Collection<UInt8>) {
        let head = Array(bytes.prefix(32))
        func says(_ text: StaticString, at: Int = 0) -> Bool {
            text.withUTF8Buffer { head.dropFirst(at).starts(with: $0) }
        }
        if head.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if says("RIFF"), says("WEBP", at: 8) {
            self = .webp
        } else if says("GIF87a") || says("GIF89a") {
            self = .gif
        } else if says("BM") {
            self = .bmp
        } else if says("ftyp", at: 4) {
            // The brand of the file, then those that it is compatible with.
            let brands = [8, 16, 20, 24, 28]
            if brands.contains(where: { says("avif", at: $0) || says("avis", at: $0) }) {
                self = .avif
            } else if brands.contains(where: { says("hei", at: $0) || says("hev", at: $0) || says("mif1", at: $0) })
            {
                self = .heic
            } else {
                return nil
            }
        } else {
            return nil
        }
    }

    /// `image/jpeg` (https://www.iana.org/assignments/media-types, image).
    public var mediaType: String { "image/\(rawValue.lowercased())" }

    /// What a file is that is not read, to say it: "a TIFF picture".
    static func other(_ head: ArraySlice<UInt8>) -> String? {
        let known: [([UInt8], String)] = [
            ([0x49, 0x49, 0x2A, 0x00], "a TIFF picture"), ([0x4D, 0x4D, 0x00, 0x2A], "a TIFF picture"),
            ([0xFF, 0x0A], "a JPEG XL picture"), ([0, 0, 0, 12] + Array("JXL ".utf8), "a JPEG XL picture"),
            ([0, 0, 0, 12] + Array("jP  ".utf8), "a JPEG 2000 picture"), (Array("8BPS".utf8), "a Photoshop file"),
            ([0, 0, 1, 0], "an icon"), (Array("%PDF".utf8), "a PDF"), (Array("<svg".utf8), "an SVG drawing"),
        ]
        return known.first { head.starts(with: $0.0) }?.1
    }
}
