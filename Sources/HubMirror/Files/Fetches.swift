import Fetcher
import HubCore
import HubServer
import Synchronization

/// The fetches under way: one for each content of a repository, however many clients wait for it.
final class Fetches: Sendable {
    private struct Key: Hashable {
        var repository: Repository
        var digest: ContentDigest

        init(_ wanted: WantedFile) { (repository, digest) = (wanted.repository, wanted.file.digest) }
    }

    private struct Fetch {
        var watch: TransferWatch
        var task: Task<Void, Never>
    }

    private struct State {
        var running: [Key: Fetch] = [:]
        /// When content was last seen to be wrong; clients may still have bytes of it.
        var wrong: [Key: Double] = [:]
        /// Content whose last fetch ended because it was wrong.
        var refused: Set<Key> = []
        var isStopping = false
    }

    /// What the bytes are worth that a client has from before.
    enum EarlierBytes { case good, maybeWrong, wrong }

    /// Seconds that wrong content is remembered.
    private static let wrongSeconds = 86_400.0

    /// One client of a fetch.
    final class Reader: Sendable {
        let watch: TransferWatch
        private let number: Int
        private let hasLeft = Atomic(false)
        private let onIdle: @Sendable () -> Void

        init(_ watch: TransferWatch, urgent: Range<Int64>?, wantsAll: Bool, onIdle: @escaping @Sendable () -> Void)
        {
            self.watch = watch
            self.onIdle = onIdle
            number = watch.join(urgent: urgent, wantsAll: wantsAll)
        }

        /// The client needs no further byte.
        func leave() {
            guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
            if watch.leave(number) { onIdle() }
        }
    }

    private let upstream: Upstream
    private let metrics: ServerMetrics
    private let access: AccessChecks
    private let eviction: Eviction
    private let state = Lock(State())

    /// Seconds that a fetch of glances waits for the next one.
    private static let idleSeconds = 2.0

    init(_ upstream: Upstream, metrics: ServerMetrics, access: AccessChecks, eviction: Eviction) {
        (self.upstream, self.metrics, self.access, self.eviction) = (upstream, metrics, access, eviction)
        metrics.declare("hub_fetches_in_flight", type: "gauge", "Files being fetched from upstream.")
    }

    func isRunning(_ wanted: WantedFile) -> Bool {
        state.withLock { $0.running[Key(wanted)].map { !$0.watch.hasEnded } ?? false }
    }

    /// Whether a client may go on after the bytes that it has.
    func earlierBytes(of wanted: WantedFile) -> EarlierBytes {
        let key = Key(wanted)
        return state.withLock { state in
            // Also while it has ended and that is not noted yet: clients whose answers ended short come back soon.
            if let watch = state.running[key]?.watch, watch.wasWrong {
                return watch.hasFailed ? .wrong : .maybeWrong
            }
            if state.refused.contains(key), state.running[key]?.watch.hasEnded ?? true { return .wrong }
            return state.wrong[key] == nil ? .good : .maybeWrong
        }
    }

    /// Joins the fetch of a file, or begins it.
    ///
    /// - Parameters:
    ///   - range: what is needed first.
    ///   - wantsAll: whether the whole file is to be fetched.
    func join(_ wanted: WantedFile, urgent range: Range<Int64>?, wantsAll: Bool) -> Reader {
        let key = Key(wanted)
        return state.withLock { state in
            let watch: TransferWatch
            if let known = state.running[key], !known.watch.hasEnded, !known.task.isCancelled {
                watch = known.watch
            } else {
                if state.running[key]?.watch.wasWrong == true { state.wrong[key] = Clock.seconds }
                let new = TransferWatch(wantsAll: wantsAll)
                if state.isStopping { new.ended(AIError(.cancelled, "the mirror is stopping")) }
                state.refused.remove(key)
                state.running[key] = Fetch(watch: new, task: Task { [self] in await fetch(wanted, key, new) })
                metrics.set("hub_fetches_in_flight", Double(state.running.count))
                watch = new
            }
            return Reader(watch, urgent: range, wantsAll: wantsAll) { [self] in endIfIdle(key, watch) }
        }
    }

    /// Ends every fetch and waits for them. Blocks.
    func stop() {
        let tasks = state.withLock { state in
            state.isStopping = true
            return state.running.values.map(\.task)
        }
        for task in tasks { task.cancel() }
        try? Blocking.wait { for task in tasks { await task.value } }
    }

    private func endIfIdle(_ key: Key, _ watch: TransferWatch) {
        Task { [self] in
            try? await Task.sleep(for: .seconds(Self.idleSeconds))
            state.withLock { state in
                // Under the lock, so that nobody joins in between.
                guard let fetch = state.running[key], fetch.watch === watch, watch.isIdle else { return }
                fetch.task.cancel()
            }
        }
    }

    private func fetch(_ wanted: WantedFile, _ key: Key, _ watch: TransferWatch) async {
        do {
            let result = try await pull(wanted, watch)
            upstream.received(result.downloadedBytes)
            if let error = result.error {
                upstream.note(error)
                watch.ended(error)
            }
            watch.ended(nil)
        } catch {
            let error = AIError.wrapping(error)
            upstream.note(error)
            watch.ended(error)
        }
        state.withLock { state in
            if watch.wasWrong {
                let now = Clock.seconds
                state.wrong = state.wrong.filter { now - $0.value < Self.wrongSeconds }
                state.wrong[key] = now
                state.refused.formIntersection(state.wrong.keys)
                if watch.hasFailed { state.refused.insert(key) }
            }
            if state.running[key]?.watch === watch { state.running[key] = nil }
            metrics.set("hub_fetches_in_flight", Double(state.running.count))
        }
        await eviction.run()
    }

    private func pull(_ wanted: WantedFile, _ watch: TransferWatch) async throws -> Puller.Result {
        let puller = try await upstream.puller(wanted.credential)
        var options = Puller.Options()
        options.select = { _, _, _ in FileSelection(name: "", format: "", paths: [wanted.file.path]) }
        // What clients take of a revision is no choice that a later pull should follow.
        options.earlierChoice = .stays
        options.watch = watch
        options.reuse = try await access.reuse(wanted.file, for: wanted.repository, wanted.credential)
        let reference = ModelReference(wanted.repository, revision: wanted.ref ?? wanted.commit.hash)
        let plan = try await puller.plan(Puller.Resolved(reference: reference, tree: wanted.known.tree), options)
        try await Blocking.run { try puller.checkSpace([plan]) }
        return try await puller.pull(plan, options)
    }
}
