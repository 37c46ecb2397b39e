package import HubCore

/// Repairs damage found by verification: a pull of the damaged files that starts from a partial with their intact
/// ranges. So only the damage is fetched, the whole file is verified, and then it replaces the old one. If killed at
/// any moment, it leaves the old file and a partial that the next repair resumes.
package struct Repair: Sendable {
    private let puller: Puller
    private let result: Verification
    private let repository: Repository

    /// - Throws: ``ErrorCode/repositoryNotFound`` for a local folder whose repository is unknown.
    package init(_ result: Verification, _ puller: Puller) throws(AIError) {
        guard let repository = result.repository else {
            throw AIError(
                .repositoryNotFound, "the repository of \(result.path) is unknown",
                advice: "hub pull REF --local-dir \(result.path) fetches what is missing")
        }
        (self.puller, self.result, self.repository) = (puller, result, repository)
    }

    /// The repairable problems: files of the commit without local changes.
    private var repairable: [VerificationProblem] { result.damage.filter { !$0.isForeign } }

    /// The plan of the repairing pull, after creating the partials; nil if nothing can be repaired.
    ///
    /// - Parameter fault: called for a file that the commit does not have, and if something would have to be fetched while
    ///   offline.
    /// - Throws: if the files of the commit are unknown, or the cache cannot be written.
    package func plan(fault: (AIError) -> Void) async throws -> PullPlan? {
        guard let commit = result.commit, !repairable.isEmpty else { return nil }
        let tree: RepositoryTree
        if let known = result.tree {
            tree = known
        } else {
            tree = try await puller.tree(of: repository, at: commit)
        }
        for problem in repairable where problem.file == nil && !tree.has(problem.path) {
            fault(
                AIError(
                    .fileNotFound, "\(repository) does not have the file \(problem.path.printable)",
                    advice: "hub info \(repository)@\(commit.short) --files lists its files",
                    context: .init(repository: repository.description, path: problem.path)))
        }
        var plan = try await Blocking.run { try self.plan(tree) }
        if puller.isOffline, plan.needsNetwork {
            plan.files = plan.files.filter { !$0.state.isMissing }
            fault(
                AIError(
                    .offline, "the damaged files of \(repository) must be fetched, and the network is off",
                    context: .init(repository: repository.description)))
        }
        return plan.files.isEmpty ? nil : plan
    }

    private func plan(_ tree: RepositoryTree) throws(AIError) -> PullPlan {
        var damaged = DamagedFiles()
        let problems = Dictionary(repairable.map { (ExactText($0.path), $0) }) { first, _ in first }
        for file in tree.files {
            if let (_, stamp) = problems[ExactText(file.path)]?.damaged { damaged.insert(file.digest, stamp) }
        }
        func look() throws(AIError) -> PullPlan {
            var plan = try PullPlan(
                repository, in: puller.layout, tree: tree, ref: nil, choice: .everything, force: false,
                destination: result.destination, damaged: damaged)
            plan.files = plan.files.filter { problems[ExactText($0.file.path)] != nil }
            return plan
        }
        let first = try look()
        var isSalvaged = false
        for (file, state) in first.files {
            guard case .missing = state, let problem = problems[ExactText(file.path)], problem.isPlaced,
                let (path, stamp) = problem.damaged
            else { continue }
            let salvage = Salvage(file, first.places(file))
            if try salvage.run(path, stamp, damage: problem.ranges) { isSalvaged = true }
        }
        return isSalvaged ? try look() : first
    }
}

extension RepositoryTree {
    fileprivate func has(_ path: String) -> Bool { files.contains { ExactText($0.path) == ExactText(path) } }
}

extension Verification {
    /// Records the repairs of a pull.
    package mutating func note(_ pulled: Puller.Result) {
        let done = Set(pulled.files.filter { $0.error == nil && $0.status != .failed }.map { ExactText($0.path) })
        for index in problems.indices where problems[index].kind != .extra {
            if done.contains(ExactText(problems[index].path)) { problems[index].isRepaired = true }
        }
        fetchedBytes += pulled.downloadedBytes
    }

    /// Records a failed repair.
    package mutating func note(_ fault: AIError) { faults.append(fault) }
}

/// Creates a partial from the intact ranges of a damaged file.
private struct Salvage {
    let file: RepositoryFile
    let places: TransferPlaces

    init(_ file: RepositoryFile, _ places: TransferPlaces) { (self.file, self.places) = (file, places) }

    /// Copies intact ranges that are not in a partial yet; returns whether there is now a partial with them. Not if
    /// another process is fetching this content or has replaced the damaged file.
    func run(_ source: String, _ stamp: FileStamp, damage: [Range<Int64>]) throws(AIError) -> Bool {
        let attempt = try FileLock.attempt(places.lock)
        switch consume attempt {
        // Without locks a partial has a name of its own in each process.
        case .held: return false
        case .unsupported: return false
        case .taken(let lock):
            let isDone = try fill(source, stamp, damage)
            _ = consume lock
            return isDone
        }
    }

    private func fill(_ source: String, _ stamp: FileStamp, _ damage: [Range<Int64>]) throws(AIError) -> Bool {
        let old = try FileDescriptor(source)
        guard try old.status().stamp == stamp else { return false }
        let sound = IntervalSet(IntervalSet(damage).gaps(in: 0..<min(file.size, stamp.size)))
        guard !sound.isEmpty else { return false }
        try FileSystem.createDirectories(Path.parent(places.partial))
        var safe = IntervalSet()
        let partial = try open(old, sound, &safe)
        // As for fetching: lock files may get deleted.
        guard try partial.tryLock() != false else { return false }
        let isNew = safe.isEmpty
        do throws(AIError) {
            for range in sound.ranges {
                for gap in safe.gaps(in: range) { try copy(gap, from: old, to: partial) }
            }
            safe.formUnion(sound)
            try partial.synchronizeData()
            try RangeMap(
                digest: file.digest, size: file.size, inode: partial.status().inode, nonce: FileSystem.randomHex(8),
                owner: nil, safe: safe
            ).write(places.map)
        } catch {
            // Without its map it would only fill the disk.
            if isNew { try? places.clear() }
            throw error
        }
        return true
    }

    /// The partial of an earlier attempt with its safe ranges, or a new one.
    private func open(_ old: borrowing FileDescriptor, _ sound: IntervalSet, _ safe: inout IntervalSet)
        throws(AIError) -> FileDescriptor
    {
        if let map = RangeMap.read(places.map), map.digest == file.digest, map.size == file.size,
            let status = try FileSystem.linkStatus(places.partial), status.kind == .file, status.size == file.size
        {
            safe = map.safe
            return try FileDescriptor(places.partial, [.write, .noFollow])
        }
        try places.clear()
        let made = try FileDescriptor(places.partial, [.write, .create, .exclusive])
        do throws(AIError) {
            // A reflink needs no space.
            if made.reflink(from: old) {
                try made.truncate(to: file.size)
                safe = sound
            } else {
                try made.preallocate(file.size)
            }
        } catch {
            _ = try? FileSystem.remove(places.partial)
            throw error
        }
        return made
    }

    private func copy(
        _ range: Range<Int64>, from old: borrowing FileDescriptor, to partial: borrowing FileDescriptor
    )
        throws(AIError)
    {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var at = range.lowerBound
        while at < range.upperBound {
            let wanted = Int(min(Int64(buffer.count), range.upperBound - at))
            let count = try old.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: at)
            guard count > 0 else { throw AIError(.ioError, "\(old.path) was truncated while it was read") }
            try partial.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: at)
            at += Int64(count)
        }
    }
}
