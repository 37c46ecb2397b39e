import Dispatch
import HubCore

/// Fetches the missing blobs of one repository at one commit: several files at once, several ranges of a large file at
/// once, each byte written in place, proven and promoted.
///
/// Everything happens on the engine's thread but what ``PartialFile`` does on its queues.
final class PullSession: @unchecked Sendable {
    /// What a pull may use.
    struct Limits: Sendable {
        /// Connections over all files.
        var connections = 8
        /// Failures of one file without a byte in between.
        var failures = 6
        /// Seconds, doubled with each failure, before a file is asked for again.
        var backoff = 0.25
        /// Whole fetches of one file whose digest is wrong.
        var mismatches = 3
        /// Received and not yet on stable storage, over all files: what a kill may cost.
        var unflushedBytes: Int64 = 28 << 20
        /// Unflushed bytes of one file at which a flush begins.
        var flushBytes: Int64 = 8 << 20
        /// Bytes asked for at once: of a file that has only begun, later, and at the least.
        var firstRange: Int64 = 4 << 20
        var range: Int64 = 16 << 20
        var smallestRange: Int64 = 2 << 20
        /// A file of at most so many bytes counts as small.
        var smallFile: Int64 = 4 << 20
    }

    let client: HubClient
    let repository: Repository
    let commit: Commit
    let limits: Limits
    let restart: Bool
    let symlinks: Bool
    let report: @Sendable (PullEvent) -> Void
    var engine: HTTPEngine { client.http.engine }

    // On the engine's thread.
    /// Files that nobody has begun with, large and small ones, the largest last.
    private var queued: (large: [FileTransfer], small: [FileTransfer])
    /// Files begun and not ended.
    private(set) var active: [FileTransfer] = []
    /// Files that have ended and are being closed.
    private var closing = 0
    private var outcomes: [PulledFile] = []
    var continuation: CheckedContinuation<[PulledFile], Never>?
    var isCancelled = false
    var nextWake = Double.infinity
    /// The server asked everybody to wait until then.
    var pauseUntil = 0.0
    var lastProgress = 0.0
    /// Bytes and files that are done with, those that were here before this pull included.
    var done: (bytes: Int64, files: Int)
    let total: (bytes: Int64, files: Int)

    /// - Parameters:
    ///   - missing: files to fetch; several paths may share one digest.
    ///   - present: files that need nothing, for the progress.
    init(
        client: HubClient, repository: Repository, commit: Commit, folder: RepositoryFolder,
        missing: [RepositoryFile],
        present: [RepositoryFile], limits: Limits, restart: Bool, symlinks: Bool,
        report: @escaping @Sendable (PullEvent) -> Void
    ) {
        self.client = client
        self.repository = repository
        self.commit = commit
        self.limits = limits
        self.restart = restart
        self.symlinks = symlinks
        self.report = report
        var paths: [ContentDigest: [RepositoryFile]] = [:]
        for file in missing { paths[file.digest, default: []].append(file) }
        // The largest first: the end of a pull should not wait for one that began last.
        // The largest first: the end of a pull should not wait for one that began last.
        let files = paths.values.map { FileTransfer($0[0], paths: $0.map(\.path), folder: folder) }
            .sorted { ($0.file.size, $1.file.path) < ($1.file.size, $0.file.path) }
        queued.small = files.filter { $0.file.size <= limits.smallFile }
        queued.large = files.filter { $0.file.size > limits.smallFile }
        done = (present.totalSize, present.count)
        total = ((present + missing).totalSize, present.count + missing.count)
    }

