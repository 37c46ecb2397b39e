import HubCore
import Synchronization

/// Fetches the missing blobs of one or several repositories: several files at once, several ranges of a large file at
/// once, each byte written in place, proven and promoted.
///
/// Everything happens on the engine's thread but what ``PartialFile`` does on its queues; ``HTTPEngine/assertOnThread()``
/// stands where that thread comes in.
final class PullSession: @unchecked Sendable {
    let client: HubClient
    let jobs: [PullJob]
    let limits: Limits
    let control: PullControl
    let restart: Bool
    /// Hears what happens, with the index of the job it happens to.
    let report: @Sendable (PullEvent, Int) -> Void
    /// Told of proven content in its place, with its range digests; on a queue that may block.
    let keep: @Sendable (RepositoryFile, PullJob, RangeDigests) -> Void
    var engine: HTTPEngine { client.http.engine }

    // On the engine's thread.
    /// What the control says now.
    var settings: PullControl.Settings
    var limiter: RateLimiter
    /// Files that nobody has begun with, large and small ones, the largest last.
    private var queued: (large: [FileTransfer], small: [FileTransfer])
    /// Files that wait for the same content on its way to another place.
    private var twins: [FileTransfer]
    /// Files begun and not ended.
    private(set) var active: [FileTransfer] = []
    /// Files that have ended and are being closed.
    private var closing = 0
    private var continuation: CheckedContinuation<Void, Never>?
    var isRunning: Bool { continuation != nil }
    var isCancelled = false
    var nextWake = Double.infinity
    /// The server asked everybody to wait until then.
    var pauseUntil = 0.0
    /// Bytes a second of one connection, over the last ranges; nil before the first.
    var connectionRate: Double?
    /// When a byte last came, to any file.
    var heardAt = 0.0
    /// When those that wait for the rate are looked at again; in the past where nobody waits.
    var nextRelease = 0.0
    var lastProgress = 0.0
    /// Bytes and files that are done with, those that were here before this pull included.
    var done: (bytes: Int64, files: Int)
    let total: (bytes: Int64, files: Int)

    /// - Parameters:
    ///   - present: bytes and files that need nothing, for the progress.
    ///   - restart: whether what is here is fetched all the same.
    init(
        client: HubClient, jobs: [PullJob], present: (bytes: Int64, files: Int), limits: Limits,
        control: PullControl, restart: Bool,
        keep: @escaping @Sendable (RepositoryFile, PullJob, RangeDigests) -> Void,
        report: @escaping @Sendable (PullEvent, Int) -> Void
    ) {
        self.client = client
        self.jobs = jobs
        self.limits = limits
        self.control = control
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
        // The largest first: the end of a pull should not wait for one that began last.
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
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                engine.perform { [self] in
                    self.continuation = continuation
                    heardAt = Clock.seconds
                    tick()
                    // A cancellation that came first has found nothing to end.
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

    /// Does what the control says now.
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

    /// Begins with further files: so many that each connection finds one to serve. No more, for each holds two
    /// descriptors and has its space reserved.
    func beginMore() {
        engine.assertOnThread()
        guard !isCancelled, !settings.isPaused else { return }
        let budget = budget
        func beginFirst(of queue: inout [FileTransfer], small: Bool) {
            // Those that another process is at work on wait without holding anything.
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
            // What has been proven here a moment ago is taken like everything that the cache has; what failed is tried.
            let first = file.twin!
            if file.file.isLFS || file.job.local != nil { file.source = first.job.place(first.paths[0]) }
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
                    file.isClosed = true
                    closing -= 1
                    beginMore()
                    finishIfDone()
                }
            }
        }
    }

    private func cancelAll() { endAll(AIError(.cancelled, "interrupted")) }

    /// Ends every file that is not whole yet.
    func endAll(_ error: AIError) {
        engine.assertOnThread()
        let waiting = queued.large + queued.small + twins
        (queued, twins) = (([], []), [])
        for file in waiting { end(file, failed: error) }
        // A proof or a link under way takes moments, and is worth having.
        for file in active where file.phase != .finishing { end(file, failed: error) }
    }

    private func finishIfDone() {
        engine.assertOnThread()
        guard closing == 0, active.isEmpty, queued.large.isEmpty, queued.small.isEmpty, twins.isEmpty,
            let continuation
        else { return }
        self.continuation = nil
        continuation.resume()
    }
}
