import Fetcher
import HubCore

extension SyncCommand {
    /// What is mirrored.
    struct Request {
        var options = MirrorSync.Options()

        init(_ arguments: ParsedArguments) {
            options.author = arguments[author]
            options.isWhole = arguments[all]
            options.limit = arguments[limit]
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let began = Clock.seconds
        guard !context.isOffline else {
            throw AIError(.offline, "hub sync needs the network, which is switched off")
        }
        let options = request.options
        let workspace = try await context.workspace(needsCatalog: true)
        // Without a catalog there is a fault, and that was thrown.
        let sync = MirrorSync(catalog: workspace.catalog!, client: try await workspace.client())
        let watcher = SyncWatcher(options, context)
        let result = await sync.run(options) { watcher.hear($0) }
        watcher.finish()
        let report = result.report
        context.output.document(json(report, seconds: Clock.seconds - began))
        if let error = result.error { throw told(error, report, context) }
        for line in lines(report, options, seconds: Clock.seconds - began) { context.output.line(Styled(line)) }
        if report.elsewhere > 0 {
            let models = Humanize.plural(report.elsewhere, "model")
            context.output.note(
                "\(models) not listed by this Hub may be on another one and are not marked as deleted: the catalog was filled from several (see hub doctor)"
            )
        }
        if let author = options.author, report.isComplete, report.models == 0 {
            context.output.note("the Hub lists no models of \(author)")
        }
    }

    private static func json(_ report: MirrorSync.Report, seconds: Double) -> JSONObject {
        [
            "models_seen": .int(Int64(report.models)), "added": .int(Int64(report.added)),
            "changed": .int(Int64(report.changed)), "unchanged": .int(Int64(report.unchanged)),
            "vanished": .int(Int64(report.vanished)), "pages": .int(Int64(report.pages)),
            "requests": .int(Int64(report.requests)), "complete": .bool(report.isComplete),
            "elapsed_seconds": .double(seconds),
        ]
    }

    private static func lines(_ report: MirrorSync.Report, _ options: MirrorSync.Options, seconds: Double)
        -> [String]
    {
        var facts = ["\(report.added) new", "\(report.changed) changed", "\(report.unchanged) unchanged"]
        if options.isWhole { facts.append("\(report.vanished) deleted") }
        let seen = Humanize.plural(report.models, "model")
        var lines = ["\(seen) seen in \(Humanize.duration(seconds)): \(facts.joined(separator: ", "))"]
        if !report.isComplete { lines.append("stopped at --limit; run again to continue") }
        return lines
    }

    /// The error, with what is kept.
    private static func told(_ error: AIError, _ report: MirrorSync.Report, _ context: Context) -> any Error {
        guard report.models > 0 else { return error }
        let kept = "kept \(Humanize.plural(report.models, "model")) of this run; run again to continue"
        if error.code == .cancelled {
            context.interruption.kept = kept
            return CancellationError()
        }
        var told = error
        told.specificAdvice = (error.recoverySuggestion.map { $0 + "\n" } ?? "") + kept
        return told
    }
}

/// Turns the events of a sync into progress on stderr.
private final class SyncWatcher: Sendable {
    private let renderer: ProgressRenderer
    private let output: Output
    private let now: Double
    private let state: Lock<(snapshot: ProgressSnapshot, rate: RateEstimator)>

    init(_ options: MirrorSync.Options, _ context: Context) {
        renderer = context.progress()
        output = context.output
        now = context.now
        var snapshot = ProgressSnapshot(title: options.author.map { "sync of \($0)" } ?? "sync")
        snapshot.unit = .models
        snapshot.totalBytes = options.limit.map(Int64.init)
        state = Lock((snapshot, RateEstimator()))
        show { _ in }
    }

    func finish() { renderer.finish() }

    func hear(_ event: MirrorSync.Event) {
        switch event {
        case .queued:
            output.note("waiting for another hub process that is syncing this catalog")
            show { $0.phase = "waiting for another process" }
        case .resumed(let models, let beganAt):
            let age = Humanize.age(of: beganAt, now: now)
            output.note(
                "resuming after \(Humanize.grouped(models)) model\(models == 1 ? "" : "s"); the sync was started \(age)"
            )
        case .restarted:
            output.note("the Hub no longer knows where the last run stopped; starting over")
        case .overtaken:
            output.note(
                "the catalog was rebuilt meanwhile, or another hub process syncs it; continuing from its state")
        case .page(let report): show(report)
        case .waiting(let seconds):
            let reason = "few requests are left before the Hub's rate limit"
            renderer.event(.wait(reason: reason, seconds: seconds))
            output.note("\(reason); waiting \(Humanize.duration(seconds)) (Ctrl-C keeps what was received)")
            show { $0.phase = "waiting for the rate limit" }
        }
    }

    private func show(_ report: MirrorSync.Report) {
        show { snapshot in
            snapshot.phase = nil
            snapshot.doneBytes = Int64(report.models)
            snapshot.counts = [
                .init(name: "new", value: Int64(report.added)),
                .init(name: "changed", value: Int64(report.changed)),
                .init(name: "pages", value: Int64(report.pages)),
            ]
        }
    }

    private func show(_ change: (inout ProgressSnapshot) -> Void) {
        let snapshot = state.withLock { state in
            change(&state.snapshot)
            state.rate.record(state.snapshot.doneBytes)
            state.snapshot.bytesPerSecond = state.rate.bytesPerSecond
            state.snapshot.secondsLeft = state.snapshot.totalBytes.flatMap { state.rate.secondsLeft(to: $0) }
            return state.snapshot
        }
        renderer.update(snapshot)
    }
}
