#if canImport(FoundationEssentials)
public import struct FoundationEssentials.URL
#else
public import struct Foundation.URL
#endif
public import HubCore

/// A download of one model at one commit, shared by all who want it.
///
/// A task obtained from a ``ModelManager`` runs until it is done or cancelled, even if nothing holds it, like Swift's
/// tasks and those of URLSession. A download started only by ``ModelManager/download(_:patterns:progress:)`` runs while
/// at least one caller waits: a cancelled caller leaves at once, and the last one ends the work. ``cancel()`` ends it
/// for all.
///
/// Unless completed, it keeps the received bytes: the next download resumes.
public final class DownloadTask: Sendable {
    /// The model as it was first asked for.
    public let identifier: ModelIdentifier
    /// The commit that is fetched.
    public let commit: Commit

    /// Identifies a download of a manager.
    struct Key: Hashable {
        var repository: Repository
        var commit: Commit
        var patterns: Set<String>?
    }

    /// What is wanted.
    struct Order {
        var identifier: ModelIdentifier
        var key: Key
        var puller: Puller
        var options: Puller.Options
        /// The requested branch or tag; nil for the commit itself.
        var ref: String?
    }

    let key: Key
    private let puller: Puller
    private let options: Puller.Options
    private let onEnd: @Sendable (DownloadTask) -> Void
    private let record: Lock<Record>
    private let progresses = Broadcast<DownloadProgress>()
    private let conditions = Broadcast<DownloadState>()
    private var control: PullControl { options.control }

    private struct Record {
        /// The plan is known and not empty.
        var isBegun = false
        /// Whether anything of it comes over the network.
        var needsNetwork = false
        var isPaused = false
        var isVerifying = false
        /// Over, or about to be: no caller can join any more.
        var isClosed = false
        var outcome: DownloadState?
        var rate = RateEstimator()
        /// Whether it continues without waiting callers.
        var isKept = false
        var waiters = 1
        /// The requested names, and those of them not yet written to `refs/`.
        var names: Set<String> = []
        var refs: [String] = []
        var work: Task<Void, Never>?

        var state: DownloadState {
            if let outcome { return outcome }
            if isPaused { return .paused }
            guard isBegun else { return .pending }
            return isVerifying ? .verifying : .downloading
        }
    }

    /// A download that one caller waits for; ``begin()`` starts it.
    ///
    /// - Parameter onEnd: called when no caller can join any more, before the end is reported.
    init(_ order: Order, onEnd: @escaping @Sendable (DownloadTask) -> Void) {
        identifier = order.identifier
        commit = order.key.commit
        key = order.key
        puller = order.puller
        options = order.options
        self.onEnd = onEnd
        var first = Record()
        if let ref = order.ref { (first.names, first.refs) = ([ref], [ref]) }
        record = Lock(first)
        conditions.send(.pending)
    }

    // MARK: State

    /// The current state.
    public var state: DownloadState { record.withLock { $0.state } }

    /// The current progress; nil before the first bytes are counted.
    public var progress: DownloadProgress? { progresses.newest }

    /// The progress, at most ten times a second, beginning with the latest; ends with the task. Each use is a separate
    /// subscription: a slow reader misses values in between but never the last.
    public var updates: AsyncStream<DownloadProgress> { progresses.stream() }

    /// The states from now to the end, which is always sent. Subscribed to like ``updates``.
    public var states: AsyncStream<DownloadState> { conditions.stream() }

    /// Waits for the end and returns the snapshot folder. Cancelling the waiting task ends the waiting, not the
    /// download.
    ///
    /// - Throws: `CancellationError` if the download or the waiting was cancelled; the download's ``AIError``.
    public func value() async throws -> URL {
        for await state in states {
            switch state {
            case .completed(let folder): return folder
            case .failed(let error): throw error
            case .cancelled: throw CancellationError()
            case .pending, .downloading, .paused, .verifying: continue
            }
        }
        throw CancellationError()
    }

    // MARK: Steering

    /// Ends all requests and keeps the received bytes; returns when no request is running. The task keeps its locks,
    /// and callers keep waiting, until ``resume()`` or ``cancel()``. Planning still finishes. Does nothing if the task
    /// is over.
    public func pause() async {
        await withCheckedContinuation { continuation in control.pause { continuation.resume() } }
        // It may have been resumed meanwhile.
        change { $0.isPaused = control.settings.isPaused }
    }

    /// Continues after ``pause()``. Does nothing if the task is not paused.
    public func resume() {
        control.resume()
        change { $0.isPaused = control.settings.isPaused }
    }

    /// Ends the download for all waiting callers; received bytes are kept. Returns at once: ``state`` is
    /// ``DownloadState/cancelled`` when the last request and lock are gone, or ``DownloadState/completed(_:)`` if only
    /// the last verification was left.
    public func cancel() {
        let work = record.withLock { record in
            record.isClosed = true
            return record.work
        }
        work?.cancel()
    }

    /// Connections at once, at least 1; nil leaves it to the transfer. May be set at any time.
    public var connections: Int? {
        get { control.settings.connections }
        set { control.change { $0.connections = newValue.map { max(1, $0) } } }
    }

