import Libc

/// An open folder. Entries are accessed by name from its descriptor: no path walk for each, and it stays the same
/// folder even if its path changes. For one thread at a time.
package final class OpenFolder {
    private let directory: DirectoryStream
    /// The path it was opened by, for errors.
    package let path: String

    /// A name in a folder.
    package struct Entry: Sendable {
        /// The name; bytes that are not UTF-8 are replaced.
        package let name: String
        /// Its type, without following a link; nil if the file system does not report it.
        package let kind: FileStatus.Kind?
        /// The name's bytes, if they are not UTF-8.
        fileprivate let raw: [CChar]?
        /// Whether the name is UTF-8. Others have no text path.
        package var isText: Bool { raw == nil }

        package init(_ name: String) { self.init(name: name, kind: nil, raw: nil) }

        fileprivate init(name: String, kind: FileStatus.Kind?, raw: [CChar]?) {
            (self.name, self.kind, self.raw) = (name, kind, raw)
        }

        func withCString<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value {
            if let raw { return raw.withUnsafeBufferPointer { body($0.baseAddress!) } }
            return name.withCString(body)
        }
    }

    /// Opens a folder, following links; nil if there is none.
    package static func open(_ path: String) throws(AIError) -> OpenFolder? {
        try opened(openat(AT_FDCWD, path, flags), path)
    }

    /// Opens an existing folder, following links.
    package static func open(existing path: String) throws(AIError) -> OpenFolder {
        guard let folder = try open(path) else { throw .system("cannot open", path: path, errno: ENOENT) }
        return folder
    }

    /// Opens a subfolder, following links; nil if there is none.
    package func folder(_ name: String) throws(AIError) -> OpenFolder? {
        try Self.opened(openat(descriptor, name, Self.flags), Path.join(path, name))
    }

    /// Opens a subfolder; nil if there is none.
    ///
    /// - Throws: if it is a link, which is not followed.
    package func ownFolder(_ entry: Entry) throws(AIError) -> OpenFolder? {
        let place = Path.join(path, entry.name)
        let opened = entry.withCString { openat(descriptor, $0, Self.flags | O_NOFOLLOW) }
        if opened < 0, errno == ENOTDIR || errno == ELOOP {
            guard try status(of: entry)?.kind == .symlink else { return nil }
            throw AIError(
                .ioError, "\(place) is a symbolic link, which hub does not follow here", context: .init(path: place)
            )
        }
        return try Self.opened(opened, place)
    }

    /// Opens a folder below this one by its relative path; no part of it may be a link, see ``ownFolder(_:)-(Entry)``.
    package func ownFolder(_ path: String) throws(AIError) -> OpenFolder? {
        var place = self
        for part in Path.parts(path) {
            guard let next = try place.ownFolder(Entry(Self.checked(part, of: path))) else { return nil }
            place = next
        }
        return place
    }

    /// The parent folder of a relative path, and the name in it; nil if the folder is missing. Opened as by
    /// ``ownFolder(_:)-(String)``.
    ///
    /// - Parameter making: creates missing folders.
    package func place(of path: String, making: Bool = false) throws(AIError) -> (folder: OpenFolder, name: String)?
    {
        var parts = Path.parts(path)
        guard let name = parts.popLast() else { throw Self.leadsOutside(path) }
        var place = self
        for part in parts {
            let entry = Entry(try Self.checked(part, of: path))
            guard let next = making ? try place.makeFolder(entry) : try place.ownFolder(entry) else { return nil }
            place = next
        }
        return (place, try Self.checked(name, of: path))
    }

    private static func checked(_ part: Substring, of path: String) throws(AIError) -> String {
        guard part != ".", part != ".." else { throw leadsOutside(path) }
        return String(part)
    }

    private static func leadsOutside(_ path: String) -> AIError {
        AIError(.ioError, "\(path) does not name anything below a folder", context: .init(path: path))
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

    private init(directory: DirectoryStream, path: String) { (self.directory, self.path) = (directory, path) }

    deinit { closedir(directory) }

    /// The descriptor's number, for calls of the `at` family.
    package var descriptor: Int32 { dirfd(directory) }

    /// fstat(2) of the folder.
    package func status() throws(AIError) -> FileStatus {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else {
            throw .system("cannot read the state of", path: path, errno: errno)
        }
        return FileStatus(info)
    }

    /// The current entries, sorted by the bytes of the names, without `.` and `..`.
    package func entries() throws(AIError) -> [Entry] {
        rewinddir(directory)
        // The concatenated zero-terminated names, so that sorting needs no moves or reference counting.
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
        // Not every file system reports the type.
        case Int32(DT_UNKNOWN): nil
        default: .other
        }
    }

    /// lstat(2) of an entry; nil if it is gone.
    package func status(of entry: Entry) throws(AIError) -> FileStatus? { try status(entry, AT_SYMLINK_NOFOLLOW) }

    /// lstat(2) of a name; nil if missing.
    package func status(of name: String) throws(AIError) -> FileStatus? { try status(of: Entry(name)) }

    /// stat(2) of a name, following links; nil if missing.
    package func target(_ name: String) throws(AIError) -> FileStatus? { try status(Entry(name), 0) }

    private func status(_ entry: Entry, _ flags: Int32) throws(AIError) -> FileStatus? {
        var info = stat()
        let number = number { entry.withCString { fstatat(descriptor, $0, &info, flags) } }
        guard let number else { return FileStatus(info) }
        if number == ENOENT || number == ENOTDIR || number == ELOOP { return nil }
        throw failure("cannot look at", entry, number)
    }

    /// The errno of a failed call; nil on success.
    func number(_ call: () -> Int32) -> Int32? { call() == 0 ? nil : errno }

    func failure(_ what: String, _ entry: Entry, _ number: Int32) -> AIError {
        .system(what, path: Path.join(path, entry.name), errno: number)
    }

    /// The modification time of a name's target, in nanoseconds; nil if missing or unknown.
    package func modifiedNanoseconds(_ name: UnsafePointer<CChar>) -> Int64? {
        var info = stat()
        guard fstatat(descriptor, name, &info, 0) == 0 else { return nil }
        return FileStatus(info).modifiedNanoseconds
    }

    /// The text of a symbolic link; nil if the name is not a link.
    package func linkText(_ name: String) -> String? { linkText(Entry(name)) }

    package func linkText(_ entry: Entry) -> String? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { buffer in
            let count = entry.withCString { readlinkat(descriptor, $0, buffer.baseAddress!, buffer.count) }
            return count >= 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
        }
    }

    /// The first bytes of a file, following a link; nil if missing.
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
