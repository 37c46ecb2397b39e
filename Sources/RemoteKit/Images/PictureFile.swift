import HubCore

/// Knows pictures by their first bytes.
enum PictureFile {
    /// The media type; nil for what is not a picture.
    static func mediaType(_ bytes: [UInt8]) -> String? {
        func begins(_ text: String, at place: Int = 0) -> Bool { bytes.dropFirst(place).starts(with: text.utf8) }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if begins("GIF8") { return "image/gif" }
        if begins("RIFF"), begins("WEBP", at: 8) { return "image/webp" }
        if begins("ftypavif", at: 4) || begins("ftypavis", at: 4) { return "image/avif" }
        return begins("BM") ? "image/bmp" : nil
    }
}
