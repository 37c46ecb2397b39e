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
    private func obstacle(to file: String, _ open: OpenFiles) throws(AIError) -> String? {
        let path = place(file)
        guard let status = try FileSystem.linkStatus(path) else { return "it is gone" }
        guard status.kind == .file, let note = try note(of: file) else { return "changed since it was downloaded" }
        // If only its times differ, the digest has already confirmed the content.
        if let commit = Commit(note.commit),
            let size = try readTree(commit)?.files.first(where: { $0.path == file })?.size,
            note.mayBeChanged(status, size: size), size != status.size
        {
            return "changed since it was downloaded"
        }
        if let user = open.users[PhysicalFile(status).identity] { return "in use: \(user) has it open" }
        let lock = String(notePath(file).dropLast("metadata".count)) + "lock"
        if let file = try? FileDescriptor(lock, [.noFollow, .nonBlocking]), try file.tryLock(shared: true) == false
        {
            return "in use: it is being downloaded"
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

    /// The deletable files, the kept ones with reasons, and the freed bytes: by size and allocated.
    fileprivate func sort(_ open: OpenFiles) throws(AIError) -> (
        going: [String], kept: [DeletionPlan.Kept], freed: Deletion.Outcome.Freed
    ) {
        if let why = try obstacle() { return ([], [why], .init()) }
        let noted = Set(try noted().map(ExactText.init))
        var going: [String] = []
        var kept: [DeletionPlan.Kept] = []
        var freed = Deletion.Outcome.Freed()
        for file in try contents() {
            let why = noted.contains(ExactText(file)) ? try obstacle(to: file, open) : "not downloaded by a pull"
            if let why {
                kept.append(.init(path: place(file), reason: why))
            } else if let status = try FileSystem.linkStatus(place(file)) {
                going.append(file)
                freed.add(status)
            }
        }
        if kept.isEmpty {
            for partial in try partials() {
                if let status = try FileSystem.linkStatus(Path.join(downloads, partial)) { freed.add(status) }
            }
        }
        return (going, kept, freed)
    }

    /// Deletes unchanged files with their metadata; the bookkeeping with the last of them.
    func delete(_ files: [String], sparing open: OpenFiles) throws(AIError) -> Deletion.Outcome.Freed {
        var freed = Deletion.Outcome.Freed()
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
    private func obstacle() throws(AIError) -> DeletionPlan.Kept? {
        for place in [Path.parent(bookkeeping), bookkeeping, downloads]
        where try FileSystem.linkStatus(place)?.kind == .symlink {
            return .init(path: path, reason: "its records are elsewhere: \(place) is a symbolic link")
        }
        return try isBeingFilled() ? .init(path: path, reason: "in use: it is being downloaded") : nil
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

extension DeletionPlanner {
    /// Plans the deletion of unchanged files in a local folder.
    ///
    /// - Parameter open: its files that other processes have open.
    package mutating func add(_ folder: LocalFolder, sparing open: OpenFiles, reason: String) throws(AIError) {
        let (going, kept, freed) = try folder.sort(open)
        plan.kept += kept
        // If no fetched file is left, the bookkeeping is deleted.
        guard !going.isEmpty || kept.isEmpty else { return }
        plan.rows.append(
            .init(
                repository: nil, folder: nil, subject: .local(folder, going), refs: [], reason: reason,
                freedBytes: freed.size, lastUsedAt: nil, allocatedBytes: freed.allocated))
    }
}
