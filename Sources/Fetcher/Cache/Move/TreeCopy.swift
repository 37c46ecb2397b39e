import HubCore

/// Copies a folder to another disk, in steps that may be interrupted: a file gets its name in the copy after it was read
/// back from there and found to be the same, so that a later run takes it as it is.
struct TreeCopy {
    let source: String
    let target: String
    /// Where a file is put together, on the target's file system, always the same.
    let temporary: String
    /// Whether a file that is being written is an error; else it is left for a later run.
    var isStrict = false
    /// Whether relative links out of the folder keep their text, as those of the trash, which get back to their places.
    var keepsLinks = false
    /// Whether a file of the target that was written later stays: the target is in use already.
    var keepsNewer = false
    /// Called with bytes read and read back; may throw to stop.
    let progress: (Int) throws -> Void

    /// The copies of files with several names.
    private var copies: [PhysicalFile.Identity: String] = [:]

    init(
        _ source: String, to target: String, temporary: String, progress: @escaping (Int) throws -> Void
    ) {
        (self.source, self.target, self.temporary, self.progress) = (source, target, temporary, progress)
    }

    /// Copies what the target lacks or has older. Nothing is removed there.
    mutating func run() throws { try copyFolder(source, to: target) }

    private mutating func copyFolder(_ from: String, to: String) throws {
        // Removed meanwhile.
        guard let folder = try OpenFolder.open(from) else { return }
        let own = try folder.status()
        try FileSystem.createDirectories(to)
        var maps: [String] = []
        for entry in try folder.entries().sorted(by: { $0.name < $1.name }) {
            let (path, place) = (Path.join(from, entry.name), Path.join(to, entry.name))
            guard entry.isText else {
                throw AIError(
                    .ioError, "the name \(path.printable) is not UTF-8, so it cannot be moved",
                    advice: "rename or remove it first", context: .init(path: path))
            }
            guard let status = try folder.status(of: entry) else { continue }
            switch status.kind {
            case .directory: try copyFolder(path, to: place)
            case .file where entry.name.hasSuffix(".hub.map.incomplete"): maps.append(entry.name)
            case .file: try copyFile(path, status, to: place)
            case .symlink: try copyLink(path, to: place)
            case .other:
                throw AIError(
                    .ioError, "\(path.printable) is neither a file, a folder nor a link, so it cannot be moved",
                    advice: "move it away first", context: .init(path: path))
            }
        }
        for map in maps { try copyMap(map, from, to: to) }
        guard let made = try FileSystem.status(to) else { return }
        if made.mode != own.mode { try FileSystem.setMode(to, own.mode) }
        if made.owner != own.owner || made.group != own.group {
            try? FileDescriptor(to, [.directory]).setOwner(own.owner, group: own.group)
        }
        try FileSystem.synchronizeDirectory(to)
    }

    // MARK: Files

    private mutating func copyFile(_ path: String, _ status: FileStatus, to place: String) throws {
        let identity = PhysicalFile(status).identity
        if let first = copies[identity] { return try link(first, to: place) }
        if try isCopied(status, at: place) {
            if status.links > 1 { copies[identity] = place }
            try progress(2 * Int(status.size))
            return
        }
        guard try copy(path, to: place) else {
            guard !isStrict else { throw Self.changed(path) }
            return
        }
        if status.links > 1 { copies[identity] = place }
    }

    /// Whether a file was copied, and nothing has happened to it since.
    private func isCopied(_ status: FileStatus, at place: String) throws(AIError) -> Bool {
        guard let there = try FileSystem.linkStatus(place), there.kind == .file else { return false }
        // A time of the file system goes through seconds in floating point.
        if keepsNewer, there.modified > status.modified + 1e-5 { return true }
        return there.size == status.size && abs(there.modified - status.modified) < 1e-5
            && status.changedNanoseconds <= there.changedNanoseconds
    }

    /// A second name of a file that was copied.
    private func link(_ first: String, to place: String) throws(AIError) {
        if let there = try FileSystem.linkStatus(place), let copied = try FileSystem.linkStatus(first),
            there.inode == copied.inode
        {
            return
        }
        try FileSystem.remove(temporary)
        try FileSystem.createHardLink(first, at: temporary)
        try FileSystem.rename(temporary, to: place)
    }

    /// Copies a file and reads the copy back; false if it was removed, or written to meanwhile.
    private func copy(_ path: String, to place: String) throws -> Bool {
        guard try FileSystem.linkStatus(path) != nil else { return false }
        let file = try FileDescriptor(unnoticed: path)
        let before = try file.status()
        try FileSystem.remove(temporary)
        let hasher = ContentHasher()
        do {
            let to = try FileDescriptor(temporary, [.write, .create, .exclusive], mode: 0o600)
            try fill(to, from: file, isSparse: before.allocated < before.size, hasher)
            try to.truncate(to: before.size)
            let made = try to.status()
            if made.owner != before.owner || made.group != before.group {
                // Only root may give files away; a member of the group may keep the group.
                do { try to.setOwner(before.owner, group: before.group) } catch {
                    try? to.setOwner(made.owner, group: before.group)
                }
            }
            try to.setMode(before.mode)
            try to.synchronizeData()
        }
        guard try file.status().stamp == before.stamp else { return false }
        let copy = try FileDescriptor(unnoticed: temporary)
        copy.forgetPages()
        let check = ContentHasher()
        try check.update(copy, progress: progress)
        guard check.finish() == hasher.finish() else {
            throw AIError(
                .digestMismatch, "the copy of \(path.printable) on the new disk is not the same",
                advice: "check the disk; the cache is where it was", context: .init(path: place))
        }
        try FileSystem.setTimes(temporary, accessed: before.accessed, modified: before.modified)
        try FileSystem.rename(temporary, to: place)
        return true
    }

    private func fill(
        _ to: borrowing FileDescriptor, from: borrowing FileDescriptor, isSparse: Bool, _ hasher: ContentHasher
    ) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try from.read(into: buffer, at: offset)
            if count == 0 { return }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            hasher.update(bytes)
            // A download has its size from the start, and holes.
            if !isSparse || bytes.contains(where: { $0 != 0 }) { try to.write(bytes, at: offset) }
            offset += Int64(count)
            try progress(count)
        }
    }

    // MARK: Links and maps

    /// A link keeps its text; one that leads out of the folder by a relative path gets the place's whole path.
    private func copyLink(_ path: String, to place: String) throws(AIError) {
        guard var text = FileSystem.linkText(path) else { return }
        if !keepsLinks, !text.hasPrefix("/") {
            let end = Path.normalized(Path.join(Path.parent(path), text))
            if end != source, !end.hasPrefix(source + "/") { text = end }
        }
        if FileSystem.linkText(place) == text { return }
        try FileSystem.remove(temporary)
        try FileSystem.createSymlink(text, at: temporary)
        try FileSystem.rename(temporary, to: place)
    }

    /// The map of a partial names the inode that its ranges are of.
    private func copyMap(_ name: String, _ from: String, to: String) throws(AIError) {
        let partial = String(name.dropLast(".map.incomplete".count)) + ".incomplete"
        guard var map = RangeMap.read(Path.join(from, name)),
            let old = try FileSystem.linkStatus(Path.join(from, partial)),
            let new = try FileSystem.linkStatus(Path.join(to, partial)), old.inode == map.inode
        else { return }
        map.inode = new.inode
        try map.write(Path.join(to, name))
    }

    private static func changed(_ path: String) -> AIError {
        AIError(
            .fileChanged, "\(path.printable) is being written",
            advice: "end what writes it, and run the same command again", context: .init(path: path))
    }
}
