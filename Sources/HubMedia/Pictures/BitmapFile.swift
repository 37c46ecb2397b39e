import HubCore

/// A BMP file: Windows's headers from version 2 on and OS/2's first, without compression, run-length coded, or with masks.
/// https://learn.microsoft.com/windows/win32/gdi/bitmap-storage
struct BitmapFile {
    private enum Compression: Int { case none, runs8, runs4, masks }

    let bytes: [UInt8]
    let name: String
    let width: Int
    let height: Int
    private let isTopDown: Bool
    private let bits: Int
    private let compression: Compression
    /// Blue, green, red and perhaps a byte without meaning, for each index.
    private let palette: ArraySlice<UInt8>
    private let paletteStride: Int
    /// Where the rows start.
    private let start: Int
    private let masks: BitmapMasks?

    /// Reads the headers.
    ///
    /// - Throws: ``ErrorCode/unreadableFile``.
    init(_ bytes: [UInt8], name: String, limits: PictureLimits) throws(AIError) {
        self.bytes = bytes
        self.name = name
        let header = LittleEndianBytes(bytes)
        guard let headerSize = header.number(at: 14, 4), [12, 40, 52, 56, 64, 108, 124].contains(headerSize),
            14 + headerSize <= bytes.count
        else { throw Self.fault(name, "its header is of an unknown form or cut off") }
        let isOld = headerSize == 12
        // A negative height means rows from the top.
        let sides =
            isOld
            ? (header.number(at: 18, 2), header.number(at: 20, 2))
            : (
                header.number(at: 18, 4).map { Int(Int32(truncatingIfNeeded: $0)) },
                header.number(at: 22, 4).map { Int(Int32(truncatingIfNeeded: $0)) }
            )
        guard let width = sides.0, let signedHeight = sides.1 else {
            throw Self.fault(name, "its header is cut off")
        }
        try limits.check(width: width, height: abs(signedHeight), name: name)
        (self.width, height, isTopDown) = (width, abs(signedHeight), signedHeight < 0)
        bits = header.number(at: isOld ? 24 : 28, 2) ?? 0
        let number = isOld ? 0 : header.number(at: 30, 4) ?? 0
        guard [1, 4, 8, 16, 24, 32].contains(bits) else { throw Self.fault(name, "it has \(bits) bits a pixel") }
        guard let compression = Compression(rawValue: number) else {
            throw Self.fault(name, "its compression, number \(number), is not read")
        }
        self.compression = compression
        switch (compression, bits) {
        case (.none, _), (.runs8, 8), (.runs4, 4), (.masks, 16), (.masks, 32): break
        default: throw Self.fault(name, "its compression does not fit its \(bits) bits a pixel")
        }
        // With masks and the shortest header, they follow it.
        let masksFollow = compression == .masks && headerSize == 40
        masks = try Self.masks(
            header, bits, compression, hasAlpha: headerSize >= 56 && headerSize != 64, name: name)
        let paletteStart = 14 + headerSize + (masksFollow ? 12 : 0)
        paletteStride = isOld ? 3 : 4
        let named = isOld ? 0 : header.number(at: 46, 4) ?? 0
        let colors = bits > 8 ? 0 : named == 0 ? 1 << bits : min(named, 256)
        guard paletteStart + colors * paletteStride <= bytes.count else {
            throw Self.fault(name, "its palette is cut off")
        }
        palette = bytes[paletteStart..<paletteStart + colors * paletteStride]
        let given = header.number(at: 10, 4) ?? 0
        start = given == 0 ? palette.endIndex : given
        guard start >= 14 + headerSize, start <= bytes.count else {
            throw Self.fault(name, "its rows start outside the file")
        }
    }

