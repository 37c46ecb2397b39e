import Fetcher
import HubCore
import InferenceKit
import ModelFormats

/// One download that the page has started.
final class PageDownload: Sendable {
    /// What was asked for, as `hub pull` takes it.
    struct Order: Sendable, Hashable {
        var model: String
        var format: WeightChoice.Format?
        var quantization: String?
    }

    enum Phase: String, Sendable { case planning, downloading, waiting, paused, verifying, done, failed, cancelled }

    fileprivate struct FileState {
        var path: String
        var size: Int64
        var received: Int64
        var status: String
    }

    fileprivate struct State {
        var phase = Phase.planning
        var files: [FileState] = []
        var places: [ExactText: Int] = [:]
        var progress: PullProgress?
        var rate = RateEstimator()
        /// What people should know while it runs: a retry, another process.
        var note: String?
        var error: AIError?
        var endedAt: Double?
        /// Whether one can chat with the model, once it is here.
        var chats = false
        var work: Task<Void, Never>?
    }

    let id = FileSystem.randomHex(4)
    let order: Order
    /// The page of the model.
    private let page: String
    /// Where one chats with it, should it write text; nil where nobody answers.
    private let chat: String?
    private let control = PullControl()
    private let startedAt = Timestamp.now
    private let state = Lock(State())

    init(_ order: Order, page: String, chat: String?) {
        (self.order, self.page, self.chat) = (order, page, chat)
    }

    var phase: Phase { state.withLock { $0.phase } }
    var isOver: Bool { [.done, .failed, .cancelled].contains(phase) }

    // MARK: Steering

    func start(_ context: Context, _ workspace: Workspace, onEnd: @escaping @Sendable () -> Void) {
        let work = Task(executorPreference: TaskThreads.shared) {
            do { try await self.run(context, workspace) } catch { self.end(AIError.wrapping(error)) }
            onEnd()
        }
        state.withLock { $0.work = work }
    }

    func pause() {
        control.pause()
        state.withLock { if !$0.phase.isEnd { $0.phase = .paused } }
    }

    func resume() {
        control.resume()
        state.withLock { if $0.phase == .paused { $0.phase = $0.progress == nil ? .planning : .downloading } }
    }

    /// Ends it; what was received is kept.
    func cancel() { state.withLock { $0.work }?.cancel() }

    /// Returns when it is over.
    func settle() async { await state.withLock { $0.work }?.value }

    private func run(_ context: Context, _ workspace: Workspace) async throws {
        let reference = try context.reference(order.model)
        var options = Puller.Options()
        options.control = control
        options.symlinks = !context.environment.isTrue("HF_HUB_DISABLE_SYMLINKS")
        let isChosen = order.format != nil || order.quantization != nil
        if reference.files == nil, !isChosen { options.earlierChoice = .isFollowed }
        if order.format == .all { options.earlierChoice = .ends }
        options.choosesWeights = isChosen
        options.select = try PullCommand.selection(
            format: order.format, quantization: order.quantization, workspace, context)
        let puller = try await workspace.puller()
        let plan = try await puller.plan(reference, options)
        try await Blocking.run { try puller.checkSpace([plan]) }
        state.withLock { state in
            state.files = plan.files.map { file, known in
                FileState(
                    path: file.path, size: file.size, received: known.isCached ? file.size : 0,
                    status: known.isCached ? "done" : "waiting")
            }
            for (index, file) in state.files.enumerated() { state.places[ExactText(file.path)] = index }
            if state.phase == .planning { state.phase = .downloading }
        }
        let result = try await puller.pull(plan, options) { self.hear($0) }
        if let error = result.error { throw error }
        let isModel = reference.repository.kind == .model
        let chats = await Blocking.run { isModel && ModelUse(in: result.path)?.chats == true }
        state.withLock { state in
            (state.phase, state.endedAt, state.chats, state.note) = (.done, Timestamp.now, chats, nil)
        }
    }

    private func end(_ error: AIError) {
        state.withLock { state in
            state.endedAt = Timestamp.now
            state.phase = error.code == .cancelled ? .cancelled : .failed
            state.error = error.code == .cancelled ? nil : error
        }
    }

    // MARK: Events

    private func hear(_ event: PullEvent) {
        state.withLock { state in
            switch event {
            case .planned, .verified: break
            case .waiting(let path, _): state.note = "another program is fetching \(path)"
            case .retrying(_, let reason, _): state.note = reason
            case .progress(let progress): state.take(progress)
            case .finished(let file):
                guard let at = state.places[ExactText(file.path)] else { return }
                state.files[at].status = file.status == .failed ? "failed" : "done"
                if file.status != .failed { state.files[at].received = file.size }
            }
        }
    }

    // MARK: JSON

    /// Files that are shown of a download at most; those under way come first.
    private static let mostFiles = 60

    var json: JSON {
        let state = state.withLock { $0 }
        let total = state.progress?.totalBytes ?? state.files.reduce(0) { $0 + $1.size }
        let done = state.progress?.completedBytes ?? state.files.reduce(0) { $0 + $1.received }
        let isMoving = state.phase == .downloading
        let order = ["active", "failed", "waiting", "done"]
        let files = order.flatMap { status in state.files.filter { $0.status == status } }.prefix(Self.mostFiles)
        return .object([
            "id": .string(id), "model": .string(self.order.model), "choice": choice.map { .string($0) },
            "page": .string(page), "chat": state.chats ? chat.map { .string($0) } : nil,
            "order": .object([
                "model": .string(self.order.model), "format": self.order.format.map { .string($0.rawValue) },
                "quant": self.order.quantization.map { .string($0) },
            ]),
            "state": .string(state.phase.rawValue), "total_bytes": .int(total), "done_bytes": .int(done),
            "files_total": .int(Int64(state.files.count)),
            "files_done": .int(Int64(state.files.count { $0.status == "done" })),
            "bytes_per_second": isMoving ? state.rate.bytesPerSecond.map { .double($0) } : nil,
            "seconds_left": isMoving ? state.rate.secondsLeft(to: total).map { .double($0) } : nil,
            "note": state.note.map { .string(Secrets.masked(in: $0)) },
            "error": state.error.map { .object($0.json) },
            "started_at": .string(Timestamp.iso8601(startedAt)),
            "ended_at": state.endedAt.map { .string(Timestamp.iso8601($0)) },
            "files": .array(
                files.map { file in
                    .object([
                        "path": .string(file.path), "size_bytes": .int(file.size),
                        "received_bytes": .int(file.received), "state": .string(file.status),
                    ])
                }),
        ])
    }

    /// `Q4_K_M`, `gguf`: what of the model was asked for.
    private var choice: String? { order.quantization ?? order.format?.rawValue }
}

extension PageDownload.Phase {
    fileprivate var isEnd: Bool { self == .done || self == .failed || self == .cancelled }
}

extension PageDownload.State {
    /// Takes over what the transfer says.
    fileprivate mutating func take(_ progress: PullProgress) {
        self.progress = progress
        rate.record(progress.completedBytes)
        for index in files.indices where files[index].status == "active" { files[index].status = "waiting" }
        for active in progress.active {
            guard let at = places[ExactText(active.path)] else { continue }
            files[at].received = active.received
            files[at].status = "active"
        }
        let isWhole = progress.completedBytes == progress.totalBytes && !progress.active.isEmpty
        if progress.silence < 3, progress.waiting == nil, !isWhole { note = nil }
        phase =
            progress.isPaused ? .paused : progress.waiting != nil ? .waiting : isWhole ? .verifying : .downloading
    }
}
