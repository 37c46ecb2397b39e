import HubCore
import Libc

/// The sizes of a cache, counted as simply as can be, by nothing that the program uses for it.
struct NaiveCount {
    private struct File: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    /// `size_bytes` by repository folder.
    private(set) var sizes: [String: Int64] = [:]
    private(set) var total: Int64 = 0
    /// Everything that the cache keeps as content, needed or not.
    private(set) var everything: Int64 = 0

    init(_ root: String) throws {
        var (needed, all): ([File: Int64], [File: Int64]) = ([:], [:])
        for folder in try FileSystem.entries(root) ?? [] where Self.isRepository(folder) {
            let place = Path.join(root, folder)
            guard try FileSystem.status(place)?.kind == .directory else { continue }
            var own: [File: Int64] = [:]
            for commit in try FileSystem.entries(Path.join(place, "snapshots")) ?? [] {
                let snapshot = Path.join(place, "snapshots/\(commit)")
                guard commit.utf8.count == 40, commit.allSatisfy({ "0123456789abcdef".contains($0) }),
                    try FileSystem.linkStatus(snapshot)?.kind == .directory
                else { continue }
                for entry in Self.files(below: Array(snapshot.utf8)) {
                    if let (file, size) = try Self.content(entry, Path.join(place, "blobs")) { own[file] = size }
                }
            }
            sizes[folder] = own.values.reduce(0, +)
            needed.merge(own) { $1 }
            for entry in Self.files(below: Array(Path.join(place, "blobs").utf8), deep: false)
            where entry.status.kind == .file { all[entry.file] = entry.status.size }
        }
        total = needed.values.reduce(0, +)
        all.merge(needed) { $1 }
        for entry in Self.files(below: Array(Path.join(root, "blobs").utf8)) where entry.status.kind == .file {
            let name = Path.name(entry.path)
            if name.utf8.count == 64, Path.name(Path.parent(entry.path)) == name.prefix(2) {
                all[entry.file] = entry.status.size
            }
        }
        everything = all.values.reduce(0, +)
    }

    private static func isRepository(_ name: String) -> Bool {
        ["models--", "datasets--", "spaces--", "kernels--"].contains { name.hasPrefix($0) && name != $0 }
    }

    private struct Entry {
        var path: String
        var status: FileStatus
        var file: File { File(device: status.device, inode: status.inode) }
    }

    /// Everything that is not a folder, including names that are not UTF-8.
    private static func files(below folder: [UInt8], deep: Bool = true) -> [Entry] {
        guard let directory = opendir((folder + [0]).map { CChar(bitPattern: $0) }) else { return [] }
        defer { closedir(directory) }
        var found: [Entry] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if name == Array(".".utf8) || name == Array("..".utf8) { continue }
            let path = folder + "/".utf8 + name
            var info = stat()
            guard lstat((path + [0]).map { CChar(bitPattern: $0) }, &info) == 0 else { continue }
            let status = FileStatus(info)
            if status.kind != .directory {
                found.append(Entry(path: String(decoding: path, as: UTF8.self), status: status))
            } else if deep {
                found += files(below: path)
            }
        }
        return found
    }

    /// The file that an entry of a snapshot stands for: itself, or the blob of the repository that its link names.
    private static func content(_ entry: Entry, _ blobs: String) throws -> (File, Int64)? {
        if entry.status.kind == .file { return (entry.file, entry.status.size) }
        guard let text = FileSystem.linkText(entry.path) else { return nil }
        let place = Path.normalized(Path.join(Path.parent(entry.path), text))
        // An unfinished file is not a blob, whatever a link says.
        let name = Path.name(place)
        if name.hasPrefix(".") || name.hasPrefix("tmp_") || name.hasSuffix(".incomplete") { return nil }
        guard Path.parent(place) == blobs, let status = try FileSystem.status(place), status.kind == .file else {
            return nil
        }
        return (File(device: status.device, inode: status.inode), status.size)
    }
}
