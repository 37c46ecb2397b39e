import HubCore
import Libc

/// The names of an archive's parts.
package enum ArchiveParts {
    /// `PATH.001`, from index 0.
    package static func name(_ path: String, _ index: Int) -> String {
        let digits = String(index + 1)
        return "\(path).\(String(repeating: "0", count: max(0, 3 - digits.utf8.count)))\(digits)"
    }

    /// The parts that a path stands for: `PATH.001` and those after it, or the file alone.
    ///
    /// - Throws: ``ErrorCode/fileNotFound`` if the file, or a part before the last, is missing.
    static func found(_ path: String) throws(AIError) -> [String] {
        let first = FileSystem.exists(path) ? path : name(path, 0)
        guard FileSystem.exists(first) else {
            throw AIError(.fileNotFound, "\(path.printable) does not exist", context: .init(path: path))
        }
        guard first.hasSuffix(".001") else { return [first] }
        let stem = String(first.dropLast(4))
        let prefix = Path.name(stem) + "."
        // What is there decides how many there are, not the largest number that a name has.
        let numbers = Set(
            (try FileSystem.entries(Path.parent(stem)) ?? []).compactMap { entry -> Int? in
                guard entry.hasPrefix(prefix), let number = Int(entry.dropFirst(prefix.count)), number > 0,
                    Path.name(name(stem, number - 1)) == entry
                else { return nil }
                return number
            })
        var parts = [first]
        while numbers.contains(parts.count + 1) { parts.append(name(stem, parts.count)) }
        guard parts.count >= numbers.max() ?? 1 else {
            let missing = name(stem, parts.count)
            throw AIError(.fileNotFound, "the part \(missing.printable) is missing", context: .init(path: missing))
        }
        return parts
    }
}

/// Reads an archive in order: from its parts one after the other, or from standard input.
final class ArchiveInput {
    private let parts: [String]
    private var index = 0
    private var at: Int64 = 0
    private var file: OpenedFile?
    /// Bytes read or skipped.
    private(set) var position: Int64 = 0

    private final class OpenedFile {
        let descriptor: FileDescriptor
        let size: Int64
        init(_ path: String) throws(AIError) {
            let opened = try FileDescriptor(path)
            size = try opened.status().size
            descriptor = opened
        }
    }

    /// The archive at a path; nil for standard input.
    init(_ path: String?) throws(AIError) { parts = try path.map(ArchiveParts.found) ?? [] }

    private var isPipe: Bool { parts.isEmpty }
    /// As errors name it.
    var name: String { parts.first ?? "standard input" }

    /// The error for an archive that ends too early: a missing part if the last one is as large as the others.
    private func ended() -> AIError {
        if parts.count >= 1, parts[0].hasSuffix(".001"), let first = (try? FileSystem.status(parts[0])) ?? nil,
            let last = (try? FileSystem.status(parts[parts.count - 1])) ?? nil, first.size == last.size
        {
            let missing = ArchiveParts.name(String(parts[0].dropLast(4)), parts.count)
            return AIError(.fileNotFound, "the part \(missing.printable) is missing", context: .init(path: missing))
        }
        return AIError(
            .malformedModel,
            "\(name.printable) is not an archive of hub export, or was cut off: it ends after \(position) bytes",
            advice: "export it again, or copy it again", context: .init(path: name))
    }

    /// Fills the buffer.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(AIError) {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = isPipe ? try pipe(into: rest) : try next(into: rest)
            guard count > 0 else { throw ended() }
            done += count
            position += Int64(count)
        }
    }

    /// The next so many bytes.
    func read(_ count: Int) throws(AIError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(AIError) in try read(into: buffer) }
        }
        try result.get()
        return bytes
    }

    /// Passes over bytes; of files they are not read.
    func skip(_ count: Int64) throws(AIError) {
        var left = count
        guard !isPipe else {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
            defer { buffer.deallocate() }
            while left > 0 {
                let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(left, 1 << 16))])
                try read(into: piece)
                left -= Int64(piece.count)
            }
            return
        }
        while left > 0 {
            guard let file = try current() else { throw ended() }
            let step = min(left, file.size - at)
            at += step
            left -= step
            position += step
        }
    }

    /// The file that has the next byte; nil after the last.
    private func current() throws(AIError) -> OpenedFile? {
        while true {
            if let file, at < file.size { return file }
            if file != nil { index += 1 }
            guard index < parts.count else { return nil }
            file = try OpenedFile(parts[index])
            at = 0
        }
    }

    private func next(into buffer: UnsafeMutableRawBufferPointer) throws(AIError) -> Int {
        guard let file = try current() else { return 0 }
        let room = Int(min(Int64(buffer.count), file.size - at))
        let count = try file.descriptor.read(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<room]), at: at)
        at += Int64(count)
        return count
    }

    private func pipe(into buffer: UnsafeMutableRawBufferPointer) throws(AIError) -> Int {
        while true {
            let count = systemRead(0, buffer)
            if count >= 0 { return count }
            if errno == EAGAIN || errno == EWOULDBLOCK {
                var waiting = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
                _ = poll(&waiting, 1, -1)
            } else if errno != EINTR {
                throw .system("cannot read", path: name, errno: errno)
            }
        }
    }
}

/// `read` of the C library; inside the class the name means its own function.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
