import HubCore
import Libc

/// Reads all folders below one, on all processors. Folders that have not changed since they were last read are
/// remembered: of them only large files are looked at.
///
/// A small file that is rewritten in place changes no folder, and its new size is seen when its folder changes.
struct FolderWalk {
    /// Files of at least so many bytes are listed, and smaller ones with several names, because these count once. Of
    /// the others only the sum is kept.
    static let large: Int64 = 1 << 20

    /// One folder.
    struct Folder: Sendable, Hashable {
        /// Below the top; empty for the top itself.
        var path: String
        var identity: PhysicalFile.Identity
        /// Its modification time in nanoseconds; -1 if it may still change within the clock's tick.
        var modified: Int64
        var smallBytes: Int64 = 0
        /// Names of small files, where they say something (see ``keepsNames``).
        var smallNames: [String] = []
        var files: [StoreFile] = []
        var folders: [String] = []
    }

    let root: String
    /// Folders that other stores have: they are not entered.
    var excluded: Set<PhysicalFile.Identity> = []
    /// Which folders' small files are listed by name.
    var keepsNames: @Sendable (_ folder: String) -> Bool = { _ in false }

    struct Result: Sendable {
        var folders: [Folder] = []
        var unreadable: [String] = []
        /// Whether anything differs from what was remembered.
        var hasChanged = false
    }

    /// - Parameter known: the folders of the last walk, by their paths.
    func run(known: [String: Folder] = [:]) -> Result {
        var result = Result()
        var level = [""]
        guard let top = try? OpenFolder.open(root) else { return result }
        let now = Timestamp.nowNanoseconds
        while !level.isEmpty {
            let chunk = max(1, min(64, level.count / 8))
            let parts = (level.count + chunk - 1) / chunk
            let found = Lock<[Int: (folders: [Folder], unreadable: [String], hasChanged: Bool)]>([:])
            let paths = level
            let descriptor = top.descriptor
            Parallel.perform(parts) { part in
                var own: (folders: [Folder], unreadable: [String], hasChanged: Bool) = ([], [], false)
                for path in paths[part * chunk..<min((part + 1) * chunk, paths.count)] {
                    switch read(path, descriptor, known[path], now) {
                    case .same(let folder): own.folders.append(folder)
                    case .new(let folder):
                        own.folders.append(folder)
                        own.hasChanged = true
                    case .unreadable: own.unreadable.append(path)
                    case .none: break
                    }
                }
                let made = own
                found.withLock { $0[part] = made }
            }
            let all = found.withLock { $0 }
            level = []
            for part in 0..<parts {
                guard let own = all[part] else { continue }
                for folder in own.folders {
                    for name in folder.folders {
                        level.append(folder.path.isEmpty ? name : folder.path + "/" + name)
                    }
                }
                result.folders += own.folders
                result.unreadable += own.unreadable
                result.hasChanged = result.hasChanged || own.hasChanged
            }
        }
        result.hasChanged = result.hasChanged || result.folders.count != known.count
        withExtendedLifetime(top) {}
        return result
    }

    private enum Reading {
        case same(Folder), new(Folder), unreadable, none
    }

