#if canImport(FoundationEssentials)
public import struct FoundationEssentials.URL
#else
public import struct Foundation.URL
#endif
public import HubCore

/// A download of one model at one commit, shared by all who want it.
///
/// Whoever asks a ``ModelManager`` for a task gets one that goes on until it is done or cancelled, whether anybody holds it
/// or waits for it, as Swift's own tasks and those of URLSession do. A download that is known only to callers of
/// ``ModelManager/download(_:patterns:progress:)`` goes on as long as one of them waits: a caller whose own task is
/// cancelled leaves at once, and with the last one the work ends. ``cancel()`` ends it for everybody.
///
/// Ended in any way but by completing, it keeps what came: the next download goes on from there.
public final class DownloadTask: Sendable {
    /// The model as it was first asked for.
    public let identifier: ModelIdentifier
    /// The commit that is fetched.
    public let commit: Commit

    /// What tells one download of a manager from another.
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
        /// What the commit was asked for by: a branch, a tag; nil for the commit itself.
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
        /// It is known what there is to do, and there is something.
        var isBegun = false
        /// Whether anything of it comes over the network.
        var needsNetwork = false
        var isPaused = false
        var isVerifying = false
        /// Over, or about to be: nobody can join any more.
        var isClosed = false
        var outcome: DownloadState?
        var rate = RateEstimator()
        /// Whether it goes on though nobody waits.
        var isKept = false
        var waiters = 1
        /// The names that it was asked for by, and those of them that are still to be noted in `refs/`.
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
    /// - Parameter onEnd: called when nobody can join any more, before anybody hears of the end.
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

    // MARK: How it stands

    /// Where it stands now.
    public var state: DownloadState { record.withLock { $0.state } }

    /// How far it is; nil before the first bytes are counted.
    public var progress: DownloadProgress? { progresses.newest }

    /// How far it is, at most ten times a second, the newest first; ends with the task. Each use is a subscription of its
    /// own: one that is read slowly misses what was in between and never the last, and leaving the loop ends that
    /// subscription alone.
    public var updates: AsyncStream<DownloadProgress> { progresses.stream() }

    /// Where it stands, from now to its end, which is always told. Subscribed to like ``updates``.
    public var states: AsyncStream<DownloadState> { conditions.stream() }

    /// Waits for the end and gives the snapshot folder. Cancelling the waiting task ends the waiting, not the download.
    ///
    /// - Throws: `CancellationError` where the download or the waiting was cancelled; the download's ``AIError``.
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

    /// Ends all requests and keeps what they brought; returns when none is on its way any more. The task keeps its locks,
    /// and whoever waits goes on waiting, until ``resume()`` or ``cancel()``. Before it is known what there is to fetch,
    /// that is still found out. Nothing where the task is over.
    public func pause() async {
        await withCheckedContinuation { continuation in control.pause { continuation.resume() } }
        // Somebody may have resumed it meanwhile.
        change { $0.isPaused = control.settings.isPaused }
    }

    /// Goes on after ``pause()``. Nothing where the task is not paused.
    public func resume() {
        control.resume()
        change { $0.isPaused = control.settings.isPaused }
    }

    /// Ends the download for everybody who waits for it; what came is kept. Returns at once: ``state`` is
    /// ``DownloadState/cancelled`` when the last request and lock are gone, or ``DownloadState/completed(_:)`` where only
    /// the last proof was left to do.
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

    /// Bytes a second over all connections, at least 1; nil for as fast as it goes. May be set at any time.
    public var bytesPerSecond: Int64? {
        get { control.settings.bytesPerSecond }
        set { control.change { $0.bytesPerSecond = newValue.map { max(1, $0) } } }
    }

    /// Changes the record, and tells where that changes the state. Under the lock, so that states are told in order.
    private func change(_ body: (inout Record) -> Void) {
        record.withLock { record in
            let before = record.state
            body(&record)
            let after = record.state
            if after != before { conditions.send(after) }
        }
    }

    // MARK: Who wants it

    /// How many wait for it whose interest keeps it going.
    var waiters: Int { record.withLock { $0.waiters } }

    /// Counts one more who waits.
    ///
    /// - Parameter ref: the name that they asked for.
    /// - Returns: false where it is too late.
    func join(_ ref: String?) -> Bool {
        record.withLock { record in
            guard !record.isClosed else { return false }
            record.waiters += 1
            if let ref, record.names.insert(ref).inserted { record.refs.append(ref) }
            return true
        }
    }

    /// Waits as one of those who are counted; ``value()`` is for those who are not.
    ///
    /// - Parameter progress: hears how far it is, and nothing after this has returned.
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

    /// Counts one less who waits; the last one ends a download that nobody keeps, and waits until it has ended, so that what
    /// came is safe and the locks are free.
    func leave() async {
        let isAbandoned = record.withLock { record in
            record.waiters -= 1
            return record.waiters == 0 && !record.isKept && record.outcome == nil
        }
        guard isAbandoned else { return }
        cancel()
        await settle()
    }

    /// From now on it goes on though nobody waits. Takes the place of one who waits.
    func keep() {
        record.withLock { record in
            record.isKept = true
            record.waiters -= 1
        }
    }

    /// Whether it was asked for by this revision; nil means by any.
    func isNamed(_ revision: String?) -> Bool {
        guard let revision, revision != commit.hash else { return true }
        return record.withLock { $0.names.contains(revision) }
    }

    /// Waits until it is known what there is to do, and until it is done where that is nothing.
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
            // Whoever came meanwhile by another name of the commit finds it by that name too.
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
        let (plan, needsWork) = try await Offload.run { [key, puller, options] in
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