    /// Bytes a second over all connections, at least 1; nil for unlimited. May be set at any time.
    public var bytesPerSecond: Int64? {
        get { control.settings.bytesPerSecond }
        set { control.change { $0.bytesPerSecond = newValue.map { max(1, $0) } } }
    }

    /// Changes the record and reports a change of state. Under the lock, so that states are reported in order.
    private func change(_ body: (inout Record) -> Void) {
        record.withLock { record in
            let before = record.state
            body(&record)
            let after = record.state
            if after != before { conditions.send(after) }
        }
    }

    // MARK: Callers

    /// The number of waiting callers that keep it running.
    var waiters: Int { record.withLock { $0.waiters } }

    /// Adds a waiting caller.
    ///
    /// - Parameter ref: the requested name.
    /// - Returns: false if it is too late.
    func join(_ ref: String?) -> Bool {
        record.withLock { record in
            guard !record.isClosed else { return false }
            record.waiters += 1
            if let ref, record.names.insert(ref).inserted { record.refs.append(ref) }
            return true
        }
    }

    /// Waits as a counted caller; ``value()`` is for others.
    ///
    /// - Parameter progress: called with the progress, never after this has returned.
    func attend(_ progress: (@Sendable (DownloadProgress) -> Void)?) async throws -> URL {
        async let told: Void = tell(progress)
        do {
            let folder = try await value()
            await told
            return folder
        } catch {
            await leave()
            await told
            throw error
        }
    }

    private func tell(_ progress: (@Sendable (DownloadProgress) -> Void)?) async {
        guard let progress else { return }
        for await now in updates { progress(now) }
    }

    /// Removes a waiting caller; the last one ends a download that is not kept, and waits for its end, so that received
    /// bytes are safe and the locks are free.
    func leave() async {
        let isAbandoned = record.withLock { record in
            record.waiters -= 1
            return record.waiters == 0 && !record.isKept && record.outcome == nil
        }
        guard isAbandoned else { return }
        cancel()
        await settle()
    }

    /// From now on it runs without waiting callers. Replaces one waiting caller.
    func keep() {
        record.withLock { record in
            record.isKept = true
            record.waiters -= 1
        }
    }

    /// Whether it was requested by this revision; nil means any.
    func isNamed(_ revision: String?) -> Bool {
        guard let revision, revision != commit.hash else { return true }
        return record.withLock { $0.names.contains(revision) }
    }

    /// Waits for the plan, and for the end if the plan is empty.
    func begun() async throws {
        for await state in states {
            switch state {
            case .pending: continue
            case .failed(let error): throw error
            case .cancelled: throw CancellationError()
            case .downloading, .paused, .verifying, .completed: return
            }
        }
        throw CancellationError()
    }

    /// Waits for the end, cancelled or not.
    func settle() async { await record.withLock { $0.work }?.value }

    // MARK: The work

    /// Starts the work; once, before anybody else knows the task.
    func begin() {
        record.withLock { $0.work = Task { await run() } }
    }

    private func run() async {
        let outcome: DownloadState
        do { outcome = .completed(try await fetch()) } catch {
            let known = AIError.wrapping(error)
            outcome = known.code == .cancelled ? .cancelled : .failed(known)
        }
        record.withLock { $0.isClosed = true }
        onEnd(self)
        change { $0.outcome = outcome }
        progresses.finish()
        conditions.finish()
    }

    private func fetch() async throws -> URL {
        let tree = try await puller.tree(of: key.repository, at: commit)
        var ref = nextRef()
        while true {
            let plan = try await plan(tree, ref)
            let result = try await puller.pull(plan, options) { [self] in hear($0) }
            if let error = result.error { throw error }
            // Also writes names of the commit requested meanwhile.
            ref = nextRef(closing: true)
            if ref == nil { return URL(filePath: result.path) }
        }
    }

    private func nextRef(closing: Bool = false) -> String? {
        record.withLock { record in
            guard record.refs.isEmpty else { return record.refs.removeFirst() }
            if closing { record.isClosed = true }
            return nil
        }
    }

    private func plan(_ tree: RepositoryTree, _ ref: String?) async throws -> PullPlan {
        let (plan, needsWork) = try await Blocking.run { [key, puller, options] in
            let plan = try PullPlan(
                key.repository, in: puller.layout, tree: tree, ref: ref, choice: FileChoice(options.filter),
                force: false)
            try puller.checkSpace([plan])
            return (plan, plan.needsWork)
        }
        change { record in
            record.isBegun = record.isBegun || needsWork
            record.needsNetwork = plan.needsNetwork
        }
        return plan
    }

    private func hear(_ event: PullEvent) {
        guard case .progress(let now) = event else { return }
        change { record in
            record.rate.record(now.completedBytes)
            let isWhole = now.completedBytes == now.totalBytes || !record.needsNetwork
            record.isVerifying = isWhole && !now.active.isEmpty && now.active.allSatisfy(\.isVerifying)
            progresses.send(DownloadProgress(now, rate: record.rate.bytesPerSecond))
        }
    }
}