    private static func masks(
        _ header: LittleEndianBytes, _ bits: Int, _ compression: Compression, hasAlpha: Bool, name: String
    ) throws(AIError) -> BitmapMasks? {
        guard compression == .masks else {
            return bits == 16 ? BitmapMasks(red: 0x7C00, green: 0x3E0, blue: 0x1F, alpha: 0) : nil
        }
        guard let red = header.number(at: 54, 4), let green = header.number(at: 58, 4),
            let blue = header.number(at: 62, 4),
            let masks = BitmapMasks(
                red: red, green: green, blue: blue, alpha: hasAlpha ? header.number(at: 66, 4) ?? 0 : 0)
        else { throw fault(name, "its colour masks are of an unknown form") }
        return masks
    }

    static func fault(_ name: String, _ text: String) -> AIError { .unreadable(name, "as a BMP picture: \(text)") }

    /// Decodes the rows.
    ///
    /// - Throws: ``ErrorCode/unreadableFile`` if they end early.
    func picture() throws(AIError) -> Picture {
        if compression == .runs8 || compression == .runs4 {
            let indices = try BitmapRuns(bytes, start: start, isNibbles: compression == .runs4)
                .indices(width: width, height: height, name: name)
            return painted { pixels, _ in
                for y in 0..<height {
                    let row = isTopDown ? y : height - 1 - y
                    for x in 0..<width { paint(Int(indices[row * width + x]), at: y * width + x, pixels) }
                }
            }
        }
        let stride = (width * bits + 31) / 32 * 4
        // The last row's padding may be missing.
        guard (height - 1) * stride + (width * bits + 7) / 8 <= bytes.count - start else {
            throw Self.fault(name, "it ends before the picture does")
        }
        return painted { pixels, alpha in
            for y in 0..<height {
                let row = start + (isTopDown ? y : height - 1 - y) * stride
                read(row: row, to: y * width, pixels, alpha)
            }
        }
    }

    private func painted(
        _ fill: (UnsafeMutableBufferPointer<UInt8>, UnsafeMutableBufferPointer<UInt8>?) -> Void
    ) -> Picture {
        var alpha: [UInt8]?
        let pixels = [UInt8](unsafeUninitializedCapacity: 3 * width * height) { pixels, count in
            if masks?.alpha == nil {
                fill(pixels, nil)
            } else {
                alpha = [UInt8](unsafeUninitializedCapacity: width * height) { bytes, count in
                    fill(pixels, bytes)
                    count = width * height
                }
            }
            count = 3 * width * height
        }
        return Picture(width: width, height: height, pixels: pixels, alpha: alpha)
    }

    /// Paints an index of the palette; black for one that is not in it.
    private func paint(_ index: Int, at pixel: Int, _ pixels: UnsafeMutableBufferPointer<UInt8>) {
        let entry = palette.startIndex + index * paletteStride
        let isThere = entry + 3 <= palette.endIndex
        for color in 0..<3 { pixels[3 * pixel + color] = isThere ? palette[entry + 2 - color] : 0 }
    }

    private func read(
        row: Int, to first: Int, _ pixels: UnsafeMutableBufferPointer<UInt8>,
        _ alpha: UnsafeMutableBufferPointer<UInt8>?
    ) {
        for x in 0..<width {
            let at = row + x * bits / 8
            switch bits {
            case 1, 4, 8:
                let shift = 8 - bits - x * bits % 8
                paint(Int(bytes[at]) >> shift & (1 << bits - 1), at: first + x, pixels)
            default:
                guard let masks else {
                    for color in 0..<3 { pixels[3 * (first + x) + color] = bytes[at + 2 - color] }
                    continue
                }
                var word: UInt32 = 0
                for byte in (0..<bits / 8).reversed() { word = word << 8 | UInt32(bytes[at + byte]) }
                pixels[3 * (first + x)] = masks.red.level(word)
                pixels[3 * (first + x) + 1] = masks.green.level(word)
                pixels[3 * (first + x) + 2] = masks.blue.level(word)
                if let alpha, let mask = masks.alpha { alpha[first + x] = mask.level(word) }
            }
        }
    }
}
