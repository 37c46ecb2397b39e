import HubCore
import Libc

/// Where an export goes: one file, or several of equal size, written under other names and renamed when all is there; or
/// a pipe.
final class ArchiveOutput {
    /// One file of the archive.
    private struct Part {
        let path: String
        var temporary: String { path + ".incomplete" }
    }

    private let path: String?
    private let partBytes: Int64?
    private let total: Int64
    private let lock: FileDescriptor?
    private var open: (index: Int, file: OpenedFile)?
    /// Bytes written to a pipe.
    private var piped: Int64 = 0

    /// A descriptor in a class, so that it can be kept.
    private final class OpenedFile {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    /// - Parameters:
    ///   - path: nil for standard output.
    ///   - partBytes: the size of a part; nil for one file.
    ///   - total: bytes of the archive.
    /// - Throws: ``ErrorCode/ioError`` if another process writes there.
    init(_ path: String?, partBytes: Int64?, total: Int64) throws(AIError) {
        (self.path, self.partBytes, self.total) = (path, partBytes, total)
        guard let path else {
            lock = nil
            return
        }
        let first = Self.part(path, 0, partBytes).temporary
        let descriptor = try FileDescriptor(first, [.write, .create])
        if try descriptor.tryLock() == false {
            throw AIError(
                .ioError, "another process is exporting to \(path.printable)", context: .init(path: path))
        }
        lock = consume descriptor
    }

    private static func part(_ path: String, _ index: Int, _ partBytes: Int64?) -> Part {
        guard partBytes != nil else { return Part(path: path) }
        return Part(path: ArchiveParts.name(path, index))
    }

    private var partCount: Int { partBytes.map { Int((total - 1) / $0) + 1 } ?? 1 }
    var isPipe: Bool { path == nil }

    /// Bytes that an interrupted export may have left; what they are must be checked.
    func existingBytes() throws(AIError) -> Int64 {
        guard let path else { return 0 }
        var sum: Int64 = 0
        for index in 0..<partCount {
            let temporary = Self.part(path, index, partBytes).temporary
            guard let status = try FileSystem.status(temporary) else { break }
            sum += min(status.size, partBytes ?? .max)
            if let partBytes, status.size < partBytes { break }
        }
        return min(sum, total)
    }

    /// Forgets what an interrupted export has left.
    func clear() throws(AIError) {
        guard let path else { return }
        for index in 0..<partCount {
            let temporary = Self.part(path, index, partBytes).temporary
            guard FileSystem.exists(temporary) else { break }
            try FileDescriptor(temporary, [.write]).truncate(to: 0)
        }
    }

    private func file(_ index: Int) throws(AIError) -> OpenedFile {
        if let open, open.index == index { return open.file }
        if let open { try open.file.descriptor.synchronizeData() }
        let part = Self.part(path ?? "", index, partBytes)
        let file = OpenedFile(try FileDescriptor(part.temporary, [.write, .create]))
        open = (index, file)
        return file
    }

    /// Calls the closure with each part that a range touches.
    private func pieces(
        _ offset: Int64, _ count: Int,
        _ body: (OpenedFile, _ at: Int64, _ piece: Range<Int>) throws(AIError) -> Void
    ) throws(AIError) {
        guard let partBytes else { return try body(try file(0), offset, 0..<count) }
        var done = 0
        while done < count {
            let at = offset + Int64(done)
            let room = Int(min(Int64(count - done), partBytes - at % partBytes))
            try body(try file(Int(at / partBytes)), at % partBytes, done..<done + room)
            done += room
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(AIError) {
        guard path != nil else { return try pipe(bytes, at: offset) }
        try pieces(offset, bytes.count) { file, at, piece throws(AIError) in
            try file.descriptor.write(UnsafeRawBufferPointer(rebasing: bytes[piece]), at: at)
        }
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws(AIError) {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(AIError) in try write(buffer, at: offset) }
        }
        try result.get()
    }

    /// Reads back; false if there are fewer bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(AIError) -> Bool {
        var isWhole = true
        try pieces(offset, buffer.count) { file, at, piece throws(AIError) in
            let count = try file.descriptor.read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[piece]), at: at)
            if count < piece.count { isWhole = false }
        }
        return isWhole
    }

    /// Whether these bytes are there.
    func holds(_ bytes: [UInt8], at offset: Int64) throws(AIError) -> Bool {
        var found = [UInt8](repeating: 0, count: bytes.count)
        let result = found.withUnsafeMutableBytes { buffer in
            Result { () throws(AIError) in try read(into: buffer, at: offset) }
        }
        return try result.get() && found == bytes
    }

    private func pipe(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(AIError) {
        precondition(offset == piped, "a pipe is written in order")
        try StandardOutput.write(bytes)
        piped += Int64(bytes.count)
    }

    /// Everything is there: flushes it and gives it its name. The first part comes last, for it is where a reader begins.
    func finish() throws(AIError) {
        guard let path else { return }
        open = nil
        for index in 0..<partCount {
            let file = try FileDescriptor(Self.part(path, index, partBytes).temporary, [.write])
            let start = Int64(index) * (partBytes ?? 0)
            try file.truncate(to: min(total - start, partBytes ?? .max))
            try file.synchronizeData()
        }
        for index in (0..<partCount).reversed() {
            let part = Self.part(path, index, partBytes)
            try FileSystem.rename(part.temporary, to: part.path)
        }
        try FileSystem.synchronizeDirectory(Path.parent(path))
    }
}

/// Standard output as a pipe of bytes.
enum StandardOutput {
    static func write(_ bytes: UnsafeRawBufferPointer) throws(AIError) {
        var done = 0
        while done < bytes.count {
            let count = systemWrite(1, bytes.baseAddress! + done, bytes.count - done)
            if count >= 0 {
                done += count
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                var waiting = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, -1)
            } else if errno != EINTR {
                throw .system("cannot write", path: "standard output", errno: errno)
            }
        }
    }
}

/// `write` of the C library; inside the enumeration the name means its own function.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
