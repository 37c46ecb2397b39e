package import HubCore

/// A request's body that is read while it is sent: bytes and files of known length, in any order.
package struct HTTPUpload: Sendable {
    /// A part of the body.
    package enum Part: Sendable {
        case bytes([UInt8])
        /// A file as it is, or in base64.
        case file(UploadFile, base64: Bool = false)

        var length: Int64 {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .file(let file, base64: false): file.size
            case .file(let file, base64: true): Base64.length(of: file.size)
            }
        }
    }

    private let parts: [(start: Int64, part: Part)]
    /// Bytes in all.
    package let length: Int64

    package init(_ parts: [Part]) {
        var placed: [(start: Int64, part: Part)] = []
        var end: Int64 = 0
        for part in parts {
            placed.append((end, part))
            end += part.length
        }
        self.parts = placed
        length = end
    }

    /// Fills the start of the buffer from an offset on; the number of bytes, 0 at the end.
    ///
    /// - Throws: ``ErrorCode/fileChanged`` if a file has become shorter than it was.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(AIError) -> Int {
        guard let (start, part) = parts.last(where: { $0.start <= offset && $0.start + $0.part.length > offset })
        else {
            return 0
        }
        let place = offset - start
        let count = Int(min(Int64(buffer.count), part.length - place))
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        switch part {
        case .bytes(let bytes): room.copyBytes(from: bytes[Int(place)..<Int(place) + count])
        case .file(let file, base64: false): try file.read(into: room, at: place)
        case .file(let file, base64: true): try Self.encode(file, into: room, at: place)
        }
        return count
    }

    /// Three bytes of the file are four characters.
    private static func encode(
        _ file: UploadFile, into room: UnsafeMutableRawBufferPointer, at place: Int64
    ) throws(AIError) {
        let (first, skipped) = (place / 4 * 3, Int(place % 4))
        let count = min(Int64((skipped + room.count + 3) / 4 * 3), file.size - first)
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let result: Result<Void, AIError> = bytes.withUnsafeMutableBytes { buffer in
            do throws(AIError) { return .success(try file.read(into: buffer, at: first)) } catch {
                return .failure(error)
            }
        }
        try result.get()
        room.copyBytes(from: Base64.encode(bytes)[skipped..<skipped + room.count])
    }
}

/// A file that is sent.
package final class UploadFile: Sendable {
    private let descriptor: FileDescriptor
    /// Bytes when it was opened.
    package let size: Int64
    package var path: String { descriptor.path }

    /// - Throws: ``ErrorCode/fileNotFound``; ``ErrorCode/invalidInput`` for what is not a file.
    package init(_ path: String) throws(AIError) {
        do throws(AIError) { descriptor = try FileDescriptor(path, [.nonBlocking]) } catch {
            guard error.isAbsence else { throw error }
            throw AIError(.fileNotFound, "\(path.printable) does not exist", context: .init(path: path))
        }
        let status = try descriptor.status()
        guard status.kind == .file else {
            throw AIError(.invalidInput, "\(path.printable) is not a file", context: .init(path: path))
        }
        size = status.size
    }

    /// The first bytes, at most so many.
    package func beginning(_ count: Int) throws(AIError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(min(Int64(count), size)))
        let result: Result<Void, AIError> = bytes.withUnsafeMutableBytes { buffer in
            do throws(AIError) { return .success(try read(into: buffer, at: 0)) } catch { return .failure(error) }
        }
        try result.get()
        return bytes
    }

    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(AIError) {
        guard try descriptor.read(into: buffer, at: offset) == buffer.count else {
            throw AIError(
                .fileChanged, "\(path.printable) became shorter while it was sent", context: .init(path: path))
        }
    }
}
