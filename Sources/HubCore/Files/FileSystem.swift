import CPlatform
import Libc

/// The file system calls that are not about one open file. Paths are plain strings; bytes are used as given, because
/// git and the Hub name files by bytes, not by normalised text.
package enum FileSystem {
    /// stat(2), following links; nil if missing (a broken link included).
    package static func status(_ path: String) throws(AIError) -> FileStatus? {
        var info = stat()
        if stat(path, &info) == 0 { return FileStatus(info) }
        return try absent(path)
    }

    /// lstat(2), not following links; nil if missing.
    package static func linkStatus(_ path: String) throws(AIError) -> FileStatus? {
        var info = stat()
        if lstat(path, &info) == 0 { return FileStatus(info) }
        return try absent(path)
    }

    private static func absent(_ path: String) throws(AIError) -> FileStatus? {
        if errno == ENOENT || errno == ENOTDIR || errno == ELOOP { return nil }
        throw .system("cannot look at", path: path, errno: errno)
    }

    /// Whether a path exists, following links.
    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether this user may write there: a file's content, a folder's names.
    package static func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }

    /// The names in a folder, sorted by bytes, without `.` and `..`; nil if the folder does not exist.
    package static func entries(_ path: String) throws(AIError) -> [String]? {
        try OpenFolder.open(path)?.entries().map(\.name)
    }

    /// A whole file; nil if missing.
    ///
    /// - Parameter limit: a larger file is an error, because whole files are only read if they should be small.
    package static func contents(_ path: String, limit: Int = 64 << 20) throws(AIError) -> [UInt8]? {
        guard let status = try status(path), status.kind == .file else { return nil }
        guard status.size <= limit else {
            throw AIError(
                .ioError, "\(path) has \(status.size) bytes, more than \(limit)", context: .init(path: path))
        }
        let file = try FileDescriptor(path)
        let size = Int(status.size)
        var fault: AIError?
        // With padding, a JSON document is parsed without a copy.
        let bytes = [UInt8](unsafeUninitializedCapacity: size + JSONCursor.padding) { buffer, count in
            let room = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: size)
            do throws(AIError) {
                if size < 4 << 20 {
                    count = try file.read(into: room, at: 0)
                } else {
                    hub_prefer_large_pages(buffer.baseAddress, size)
                    count = try file.readInHalves(into: room)
                }
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        return bytes
    }

    /// A whole file as text; nil if missing. Invalid UTF-8 is replaced, because these texts are only compared.
    package static func text(_ path: String, limit: Int = 1 << 20) throws(AIError) -> String? {
        try contents(path, limit: limit).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Makes a folder and those above it; existing ones are left alone.
    package static func createDirectories(_ path: String, mode: UInt32 = 0o777) throws(AIError) {
        if mkdir(path, mode_t(mode)) == 0 { return }
        let number = errno
        // EISDIR is macOS's answer for `/`.
        if number == EEXIST || number == EISDIR {
            if let status = try status(path), status.kind == .directory { return }
            throw .system("cannot make the folder", path: path, errno: ENOTDIR)
        }
        let parent = Path.parent(path)
        guard number == ENOENT, parent != path else {
            throw .system("cannot make the folder", path: path, errno: number)
        }
        // Until this folder is in it, another process may remove the one above, or rename one over it.
        for _ in 0..<1000 {
            try createDirectories(parent, mode: mode)
            if mkdir(path, mode_t(mode)) == 0 || errno == EEXIST { return }
            guard errno == ENOENT else { break }
        }
        throw .system("cannot make the folder", path: path, errno: errno)
    }

    /// Writes a new file beside the old one and renames it over: a reader sees the old or the new, whole. The mode is
    /// 0666 less the umask, unlike mkstemp's 0600, so that other users of a shared cache can read it.
    ///
    /// - Parameters:
    ///   - isModeExact: the file has exactly this mode before anything is written, regardless of the umask.
    ///   - durable: the new content is on stable storage before it gets the name.
    ///   - temporary: the temporary name; nil for the path with a random suffix.
    ///   - syncsFolder: whether, if durable, the name is flushed too.
    package static func replace(
        _ path: String, with bytes: [UInt8], mode: UInt32 = 0o666, isModeExact: Bool = false, durable: Bool = false,
        temporary: String? = nil, syncsFolder: Bool = true
    ) throws(AIError) {
        let temporary = temporary ?? temporaryName(for: path)
        do throws(AIError) {
            let file = try FileDescriptor(temporary, [.write, .create, .exclusive], mode: mode)
            if isModeExact { try file.setMode(mode, orLess: true) }
            try file.write(bytes)
            if durable { try file.synchronizeData() }
            try rename(temporary, to: path)
        } catch {
            _ = unlink(temporary)
            throw error
        }
        if durable, syncsFolder { try synchronizeDirectory(Path.parent(path)) }
    }

    /// A sibling name with the file's own as prefix, unless it would be too long.
    private static func temporaryName(for path: String) -> String {
        let ending = "\(randomHex(4)).tmp"
        return Path.name(path).utf8.count <= 240 ? "\(path).\(ending)" : Path.join(Path.parent(path), ending)
    }

    /// chmod(2), as ``FileDescriptor/setMode(_:orLess:)``.
    package static func setMode(_ path: String, _ mode: UInt32, orLess: Bool = false) throws(AIError) {
        if chmod(path, mode_t(mode)) == 0 { return }
        let number = errno
        let own = try status(path)?.mode
        if own == mode || orLess && own.map({ $0 & ~mode == 0 }) == true { return }
        throw .system("cannot change the mode of", path: path, errno: number)
    }

    /// rename(2)
    package static func rename(_ from: String, to: String) throws(AIError) {
        guard renameFile(from, to) == 0 else { throw .system("cannot rename \(from) to", path: to, errno: errno) }
    }

    /// Gives a file a new name that nobody has; false if somebody has it.
    package static func rename(_ from: String, toNew to: String) throws(AIError) -> Bool {
        if hub_rename_new(from, to) == 0 { return true }
        if errno == EEXIST { return false }
        guard [ENOSYS, EINVAL, ENOTSUP].contains(errno) else {
            throw .system("cannot rename \(from) to", path: to, errno: errno)
        }
        // A file system without it. A link is as safe, where there are links.
        if link(from, to) == 0 {
            try remove(from)
            return true
        }
        if errno == EEXIST { return false }
        if try linkStatus(to) != nil { return false }
        try rename(from, to: to)
        return true
    }

    /// Swaps two names in one step; false where the file system cannot.
    package static func swap(_ one: String, _ other: String) throws(AIError) -> Bool {
        if hub_swap_names(one, other) == 0 { return true }
        guard [ENOSYS, EINVAL, ENOTSUP].contains(errno) else {
            throw .system("cannot exchange \(one) and", path: other, errno: errno)
        }
        return false
    }

    /// unlink(2): whether it existed.
    @discardableResult
    package static func remove(_ path: String) throws(AIError) -> Bool {
        if unlink(path) == 0 { return true }
        if errno == ENOENT || errno == ENOTDIR { return false }
        throw .system("cannot delete", path: path, errno: errno)
    }

    /// rmdir(2): whether it was removed; false if absent or not empty.
    @discardableResult
    package static func removeEmptyDirectory(_ path: String) throws(AIError) -> Bool {
        if rmdir(path) == 0 { return true }
        if errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR { return false }
        throw .system("cannot delete the folder", path: path, errno: errno)
    }

    /// symlink(2). `text` is what the link says, unchecked.
    package static func createSymlink(_ text: String, at path: String) throws(AIError) {
        guard symlink(text, path) == 0 else { throw .system("cannot make the link", path: path, errno: errno) }
    }

    /// Whether a folder supports symbolic links, by creating one.
    ///
    /// - Parameter name: of that link; always the same, so that a leftover is overwritten.
    package static func hasSymlinks(_ folder: String, name: String) throws(AIError) -> Bool {
        let probe = Path.join(folder, name)
        try remove(probe)
        do throws(AIError) { try createSymlink("probe", at: probe) } catch {
            // Another process has just made it.
            if error.errno == EEXIST { return true }
            guard let number = error.errno, [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EINVAL].contains(number) else {
                throw error
            }
            return false
        }
        try remove(probe)
        return true
    }

    /// The text of a symbolic link; nil if the path is not a link.
    package static func linkText(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { readlink(path, $0.baseAddress!, $0.count) }
        return count >= 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// link(2): a second name for the same inode.
    package static func createHardLink(_ existing: String, at path: String) throws(AIError) {
        guard link(existing, path) == 0 else { throw .system("cannot link", path: path, errno: errno) }
    }

    /// The path with every link resolved (realpath); nil if part of it is missing.
    package static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Flushes the folder's entries, so that a rename in it survives a power cut.
    package static func synchronizeDirectory(_ path: String) throws(AIError) {
        try OpenFolder.open(existing: path).synchronize()
    }

    /// Bytes free for this user on the file system that holds `path`, or the nearest folder above that exists.
    package static func diskSpace(_ path: String) throws(AIError) -> (available: Int64, total: Int64) {
        var place = path
        while !exists(place), Path.parent(place) != place { place = Path.parent(place) }
        var available: UInt64 = 0
        var total: UInt64 = 0
        guard hub_disk_space(place, &available, &total) == 0 else {
            throw .system("cannot measure the free space of", path: place, errno: errno)
        }
        return (Int64(clamping: available), Int64(clamping: total))
    }

    /// Whether a folder is on a network file system, where shared memory and often locks do not work.
    package static func isOnNetwork(_ path: String) -> Bool { hub_is_network_file_system(path) == 1 }

    /// Whether a path is on an overlay, where a hard link to a file of a lower layer costs a copy of it.
    package static func isOverlay(_ path: String) -> Bool { hub_is_overlay(path) == 1 }

    /// Whether files on the file system that holds `path` may share blocks.
    package static func mayShareBlocks(_ path: String) -> Bool { hub_may_share_extents(path) == 1 }

    /// Whether reading a file in this folder changes its access time; true if unknown.
    package static func keepsAccessTimes(_ path: String) -> Bool { hub_keeps_access_times(path) != 0 }

    /// Sets access and modification time, in seconds since 1970.
    package static func setTimes(_ path: String, accessed: Double, modified: Double) throws(AIError) {
        func time(_ seconds: Double) -> timespec {
            timespec(tv_sec: Int(seconds.rounded(.down)), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
        }
        let times = [time(accessed), time(modified)]
        guard utimensat(AT_FDCWD, path, times, 0) == 0 else {
            throw .system("cannot set the times of", path: path, errno: errno)
        }
    }

    /// Random bytes as hexadecimal digits, two for each byte.
    package static func randomHex(_ bytes: Int) -> String {
        (0..<bytes).map { _ in
            let text = String(UInt8.random(in: .min ... .max), radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
    }
}

/// `rename` of the C library; inside ``FileSystem`` the name means its own method.
private func renameFile(_ from: String, _ to: String) -> Int32 { rename(from, to) }
