package import HubCore

extension LocalFolder {
    /// Whether a pull has put files there.
    package var isKnown: Bool { FileSystem.exists(downloads) }

    /// The files with metadata, valid or not.
    private func noted() throws(AIError) -> [String] {
        try names(below: downloads).compactMap { $0.hasSuffix(".metadata") ? String($0.dropLast(9)) : nil }
    }

    /// Partials of unfinished downloads, by path relative to the metadata folder.
    private func partials() throws(AIError) -> [String] {
        try names(below: downloads).filter { $0.hasSuffix(".incomplete") }
    }

    /// Why a file must be kept; nil if it is unchanged and unused.
    private func obstacle(to file: String, _ open: OpenFiles) throws(AIError) -> Obstacle? {
        let path = place(file)
        guard let status = try FileSystem.linkStatus(path) else { return .gone }
        guard status.kind == .file, let note = try note(of: file) else { return .changed }
        // If only its times differ, the digest has already confirmed the content.
        if let commit = Commit(note.commit),
            let size = try readTree(commit)?.files.first(where: { $0.path == file })?.size,
            note.mayBeChanged(status, size: size), size != status.size
        {
            return .changed
        }
        if let user = open.users[PhysicalFile(status).identity] { return .inUse(.open(by: user, "it")) }
        let lock = String(notePath(file).dropLast("metadata".count)) + "lock"
        if let file = try? FileDescriptor(lock, [.noFollow, .nonBlocking]), try file.tryLock(shared: true) == false
        {
            return .inUse(.pulled)
        }
        return nil
    }

    /// Whether a pull is working there.
    private func isBeingFilled() throws(AIError) -> Bool {
        for name in try names(below: downloads) where name.hasSuffix(".lock") {
            if let file = try? FileDescriptor(Path.join(downloads, name), [.noFollow, .nonBlocking]),
                try file.tryLock(shared: true) == false
            {
                return true
            }
        }
        return false
    }

    /// Every file of the folder except the bookkeeping.
    private func contents() throws(AIError) -> [String] { try names(below: path, except: [".cache"]) }

    /// The names of the deletable files, the files that go with them, and the kept ones with reasons.
    func sort(_ open: OpenFiles) throws(AIError) -> (
        names: [String], files: [PhysicalFile], kept: [DeletionPlan.Protected]
    ) {
        if let why = try obstacle() { return ([], [], [.init(path: path, obstacle: why)]) }
        let noted = Set(try noted().map(ExactText.init))
        var names: [String] = []
        var files: [PhysicalFile] = []
        var kept: [DeletionPlan.Protected] = []
        for file in try contents() {
            if let why = try noted.contains(ExactText(file)) ? obstacle(to: file, open) : .notDownloaded {
                kept.append(.init(path: place(file), obstacle: why))
            } else if let status = try FileSystem.linkStatus(place(file)) {
                names.append(file)
                files.append(PhysicalFile(status))
            }
        }
        if kept.isEmpty {
            for partial in try partials() {
                if let status = try FileSystem.linkStatus(Path.join(downloads, partial)) {
                    files.append(PhysicalFile(status))
                }
            }
        }
        return (names, files, kept)
    }

    /// Deletes unchanged files with their metadata; the bookkeeping with the last of them.
    func delete(_ files: [String], sparing open: OpenFiles) throws(AIError) -> FreedBytes {
        var freed = FreedBytes()
        guard try obstacle() == nil else { return freed }
        guard let top = try OpenFolder.open(path) else { return freed }
        let notes = try top.ownFolder(Self.bookkeeping + "/download")
        for file in files where try obstacle(to: file, open) == nil {
            guard let (place, name) = try top.place(of: file), let status = try place.status(of: name) else {
                continue
            }
            if try place.remove(name) { freed.add(status) }
            if let (place, name) = try notes?.place(of: file + ".metadata") { try place.remove(name) }
            try top.removeEmptyFolders(above: file)
        }
        // Metadata of missing files is useless.
        guard try contents().isEmpty, try obstacle() == nil else { return freed }
        for partial in try partials() {
            guard let (place, name) = try notes?.place(of: partial), let status = try place.status(of: name) else {
                continue
            }
            if try place.remove(name) { freed.add(status) }
        }
        try removeBookkeeping(in: top)
        return freed
    }

    /// Removes the bookkeeping of `--local-dir` and folders that become empty. Other programs may use the same folder:
    /// in the home folder it is that of Python's whole cache.
    private func removeBookkeeping(in top: OpenFolder) throws(AIError) {
        guard let folder = try top.ownFolder(Self.bookkeeping) else { return }
        for name in ["download", "trees"] { try folder.removeTree(name) }
        let left = try folder.entries().map(\.name)
        guard Set([".gitignore", "CACHEDIR.TAG"]).isSuperset(of: left) else { return }
        for name in left { try folder.remove(name) }
        try top.removeEmptyFolders(above: Self.bookkeeping + "/download")
        // Only if all of it is empty.
        try FileSystem.removeEmptyDirectory(path)
    }

    /// Why nothing of it may be deleted now: a pull is running, or the bookkeeping is behind a link.
    private func obstacle() throws(AIError) -> Obstacle? {
        for place in [Path.parent(bookkeeping), bookkeeping, downloads]
        where try FileSystem.linkStatus(place)?.kind == .symlink {
            return .recordsElsewhere(place)
        }
        return try isBeingFilled() ? .inUse(.pulled) : nil
    }

    /// The files that a deletion could take.
    package func identities() throws(AIError) -> Set<PhysicalFile.Identity> {
        var out: Set<PhysicalFile.Identity> = []
        for file in try contents() {
            if let status = try FileSystem.linkStatus(place(file)) { out.insert(PhysicalFile(status).identity) }
        }
        return out
    }
}
