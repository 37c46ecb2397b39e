#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An open folder, from which its entries are looked at by name alone: the system does not walk the whole path for each,
/// and a folder that is renamed meanwhile stays the one that is read. For one thread at a time.
package final class OpenFolder {
    private let directory: OpaquePointer
    /// The path it was opened by, for errors.
    package let path: String

    /// What lies in a folder.
    package struct Entry: Sendable {
        /// The name; where it is no UTF-8, with what is none replaced.
        package let name: String
        /// What it is, a link not followed; nil where the file system does not say so with the name.
        package let kind: FileStatus.Kind?
        /// The name as the system has it, where it is no UTF-8.
        fileprivate let raw: [CChar]?
        /// Whether the name is UTF-8: no path of text leads to what has another.
        package var isText: Bool { raw == nil }
    }

    /// Opens a folder, links followed; nil where nothing or something else is there.
    package static func open(_ path: String) throws(AIError) -> OpenFolder? {
        try opened(openat(AT_FDCWD, path, flags), path)
    }

    /// Opens a folder in this one, links followed; nil where nothing or something else has the name.
    package func folder(_ name: String) throws(AIError) -> OpenFolder? {
        try Self.opened(openat(descriptor, name, Self.flags), Path.join(path, name))
    }

    private static var flags: Int32 { O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK }

    private static func opened(_ descriptor: Int32, _ path: String) throws(AIError) -> OpenFolder? {
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR || errno == ELOOP { return nil }
            throw .system("cannot list", path: path, errno: errno)
        }
        guard let directory = fdopendir(descriptor) else {
            let number = errno
            close(descriptor)
            throw .system("cannot list", path: path, errno: number)
        }
        return OpenFolder(directory: directory, path: path)
    }

    private init(directory: OpaquePointer, path: String) { (self.directory, self.path) = (directory, path) }

    deinit { closedir(directory) }

    /// The number the kernel knows the folder by, for calls of the `at` family.
    package var descriptor: Int32 { dirfd(directory) }

    /// fstat(2) of the folder.
    package func status() throws(AIError) -> FileStatus {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else {
            throw .system("cannot read the state of", path: path, errno: errno)
        }
        return FileStatus(info)
    }

    /// What lies in the folder, sorted by the bytes of the names, without `.` and `..`. To be called once.
    package func entries() throws(AIError) -> [Entry] {
        // The names one after the other, each with its zero byte, so that sorting moves and counts nothing.
        var names: [CChar] = []
        var found: [(start: Int, kind: FileStatus.Kind?)] = []
        while true {
            // "If the end of the directory stream is reached, NULL is returned and errno is not changed." readdir(3)
            errno = 0
            guard let entry = readdir(directory) else { break }
            withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    let dot = CChar(bitPattern: UInt8(ascii: "."))
                    if name[0] == dot, name[1] == 0 || (name[1] == dot && name[2] == 0) { return }
                    found.append((names.count, Self.kind(entry.pointee.d_type)))
                    names.append(contentsOf: UnsafeBufferPointer(start: name, count: strlen(name) + 1))
                }
            }
        }
        guard errno == 0 else { throw .system("cannot list", path: path, errno: errno) }
        return names.withUnsafeBufferPointer { names in
            guard let base = names.baseAddress else { return [] }
            found.sort { strcmp(base + $0.start, base + $1.start) < 0 }
            return found.map { Self.entry(base + $0.start, $0.kind) }
        }
    }

    private static func entry(_ name: UnsafePointer<CChar>, _ kind: FileStatus.Kind?) -> Entry {
        if let text = String(validatingCString: name) { return Entry(name: text, kind: kind, raw: nil) }
        let raw = Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1))
        return Entry(name: String(cString: name), kind: kind, raw: raw)
    }

    private static func kind(_ type: UInt8) -> FileStatus.Kind? {
        switch Int32(type) {
        case Int32(DT_REG): .file
        case Int32(DT_DIR): .directory
        case Int32(DT_LNK): .symlink
        // Not every file system tells.
        case Int32(DT_UNKNOWN): nil
        default: .other
        }
    }

    /// lstat(2) of an entry; nil where it has gone.
    package func status(of entry: Entry) throws(AIError) -> FileStatus? {
        if let raw = entry.raw { return try status(raw, entry.name, AT_SYMLINK_NOFOLLOW) }
        return try entry.name.withCString { name in
            Result { () throws(AIError) in try status(name, entry.name, AT_SYMLINK_NOFOLLOW) }
        }.get()
    }

    /// stat(2) of what a name leads to; nil where nothing is there.
    package func target(_ name: String) throws(AIError) -> FileStatus? {
        try name.withCString { text in Result { () throws(AIError) in try status(text, name, 0) } }.get()
    }

    private func status(_ name: UnsafePointer<CChar>, _ text: String, _ flags: Int32) throws(AIError) -> FileStatus?
    {
        var info = stat()
        if fstatat(descriptor, name, &info, flags) == 0 { return FileStatus(info) }
        if errno == ENOENT || errno == ENOTDIR || errno == ELOOP { return nil }
        throw .system("cannot look at", path: Path.join(path, text), errno: errno)
    }

    /// When what a name leads to was last changed, in nanoseconds; nil where nothing is there or it cannot be told.
    package func modifiedNanoseconds(_ name: UnsafePointer<CChar>) -> Int64? {
        var info = stat()
        guard fstatat(descriptor, name, &info, 0) == 0 else { return nil }
        return FileStatus(info).modifiedNanoseconds
    }

    /// What a symbolic link says; nil where the name is no link.
    package func linkText(_ name: String) -> String? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { buffer in
            let count = readlinkat(descriptor, name, buffer.baseAddress!, buffer.count)
            return count >= 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
        }
    }

    /// A file's first bytes, links followed; nil where there is no file.
    package func contents(_ name: String, limit: Int) throws(AIError) -> [UInt8]? {
        let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let place = Path.join(path, name)
        guard file >= 0 else {
            if errno == ENOENT || errno == ENOTDIR || errno == ELOOP { return nil }
            throw .system("cannot open", path: place, errno: errno)
        }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0 else { throw .system("cannot read the state of", path: place, errno: errno) }
        guard info.st_mode & S_IFMT == S_IFREG else { return nil }
        var number: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: min(limit, Int(info.st_size))) { buffer, count in
            while count < buffer.count {
                let got = pread(file, buffer.baseAddress! + count, buffer.count - count, off_t(count))
                if got < 0, errno == EINTR { continue }
                if got < 0 { number = errno }
                if got <= 0 { break }
                count += got
            }
        }
        guard number == 0 else { throw .system("cannot read", path: place, errno: number) }
        return bytes
    }
}