    private func read(_ path: String, _ top: Int32, _ known: Folder?, _ now: Int64) -> Reading {
        let place = path.isEmpty ? "." : path
        var info = stat()
        guard fstatat(top, place, &info, AT_SYMLINK_NOFOLLOW) == 0, info.st_mode & S_IFMT == S_IFDIR else {
            return .none
        }
        let status = FileStatus(info)
        let identity = PhysicalFile.Identity(device: status.device, inode: status.inode)
        if !path.isEmpty, excluded.contains(identity) { return .none }
        if var known, known.identity == identity, known.modified == status.modifiedNanoseconds {
            guard !known.files.isEmpty else { return .same(known) }
            let hasChanged = refresh(&known.files, top)
            return hasChanged ? .new(known) : .same(known)
        }
        let descriptor = openat(top, place, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0, let directory = fdopendir(descriptor) else {
            if descriptor >= 0 { close(descriptor) }
            return .unreadable
        }
        defer { closedir(directory) }
        // A folder that was changed just now may change again within the same tick of the file system's clock.
        let isSettled = now - status.modifiedNanoseconds > 100_000_000
        var folder = Folder(
            path: path, identity: identity, modified: isSettled ? status.modifiedNanoseconds : -1)
        let keepsNames = keepsNames(path)
        let prefix = path.isEmpty ? "" : path + "/"
        while let entry = readdir(directory) {
            withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    let dot = CChar(bitPattern: UInt8(ascii: "."))
                    if name[0] == dot, name[1] == 0 || (name[1] == dot && name[2] == 0) { return }
                    let type = Int32(entry.pointee.d_type)
                    if type == DT_DIR { return folder.folders.append(String(cString: name)) }
                    guard type == DT_REG || type == DT_UNKNOWN else { return }
                    add(name, directory, prefix, keepsNames, to: &folder)
                }
            }
        }
        return .new(folder)
    }

    private func add(
        _ name: UnsafePointer<CChar>, _ directory: DirectoryHandle, _ prefix: String, _ keepsNames: Bool,
        to folder: inout Folder
    ) {
        var info = stat()
        guard fstatat(dirfd(directory), name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        if info.st_mode & S_IFMT == S_IFDIR { return folder.folders.append(String(cString: name)) }
        guard info.st_mode & S_IFMT == S_IFREG else { return }
        if Int64(info.st_size) < Self.large, info.st_nlink == 1 {
            folder.smallBytes += Int64(info.st_size)
            if keepsNames { folder.smallNames.append(String(cString: name)) }
            return
        }
        let status = FileStatus(info)
        folder.files.append(
            StoreFile(
                path: prefix + String(cString: name), file: PhysicalFile(status),
                modified: status.modifiedNanoseconds))
    }

    /// Looks at the large files again: they grow, or are rewritten, without their folder changing.
    private func refresh(_ files: inout [StoreFile], _ top: Int32) -> Bool {
        var hasChanged = false
        for index in files.indices {
            var info = stat()
            guard fstatat(top, files[index].path, &info, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            let status = FileStatus(info)
            let file = StoreFile(
                path: files[index].path, file: PhysicalFile(status), modified: status.modifiedNanoseconds)
            // Reading a file changes its access time, which nobody asks about here.
            if file.modified != files[index].modified || file.file.size != files[index].file.size
                || file.file.links != files[index].file.links || file.identity != files[index].identity
                || file.file.allocated != files[index].file.allocated
            {
                files[index] = file
                hasChanged = true
            }
        }
        return hasChanged
    }
}

#if os(Linux)
private typealias DirectoryHandle = OpaquePointer
#else
private typealias DirectoryHandle = UnsafeMutablePointer<DIR>
#endif

extension FolderWalk {
    /// The format of what is remembered.
    private static let form: UInt8 = 1

    /// The folders as bytes for the catalog.
    static func write(_ folders: [Folder]) -> [UInt8] {
        var writer = ScanWriter(form: form)
        writer.write(folders) { folder, writer in
            writer.write(folder.path)
            writer.write(folder.identity)
            writer.write(whole: folder.modified)
            writer.write(folder.smallBytes)
            writer.write(folder.smallNames) { name, writer in writer.write(name) }
            writer.write(folder.files) { file, writer in
                writer.write(Path.name(file.path))
                writer.write(file.file)
                writer.write(whole: file.modified)
            }
            writer.write(folder.folders) { name, writer in writer.write(name) }
        }
        return writer.bytes
    }

    /// What ``write(_:)`` made; empty if it is of another version or damaged.
    static func read(_ bytes: [UInt8]) -> [String: Folder] {
        bytes.withUnsafeBytes { bytes in
            var reader = ScanReader(bytes, form: form)
            let folders: [Folder] = reader.list { reader in
                let path = reader.text()
                var folder = Folder(path: path, identity: reader.identity(), modified: reader.whole())
                folder.smallBytes = reader.size()
                folder.smallNames = reader.list { $0.text() }
                let prefix = path.isEmpty ? "" : path + "/"
                folder.files = reader.list { reader in
                    let name = reader.text()
                    return StoreFile(path: prefix + name, file: reader.file(), modified: reader.whole())
                }
                folder.folders = reader.list { $0.text() }
                return folder
            }
            guard reader.isSound else { return [:] }
            return Dictionary(folders.map { ($0.path, $0) }) { $1 }
        }
    }
}
