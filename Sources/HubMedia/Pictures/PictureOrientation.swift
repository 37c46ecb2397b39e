import CPictures
import HubCore

/// How a picture is turned for looking at it: EXIF's tag 0x0112 in a JPEG, a PNG or a WebP, or else XMP's `tiff:Orientation`, as
/// Pillow's `ImageOps.exif_transpose` reads them. Of PNG's texts only those that are not compressed are looked at.
struct PictureOrientation {
    /// 1 (as it is) to 8; from 5 on width and height swap.
    let number: Int

    /// The orientation of a file; 1 where it gives none, or one that cannot be read.
    init(_ bytes: [UInt8], _ kind: PictureKind) {
        let metadata =
            switch kind {
            case .jpeg: Self.jpegSegments(bytes)
            case .png: Self.pngChunks(bytes)
            case .webp: Self.webpChunks(bytes)
            default: Metadata()
            }
        let found =
            metadata.exif.flatMap { Self.exifOrientation(bytes[$0]) }
            ?? metadata.xmp.flatMap { Self.xmpOrientation(bytes[$0]) }
        number = found.flatMap { (1...8).contains($0) ? $0 : nil } ?? 1
    }

    /// The picture turned so that its first row is on top.
    func applied(to picture: Picture) -> Picture {
        guard number != 1 else { return picture }
        let isTurned = number >= 5
        return Picture(
            width: isTurned ? picture.height : picture.width, height: isTurned ? picture.width : picture.height,
            pixels: turned(picture.pixels, picture, 3), alpha: picture.alpha.map { turned($0, picture, 1) })
    }

    private func turned(_ source: [UInt8], _ picture: Picture, _ bytes: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: source.count) { target, count in
            hub_picture_turn(
                source, UInt32(picture.width), UInt32(picture.height), bytes, CInt(number), target.baseAddress)
            count = source.count
        }
    }

    /// Where a file's metadata is.
    private struct Metadata {
        /// TIFF's header and what follows it.
        var exif: Range<Int>?
        var xmp: Range<Int>?
    }

    private static func says(_ text: StaticString, _ bytes: [UInt8], at: Int) -> Bool {
        text.withUTF8Buffer { at + $0.count <= bytes.count && bytes[at...].starts(with: $0) }
    }

    /// Segments in front of the picture: a marker, its length with itself.
    private static func jpegSegments(_ bytes: [UInt8]) -> Metadata {
        var metadata = Metadata()
        var at = 2
        while at + 4 <= bytes.count {
            guard bytes[at] == 0xFF else {
                at += 1
                continue
            }
            let marker = bytes[at + 1]
            // Padding, and markers without a length.
            if marker == 0xFF || marker == 0 || marker == 1 || (0xD0...0xD8).contains(marker) {
                at += marker == 0xFF ? 1 : 2
                continue
            }
            // The picture's data, or the end.
            if marker == 0xDA || marker == 0xD9 { break }
            let length = Int(bytes[at + 2]) << 8 | Int(bytes[at + 3])
            let end = at + 2 + length
            guard length >= 2, end <= bytes.count else { break }
            if marker == 0xE1 {
                if metadata.exif == nil, length >= 8, says("Exif\0\0", bytes, at: at + 4) {
                    metadata.exif = at + 10..<end
                } else if length >= 31, says("http://ns.adobe.com/xap/1.0/\0", bytes, at: at + 4) {
                    metadata.xmp = at + 33..<max(at + 33, end)
                }
            }
            at = end
        }
        return metadata
    }

    /// Chunks: length, name, content, checksum.
    private static func pngChunks(_ bytes: [UInt8]) -> Metadata {
        var metadata = Metadata()
        var at = 8
        while at + 12 <= bytes.count {
            let length = (0..<4).reduce(0) { $0 << 8 | Int(bytes[at + $1]) }
            let content = at + 8
            guard length <= bytes.count - content - 4 else { break }
            if says("eXIf", bytes, at: at + 4) {
                metadata.exif = content..<content + length
            } else if says("iTXt", bytes, at: at + 4), says("XML:com.adobe.xmp\0\0", bytes, at: content) {
                metadata.xmp = content..<content + length
            }
            at = content + length + 4
        }
        return metadata
    }

    /// Chunks: name, length, content, to an even place.
    private static func webpChunks(_ bytes: [UInt8]) -> Metadata {
        var metadata = Metadata()
        var at = 12
        while at + 8 <= bytes.count {
            let length = (0..<4).reduce(0) { $0 | Int(bytes[at + 4 + $1]) << (8 * $1) }
            let content = at + 8
            guard length <= bytes.count - content else { break }
            if says("EXIF", bytes, at: at) {
                // Some write JPEG's name in front.
                let skipped = says("Exif\0\0", bytes, at: content) && length >= 6 ? 6 : 0
                metadata.exif = content + skipped..<content + length
            } else if says("XMP ", bytes, at: at) {
                metadata.xmp = content..<content + length
            }
            at = content + length + length % 2
        }
        return metadata
    }

    /// The orientation in the first directory of TIFF's structure.
    static func exifOrientation(_ bytes: ArraySlice<UInt8>) -> Int? {
        let isLittle = bytes.starts(with: [0x49, 0x49, 0x2A, 0])
        guard isLittle || bytes.starts(with: [0x4D, 0x4D, 0, 0x2A]) else { return nil }
        func number(_ at: Int, _ count: Int) -> Int? {
            guard at >= 0, at <= bytes.count - count else { return nil }
            let part = bytes[(bytes.startIndex + at)..<(bytes.startIndex + at + count)]
            return isLittle ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : part.reduce(0) { $0 << 8 | Int($1) }
        }
        guard let directory = number(4, 4), let entries = number(directory, 2) else { return nil }
        var found: Int?
        for entry in 0..<entries {
            let at = directory + 2 + 12 * entry
            guard let tag = number(at, 2) else { break }
            guard tag == 0x112 else { continue }
            // A byte, or a number of 16 or 32 bits.
            let sizes = [1: 1, 3: 2, 4: 4]
            found = number(at + 2, 2).flatMap { sizes[$0] }.flatMap { number(at + 8, $0) } ?? found
        }
        return found
    }

    /// The digit behind `tiff:Orientation="` or `tiff:Orientation>`.
    static func xmpOrientation(_ bytes: ArraySlice<UInt8>) -> Int? {
        let name = Array("tiff:Orientation".utf8)
        var at = bytes.startIndex
        while at + name.count + 2 <= bytes.endIndex {
            guard let first = bytes[at...].firstIndex(of: name[0]), first + name.count + 2 <= bytes.endIndex else {
                return nil
            }
            at = first + 1
            guard bytes[first...].starts(with: name) else { continue }
            var value = bytes[(first + name.count)...]
            if value.starts(with: Array("=\"".utf8)) {
                value = value.dropFirst(2)
            } else if value.starts(with: Array(">".utf8)) {
                value = value.dropFirst()
            } else {
                continue
            }
            if let digit = value.first, (0x30...0x39).contains(digit) { return Int(digit) - 0x30 }
        }
        return nil
    }
}