    /// Fetches everything. Always returns, with an outcome for each file; cancelling the task ends the work, keeps what
    /// was received, and marks the rest as cancelled.
    func run() async -> [PulledFile] {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                engine.perform { [self] in
                    self.continuation = continuation
                    tick()
                    // A cancellation that came first has found nothing to end.
                    if isCancelled { cancelAll() } else { beginMore() }
                    finishIfDone()
                }
            }
        } onCancel: {
            engine.perform { [self] in
                isCancelled = true
                if continuation != nil { cancelAll() }
            }
        }
    }

    // MARK: Beginning and end of a file

    /// Begins with further files: so many that each connection finds a large and a small one to serve. No more, for each
    /// holds two descriptors and has its space reserved.
    private func beginMore() {
        guard !isCancelled else { return }
        func begin(_ queue: inout [FileTransfer], small: Bool) {
            // Those that another process is at work on wait without holding anything.
            var room =
                limits.connections - closing
                - active.count { isSmall($0) == small && !$0.isLockedOut }
            while room > 0, let file = queue.popLast() {
                room -= 1
                file.phase = .waiting
                active.append(file)
                open(file)
            }
        }
        begin(&queued.large, small: false)
        begin(&queued.small, small: true)
    }

    func isSmall(_ file: FileTransfer) -> Bool { file.file.size <= limits.smallFile }

    private func open(_ file: FileTransfer, restart: Bool? = nil) {
        let fresh = restart ?? self.restart
        file.ioQueue.async { [self] in
            let result = Result { () throws(AIError) in try file.disk.open(restart: fresh) }
            engine.perform { [self] in opened(file, result, restart: fresh) }
        }
    }

    private func opened(_ file: FileTransfer, _ result: Result<PartialFile.Opening, AIError>, restart: Bool) {
        guard file.phase != .ended else { return close(file) }
        switch result {
        case .failure(let error): end(file, failed: error)
        case .success(.locked):
            if !file.isLockedOut {
                file.isLockedOut = true
                report(.waiting(path: file.file.path))
                client.log(
                    "\(file.file.path): another process holds \(file.folder.lock(file.file.digest.hex)); waiting")
                beginMore()
            }
            engine.after(0.05) { [self] in if file.phase == .waiting { open(file, restart: restart) } }
        case .success(.blobExists): link(file, as: .linked)
        case .success(.ready(let safe, let note)):
            if let note { client.log(note) }
            if !safe.isEmpty {
                client.log(
                    "\(file.file.path): going on with \(ByteCount(safe.count)) of \(ByteCount(file.file.size))")
            }
            file.received = safe
            file.isLockedOut = false
            file.phase = .fetching
            advance(file)
            pump()
        }
    }

    /// Looks what a file needs next: more bytes, the digest of those at the front, a flush, or its end.
    func advance(_ file: FileTransfer) {
        guard file.phase == .fetching else { return }
        let front = file.received.front
        if !file.isHashing, front > file.hashed {
            file.isHashing = true
            let range = file.hashed..<min(front, file.hashed + 32 << 20)
            file.hashQueue.async { [self] in
                let result = Result { () throws(AIError) in try file.disk.hash(range) }
                engine.perform { [self] in
                    file.isHashing = false
                    if case .failure(let error) = result { return end(file, failed: error) }
                    file.hashed = range.upperBound
                    advance(file)
                }
            }
        }
        if !file.isFlushing, file.unflushed >= limits.flushBytes, !file.isWholeHere { flush(file) }
        if file.isWholeHere, file.hashed == file.file.size, !file.isHashing, !file.isFlushing, file.parts.isEmpty {
            prove(file)
        }
    }

    func flush(_ file: FileTransfer) {
        file.isFlushing = true
        let (written, bytes) = (file.received, file.unflushed)
        file.ioQueue.async { [self] in
            let result = Result { () throws(AIError) in try file.disk.flush(written) }
            engine.perform { [self] in
                file.isFlushing = false
                guard file.phase != .ended else { return }
                if case .failure(let error) = result { return end(file, failed: error) }
                file.unflushed -= bytes
                resumePaused()
                advance(file)
                pump()
            }
        }
    }

    private func prove(_ file: FileTransfer) {
        file.phase = .finishing
        showProgress(now: true)
        file.hashQueue.async { [self] in
            let digest = file.disk.digest()
            let result = Result { () throws(AIError) -> Bool in
                guard digest == file.file.digest else {
                    try file.disk.discard()
                    return false
                }
                try file.disk.promote()
                return true
            }
            engine.perform { [self] in
                switch result {
                case .failure(let error): end(file, failed: error)
                case .success(true):
                    file.unflushed = 0
                    resumePaused()
                    report(.verified(path: file.file.path, digest: file.file.digest))
                    link(file, as: .downloaded)
                case .success(false): mismatch(file, digest)
                }
            }
        }
    }

    private func mismatch(_ file: FileTransfer, _ found: ContentDigest?) {
        file.mismatches += 1
        let message = "\(file.file.path) has the digest \(found?.hex ?? "?") instead of \(file.file.digest.hex)"
        guard file.mismatches < limits.mismatches, !isCancelled else {
            let times = file.mismatches == 1 ? "once" : "\(file.mismatches) times"
            return end(
                file,
                failed: AIError(
                    .digestMismatch, "\(message); it was fetched \(times)",
                    advice: "the server or something on the way changes it; nothing of it was kept",
                    context: .init(repository: repository.description, path: file.file.path)))
        }
        report(.retrying(path: file.file.path, reason: message, seconds: 0))
        client.log(message + "; fetching it again")
        (file.received, file.hashed, file.unflushed) = (IntervalSet(), 0, 0)
        file.location = nil
        file.phase = .waiting
        resumePaused()
        open(file, restart: true)
    }

    private func link(_ file: FileTransfer, as status: PulledFile.Status) {
        file.phase = .finishing
        file.ioQueue.async { [self] in
            let result = Result { () throws(AIError) in try place(file, isNew: status == .downloaded) }
            engine.perform { [self] in
                if case .failure(let error) = result { return end(file, failed: error) }
                file.received = IntervalSet([0..<file.file.size])
                end(file, as: status)
            }
        }
    }

    /// Gives every path of a file its entry in the snapshot.
    private func place(_ file: FileTransfer, isNew: Bool) throws(AIError) {
        let snapshot = file.folder.snapshot(commit)
        let first = Path.join(snapshot, file.paths[0])
        for path in file.paths {
            let place = Path.join(snapshot, path)
            if !symlinks, !isNew {
                // Other revisions may link to a blob that was there before: it stays where it is, as Python has it.
                try FileSystem.createDirectories(Path.parent(place))
                try FileCopy.copy(file.folder.blob(file.file.digest.hex), to: place)
                continue
            }
            var entry = file.file
            entry.path = path
            try SnapshotFile.link(entry, commit: commit, in: file.folder, symlinks: symlinks)
            // Where there are no links, the blob itself has moved to the first path.
            if !FileSystem.exists(place), place != first { try FileCopy.copy(first, to: place) }
        }
    }

    func end(_ file: FileTransfer, failed error: AIError) {
        end(file, as: .failed, error: error)
    }

    private func end(_ file: FileTransfer, as status: PulledFile.Status, error: AIError? = nil) {
        guard file.phase != .ended else { return }
        file.cancelParts(engine)
        let hasBegun = file.phase != .queued
        file.phase = .ended
        if hasBegun { active.removeAll { $0 === file } }
        done.bytes += file.received.count * Int64(file.paths.count)
        done.files += file.paths.count
        for path in file.paths {
            // Several paths may share one content; its bytes came once.
            let outcome = PulledFile(
                path: path, size: file.file.size,
                status: path == file.paths[0] || status != .downloaded ? status : .linked,
                receivedBytes: path == file.paths[0] ? file.receivedBytes : 0, error: error)
            outcomes.append(outcome)
            report(.finished(outcome))
        }
        if hasBegun { close(file) }
        showProgress(now: true)
        resumePaused()
        beginMore()
        pump()
    }

    /// Keeps what was received, closes the partial and gives the lock back.
    private func close(_ file: FileTransfer) {
        closing += 1
        let (written, dirty) = (file.received, file.unflushed > 0)
        file.unflushed = 0
        file.ioQueue.async { [self] in
            // What cannot be kept now is fetched again; the failure that led here is the one to report.
            if dirty { try? file.disk.flush(written) }
            // The digest's queue may still be reading.
            file.hashQueue.async { [self] in
                file.disk.close(isUnused: written.isEmpty)
                engine.perform { [self] in
                    closing -= 1
                    beginMore()
                    finishIfDone()
                }
            }
        }
    }

    private func cancelAll() {
        for file in queued.large + queued.small { end(file, failed: AIError(.cancelled, "interrupted")) }
        queued = ([], [])
        // A proof or a link under way takes moments, and is worth having.
        for file in active where file.phase != .finishing {
            end(file, failed: AIError(.cancelled, "interrupted"))
        }
    }

    private func finishIfDone() {
        guard closing == 0, active.isEmpty, queued.large.isEmpty, queued.small.isEmpty, let continuation else {
            return
        }
        self.continuation = nil
        continuation.resume(returning: outcomes)
    }
}
