package import HubCore

/// The steps by which unchanged files of a `--local-dir` folder are deleted.
struct LocalRemoval {
    let folder: LocalFolder
    /// Files that other processes read are kept.
    let openFiles: OpenFiles

    /// The files with metadata, valid or not.
    private func noted() throws(AIError) -> [String] {
        try folder.names(below: folder.downloads).compactMap {
            $0.hasSuffix(".metadata") ? String($0.dropLast(9)) : nil
        }
    }

    /// Partials of unfinished downloads, by path relative to the metadata folder.
    private func partials() throws(AIError) -> [String] {
        try folder.names(below: folder.downloads).filter { $0.hasSuffix(".incomplete") }
    }

    /// Why a file must be kept; nil if it is unchanged and unused.
    private func obstacle(to file: String) throws(AIError) -> Obstacle? {
        let path = folder.place(file)
        guard let status = try FileSystem.linkStatus(path) else { return .gone }
        guard status.kind == .file, let note = try folder.note(of: file) else { return .changed }
        // If only its times differ, the digest has already confirmed the content.
        if let commit = Commit(note.commit),
            let size = try folder.readTree(commit)?.files.first(where: { $0.path == file })?.size,
            note.mayBeChanged(status, size: size), size != status.size
        {
            return .changed
        }
        return openFiles.users[PhysicalFile(status).identity].map { .inUse(.open(by: $0, "it")) }
    }

    /// Whether a pull is working there.
    private func isBeingFilled() throws(AIError) -> Bool {
        for name in try folder.names(below: folder.downloads) where name.hasSuffix(".lock") {
            if let file = try? FileDescriptor(Path.join(folder.downloads, name), [.noFollow, .nonBlocking]),
                try file.tryLock(shared: true) == false
            {
                return true
            }
        }
        return false
    }

    /// The names of the deletable files, the files that go with them, and the kept ones with reasons.
    func sort() throws(AIError) -> (
        names: [String], files: [PhysicalFile], kept: [DeletionPlan.Protected]
    ) {
        if let why = try obstacle() { return ([], [], [.init(path: folder.path, obstacle: why)]) }
        let noted = Set(try noted().map(ExactText.init))
        var names: [String] = []
        var files: [PhysicalFile] = []
        var kept: [DeletionPlan.Protected] = []
        for file in try folder.contents() {
            if let why = try noted.contains(ExactText(file)) ? obstacle(to: file) : .notDownloaded {
                kept.append(.init(path: folder.place(file), obstacle: why))
            } else if let status = try FileSystem.linkStatus(folder.place(file)) {
                names.append(file)
                files.append(PhysicalFile(status))
            }
        }
        if kept.isEmpty {
            for partial in try partials() {
                if let status = try FileSystem.linkStatus(Path.join(folder.downloads, partial)) {
                    files.append(PhysicalFile(status))
                }
            }
        }
        return (names, files, kept)
    }

    /// Deletes unchanged files with their metadata; the bookkeeping with the last of them.
    func delete(_ files: [String], _ tally: inout FreedTally) throws(AIError) {
        guard try obstacle() == nil, let top = try OpenFolder.open(folder.path) else { return }
        let notes = try top.ownFolder(LocalFolder.bookkeeping + "/download")
        for file in files where try obstacle(to: file) == nil {
            guard let (place, name) = try top.place(of: file), let status = try place.status(of: name) else {
                continue
            }
            if try place.remove(name) { tally.add(status) }
            if let (place, name) = try notes?.place(of: file + ".metadata") { try place.remove(name) }
            try top.removeEmptyFolders(above: file)
        }
        // Metadata of missing files is useless.
        guard try folder.contents().isEmpty, try obstacle() == nil else { return }
        for partial in try partials() {
            guard let (place, name) = try notes?.place(of: partial), let status = try place.status(of: name) else {
                continue
            }
            if try place.remove(name) { tally.add(status) }
        }
        try removeBookkeeping(in: top)
    }

    /// Removes the bookkeeping of `--local-dir` and folders that become empty. Other programs may use the same folder:
    /// in the home folder it is that of Python's whole cache.
    private func removeBookkeeping(in top: OpenFolder) throws(AIError) {
        guard let records = try top.ownFolder(LocalFolder.bookkeeping) else { return }
        for name in ["download", "trees"] { try records.removeTree(name) }
        let left = try records.entries().map(\.name)
        guard Set([".gitignore", "CACHEDIR.TAG"]).isSuperset(of: left) else { return }
        for name in left { try records.remove(name) }
        try top.removeEmptyFolders(above: LocalFolder.bookkeeping + "/download")
        // Only if all of it is empty.
        try FileSystem.removeEmptyDirectory(folder.path)
    }

    /// Why nothing of it may be deleted now: a pull is running, or the bookkeeping is behind a link.
    private func obstacle() throws(AIError) -> Obstacle? {
        for place in [Path.parent(folder.bookkeeping), folder.bookkeeping, folder.downloads]
        where try FileSystem.linkStatus(place)?.kind == .symlink {
            return .recordsElsewhere(place)
        }
        return try isBeingFilled() ? .inUse(.pulled) : nil
    }
}

extension LocalFolder {
    /// Every file of the folder except the bookkeeping.
    fileprivate func contents() throws(AIError) -> [String] { try names(below: path, except: [".cache"]) }

    /// The files that a deletion could take.
    package func identities() throws(AIError) -> Set<PhysicalFile.Identity> {
        var out: Set<PhysicalFile.Identity> = []
        for file in try contents() {
            if let status = try FileSystem.linkStatus(place(file)) { out.insert(PhysicalFile(status).identity) }
        }
        return out
    }
}
