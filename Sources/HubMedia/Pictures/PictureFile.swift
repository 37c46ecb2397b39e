public import HubCore

/// Reads pictures from files.
///
/// The kind comes from the content, not from the name. Colours are as Pillow's `convert("RGB")` gives them: profiles and gamma are
/// ignored, of 16 bits the upper 8 are taken (grey is clipped), CMYK is inverted as Adobe writes it. The orientation that EXIF or
/// XMP gives is applied to JPEG, PNG and WebP; HEIC and AVIF have their own.
public enum PictureFile {
    /// Reads a file.
    ///
    /// - Throws: ``ErrorCode/fileNotFound``; ``ErrorCode/unreadableFile`` with what is wrong: no picture, damaged, cut off, beyond a
    ///   limit, or of a kind whose library is missing; ``ErrorCode/insufficientMemory``.
    public static func read(_ path: String, limits: PictureLimits = PictureLimits()) throws(AIError) -> Picture {
        guard let status = try FileSystem.status(path) else {
            throw AIError(.fileNotFound, "\(path.printable) does not exist", context: .init(path: path))
        }
        guard status.kind == .file else { throw .unreadable(path, "it is not a file") }
        guard status.size <= limits.fileBytes else { throw tooLong(path, Int(status.size), limits) }
        guard let bytes = try FileSystem.contents(path, limit: limits.fileBytes) else {
            throw .unreadable(path, "it is not a file")
        }
        return try read(bytes, name: path, limits: limits)
    }

    /// Reads the bytes of a file.
    ///
    /// - Parameter name: what errors call it.
    /// - Throws: as ``read(_:limits:)``.
    public static func read(
        _ bytes: [UInt8], name: String, limits: PictureLimits = PictureLimits()
    ) throws(AIError) -> Picture {
        guard bytes.count <= limits.fileBytes else { throw tooLong(name, bytes.count, limits) }
        guard let kind = PictureKind(bytes) else { throw unknown(name, bytes) }
        if kind == .bmp { return try BitmapFile(bytes, name: name, limits: limits).picture() }
        let picture = try decode(bytes, kind, name: name, limits: limits)
        return PictureOrientation(bytes, kind).applied(to: picture)
    }

    private static func decode(
        _ bytes: [UInt8], _ kind: PictureKind, name: String, limits: PictureLimits
    ) throws(AIError) -> Picture {
        let result: Result<Picture, AIError> = bytes.withUnsafeBufferPointer { buffer in
            do throws(AIError) {
                let decoder = try PictureDecoder(buffer, kind, name: name)
                try limits.check(width: decoder.width, height: decoder.height, name: name)
                return .success(try decoder.picture())
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    private static func tooLong(_ name: String, _ count: Int, _ limits: PictureLimits) -> AIError {
        .unreadable(
            name,
            "it has \(ByteCount(Int64(count))), and a picture's file may have \(ByteCount(Int64(limits.fileBytes)))"
        )
    }

    private static func unknown(_ name: String, _ bytes: [UInt8]) -> AIError {
        let known = PictureKind.allCases.map(\.rawValue).joined(separator: ", ")
        if bytes.isEmpty { return .unreadable(name, "it is empty") }
        let fault = PictureKind.other(bytes.prefix(32)).map { "it is \($0)" } ?? "it is not a picture"
        return .unreadable(name, fault, advice: "pictures are read as \(known)")
    }
}

extension PictureLimits {
    /// - Throws: ``ErrorCode/unreadableFile`` for sides that are empty or beyond the limits.
    func check(width: Int, height: Int, name: String) throws(AIError) {
        guard width > 0, height > 0 else { throw .unreadable(name, "its sides are \(width) and \(height) pixels") }
        guard width <= side, height <= side, height <= pixels / width else {
            throw .unreadable(
                name,
                "it has \(width) by \(height) pixels, and a picture may have \(pixels), \(side) on a side")
        }
    }
}

extension AIError {
    /// A file that cannot be read as what it should be.
    static func unreadable(_ name: String, _ fault: String, advice: String? = nil) -> AIError {
        var context = Context(path: name)
        context.fault = fault
        return AIError(
            .unreadableFile, "cannot read \(name.printable): \(fault.printable)", advice: advice, context: context)
    }
}
