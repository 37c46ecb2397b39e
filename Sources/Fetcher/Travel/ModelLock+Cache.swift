package import HubCore

extension ModelLock.Entry {
    /// The locked files that the cache does not have as they are locked. A link is right if it names the digest; a plain
    /// file, of a cache without links, is read.
    package func missing(in layout: CacheLayout) throws -> [TravellingFile] {
        let folder = layout.repository(repository)
        return try files.filter { file in
            guard try SnapshotFile.state(file.entry, commit: commit, in: folder) == .present else { return true }
            let path = Path.join(folder.snapshot(commit), file.path)
            guard FileSystem.linkText(path) == nil else { return false }
            return try ContentHasher.digest(ofFile: path, like: file.digest) != file.digest
        }
    }

    /// How the cache differs from this entry; nil if it does not.
    package func problem(in layout: CacheLayout) throws -> String? {
        let folder = layout.repository(repository)
        guard FileSystem.exists(folder.snapshot(commit)) else { return "not in the cache" }
        let missing = try missing(in: layout)
        if let first = missing.first {
            let others = missing.count == 1 ? "" : " and \(missing.count - 1) more"
            return "\(first.path.printable)\(others) missing or different"
        }
        guard let revision else { return nil }
        guard let cached = try folder.commit(ofRef: revision) else {
            return "the cache has no \(revision.printable)"
        }
        return cached == commit ? nil : "\(revision.printable) is at \(cached.short) in the cache"
    }
}

extension Puller {
    /// An entry for what a reference means: the commit that the cache has for it, else the Hub's.
    package func lockEntry(_ reference: ModelReference, _ options: Options) async throws -> ModelLock.Entry {
        let resolved =
            if let cached = try await Blocking.run({ [self] in try cachedReference(reference) }) {
                Resolved(
                    reference: cached.reference, tree: try await tree(of: reference.repository, at: cached.commit))
            } else { try await resolve(reference) }
        let plan = try await plan(resolved, try await self.options(options, for: resolved))
        return ModelLock.Entry(
            plan.repository, revision: plan.ref, commit: plan.commit, choice: plan.choice,
            files: plan.files.map { TravellingFile($0.file) })
    }

    /// The cached commit that a reference means, with the commit as its revision where no branch in the cache says so;
    /// nil if only the Hub knows.
    private func cachedReference(_ reference: ModelReference) throws(AIError) -> (
        reference: ModelReference, commit: Commit
    )? {
        guard let (folder, commit) = try layout.snapshot(of: reference) else { return nil }
        if try folder.commit(ofRef: reference.revision ?? "main") == commit { return (reference, commit) }
        // The only cached revision need not be that of the main branch.
        guard reference.revision != nil || isOffline else { return nil }
        var exact = reference
        exact.revision = commit.hash
        return (exact, commit)
    }

    /// The entry with the commit that its branch has on the Hub now, and the same choice.
    package func updated(_ entry: ModelLock.Entry) async throws -> ModelLock.Entry {
        guard entry.revision != nil else { return entry }
        let found = try await resolve(entry.reference)
        guard found.commit != entry.commit else { return entry }
        let choice = try await self.choice(entry.choice, appliedTo: found)
        let files = found.tree.files.filter { choice.matches($0.path) }
        guard !files.isEmpty else {
            throw AIError(
                .nothingMatches, "no file of \(entry.reference) matches \(choice.description) any more",
                context: .init(repository: entry.repository.description))
        }
        return ModelLock.Entry(
            entry.repository, revision: entry.revision, commit: found.commit, choice: choice,
            files: files.map(TravellingFile.init))
    }

    /// The plan that takes exactly an entry's files. The Hub is asked only if some of them must be fetched.
    ///
    /// - Throws: ``ErrorCode/digestMismatch`` if the commit's files are not those of the lock.
    package func plan(_ entry: ModelLock.Entry, _ options: Options) async throws -> PullPlan {
        let locked = RepositoryTree(commit: entry.commit, files: entry.files.map(\.entry))
        let here = try await Blocking.run { [self] in
            try options.destination.isCache && !options.force && entry.missing(in: layout).isEmpty
        }
        let tree = here ? locked : try await tree(of: entry.repository, at: entry.commit)
        let listed = Dictionary(tree.files.map { (ExactText($0.path), $0) }) { $1 }
        for file in entry.files {
            let found = listed[ExactText(file.path)]
            guard let found, found.size == file.size, found.digest == file.digest else {
                throw AIError(
                    .digestMismatch,
                    "\(entry.repository) at \(entry.commit.short): \(file.path.printable) "
                        + (found == nil
                            ? "is locked, and the commit does not have it" : "is locked with another digest"),
                    advice: "hub lock update \(entry.repository) locks what the Hub has",
                    context: .init(repository: entry.repository.description, path: file.path))
            }
        }
        return try await Blocking.run { [layout] in
            try PullPlan(
                entry.repository, in: layout, tree: tree, ref: entry.revision,
                choice: entry.choice.taking(exactly: entry.files.map(\.path), of: tree.files.map(\.path)),
                force: options.force, destination: options.destination)
        }
    }
}
