import HubCore
import Synchronization

/// Fetches the missing blobs of one or several repositories: several files, and several ranges of a large file, at
/// once; each blob is verified before it is promoted.
///
/// Everything runs on the engine's thread except the work of ``PartialFile`` on its queues; see
/// ``HTTPEngine/assertOnThread()``.
package final class PullSession: @unchecked Sendable {
    let client: HubClient
    let jobs: [PullJob]
    let limits: Limits
    let control: PullControl
    /// The unflushed bytes of this session and of others beside it.
    let shared: UnflushedBytes
    let restart: Bool
    /// Called with each event and the index of its job.
    let report: @Sendable (PullEvent, Int) -> Void
    /// Called with verified content in place and its range digests, on a queue that may block.
    let keep: @Sendable (RepositoryFile, PullJob, RangeDigests) -> Void
    var engine: HTTPEngine { client.http.engine }

    // On the engine's thread.
    /// The current settings.
    var settings: PullControl.Settings
    var limiter: RateLimiter
    /// Files not begun, large and small, the largest last.
    private var queued: (large: [FileTransfer], small: [FileTransfer])
    /// Files waiting for the same content in another job.
    private var twins: [FileTransfer]
    /// Files begun and not ended.
    private(set) var active: [FileTransfer] = []
    /// Files that have ended and are being closed.
    private var closing = 0
    /// Their unflushed bytes.
    private(set) var closingBytes: Int64 = 0
    private var continuation: CheckedContinuation<Void, Never>?
    var isRunning: Bool { continuation != nil }
    var isCancelled = false
    var nextWake = Double.infinity
    /// The server asked to wait until then.
    var pauseUntil = 0.0
    /// Bytes per second of one connection, from the last ranges; nil before the first.
    var connectionRate: Double?
    /// When a byte last arrived, for any file.
    var heardAt = 0.0
    /// When parts waiting for the rate are checked again; in the past if none wait.
    var nextRelease = 0.0
    var lastProgress = 0.0
    /// Whether it was said that files cannot be flushed.
    var hasToldUnflushed = false
    /// Finished bytes and files, including those present before this pull.
    var done: (bytes: Int64, files: Int)
    let total: (bytes: Int64, files: Int)

    /// - Parameters:
    ///   - present: bytes and files already present, for the progress.
    ///   - restart: whether present content is fetched again.
    init(
        client: HubClient, jobs: [PullJob], present: (bytes: Int64, files: Int), limits: Limits,
        control: PullControl, shared: UnflushedBytes, restart: Bool,
        keep: @escaping @Sendable (RepositoryFile, PullJob, RangeDigests) -> Void,
        report: @escaping @Sendable (PullEvent, Int) -> Void
    ) {
        self.client = client
        self.jobs = jobs
        self.limits = limits
        self.control = control
        self.shared = shared
        self.restart = restart
        self.keep = keep
        self.report = report
        settings = control.settings
        limiter = RateLimiter(settings.bytesPerSecond, at: Clock.seconds)
        var firsts: [String: FileTransfer] = [:]
        var files: [FileTransfer] = []
        twins = []
        for file in jobs.flatMap({ $0.transfers() }) {
            // Only content named by SHA-256 is taken from another repository.
            let digest = file.file.digest.hex
            let key = file.file.isLFS ? digest : "\(file.job.repository) \(digest)"
            if let first = firsts[key] {
                file.twin = first
                twins.append(file)
            } else {
                firsts[key] = file
                files.append(file)
            }
        }
        // The largest first, so that no large one starts last.
        files.sort { ($0.file.size, $1.file.path) < ($1.file.size, $0.file.path) }
        queued.small = files.filter { $0.file.size <= limits.smallFile }
        queued.large = files.filter { $0.file.size > limits.smallFile }
        done = present
        total = jobs.reduce(into: present) {
            $0.bytes = $0.bytes.addingClamped($1.missing.totalSize)
            $0.files += $1.missing.count
        }
    }

    /// Fetches everything. Always returns, with an outcome for each file in its job; cancelling the task ends the work,
    /// keeps what was received, and marks the rest as cancelled.
    func run() async {
        let key = control.observe { [self] done in engine.perform { self.follow(done) } }
        for job in jobs { job.watch?.attach { [self] in engine.perform { self.pump() } } }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                engine.perform { [self] in
                    self.continuation = continuation
                    shared.add(self)
                    heardAt = Clock.seconds
                    tick()
                    // A cancellation that came first found nothing to cancel.
                    if isCancelled { cancelAll() } else { follow {} }
                    finishIfDone()
                }
            }
        } onCancel: {
            engine.perform { [self] in
                isCancelled = true
                if isRunning { cancelAll() }
            }
        }
        control.remove(key)
    }

    /// Applies the current settings.
    private func follow(_ done: @escaping @Sendable () -> Void) {
        engine.assertOnThread()
        defer { done() }
        guard isRunning, !isCancelled else { return }
        let wasPaused = settings.isPaused
        settings = control.settings
        limiter.set(settings.bytesPerSecond, at: Clock.seconds)
        if settings.isPaused {
            for file in active where file.phase == .fetching {
                file.cancelParts(engine)
                if file.unflushed > 0, !file.isFlushing { flush(file) }
            }
        }
        if settings.isPaused != wasPaused { showProgress(now: true) }
        beginMore()
        resumeHeld()
        pump()
    }

    // MARK: Beginning and end of files

    /// Begins further files, one for each connection. No more, because each holds two descriptors and reserved space.
    func beginMore() {
        engine.assertOnThread()
        guard !isCancelled, !settings.isPaused else { return }
        let budget = budget
        func beginFirst(of queue: inout [FileTransfer], small: Bool) {
            // Files locked by another process hold no resources.
            var room = (small ? budget.all : budget.ranges) - closing
            room -= active.count { isSmall($0) == small && !$0.isLockedOut }
            while room > 0, let file = queue.popLast() {
                room -= 1
                begin(file)
            }
        }
        beginFirst(of: &queued.large, small: false)
        beginFirst(of: &queued.small, small: true)
        for file in twins where file.twin?.isClosed == true {
            // Content just verified is reused like other cached content; after a failure it is fetched.
            let first = file.twin!
            if file.file.isLFS || !file.job.destination.isCache { file.source = first.job.place(first.paths[0]) }
            file.twin = nil
            begin(file)
        }
        twins.removeAll { $0.twin == nil }
    }

    private func begin(_ file: FileTransfer) {
        file.phase = .waiting
        active.append(file)
        open(file, restart: restart)
    }

    func isSmall(_ file: FileTransfer) -> Bool { file.file.size <= limits.smallFile }

    func end(_ file: FileTransfer, failed error: AIError) { end(file, as: .failed, error: error) }

    func end(_ file: FileTransfer, as status: PulledFile.Status, error: AIError? = nil) {
        engine.assertOnThread()
        guard file.phase != .ended else { return }
        file.cancelParts(engine)
        file.isCancelled.store(true, ordering: .relaxed)
        let hasBegun = file.phase != .queued
        done.bytes += (status == .failed ? file.received.count : file.file.size) * Int64(file.paths.count)
        done.files += file.paths.count
        file.phase = .ended
        if hasBegun { active.removeAll { $0 === file } }
        file.job.watch?.ended(error)
        for path in file.paths {
            // Several paths may share one content; its bytes came once.
            let outcome = PulledFile(
                path: path, size: file.file.size,
                status: path == file.paths[0] || status != .downloaded ? status : .linked,
                receivedBytes: path == file.paths[0] ? file.receivedBytes : 0, error: error)
            file.job.outcomes.withLock { $0.append(outcome) }
            report(.finished(outcome), file.job.index)
        }
        if hasBegun { close(file) }
        showProgress(now: true)
        resumeHeld()
        beginMore()
        pump()
    }

    /// Keeps received bytes, closes the partial and releases the lock.
    private func close(_ file: FileTransfer) {
        closing += 1
        let (written, unflushed) = (file.received, file.unflushed)
        closingBytes += unflushed
        file.unflushed = 0
        file.ioQueue.async { [self] in
            // Bytes that cannot be flushed are fetched again; only the original error is reported.
            if unflushed > 0 { try? file.disk.flush(written) }
            // The digest's queue may still be reading.
            file.hashQueue.async { [self] in
                file.disk.close(isUnused: written.isEmpty)
                engine.perform { [self] in
                    file.isClosed = true
                    closing -= 1
                    closingBytes -= unflushed
                    resumeHeld()
                    beginMore()
                    finishIfDone()
                }
            }
        }
    }

    private func cancelAll() { endAll(AIError(.cancelled, "interrupted")) }

    /// Ends every incomplete file.
    func endAll(_ error: AIError) {
        engine.assertOnThread()
        let waiting = queued.large + queued.small + twins
        (queued, twins) = (([], []), [])
        for file in waiting { end(file, failed: error) }
        // A running verification or link takes only moments.
        for file in active where file.phase != .finishing { end(file, failed: error) }
    }

    private func finishIfDone() {
        engine.assertOnThread()
        guard closing == 0, active.isEmpty, queued.large.isEmpty, queued.small.isEmpty, twins.isEmpty,
            let continuation
        else { return }
        self.continuation = nil
        shared.remove(self)
        continuation.resume()
    }
}
