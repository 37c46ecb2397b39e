import Fetcher
import HubCore

/// The progress of export and import, and the document that both print.
enum TravelProgress {
    /// Runs blocking work with its progress on stderr; ^C ends it.
    ///
    /// - Parameters:
    ///   - phase: what is done, for the bar.
    ///   - total: the number of models.
    ///   - kept: what an interrupted run keeps.
    static func run<Value: Sendable>(
        _ phase: String, total: Int, _ kept: String, _ context: Context,
        _ work: @escaping @Sendable (ArchiveExport.Watcher) throws -> Value
    ) async throws -> Value {
        let renderer = context.progress()
        defer { renderer.finish() }
        context.interruption.kept = kept
        let title = Humanize.plural(total, "model")
        let interruption = context.interruption
        let state = Lock((rate: RateEstimator(), shown: 0.0))
        let watcher = ArchiveExport.Watcher {
            interruption.isRequested
        } report: { progress in
            let snapshot = state.withLock { state -> ProgressSnapshot? in
                state.rate.record(progress.doneBytes)
                let now = Clock.seconds
                guard now - state.shown > 0.1 || progress.doneBytes == progress.totalBytes else { return nil }
                state.shown = now
                var snapshot = ProgressSnapshot(title: title, phase: phase)
                (snapshot.doneBytes, snapshot.totalBytes) = (progress.doneBytes, progress.totalBytes)
                snapshot.bytesPerSecond = state.rate.bytesPerSecond
                snapshot.secondsLeft = state.rate.secondsLeft(to: progress.totalBytes)
                return snapshot
            }
            if let snapshot { renderer.update(snapshot) }
        }
        let value = try await Blocking.run { try work(watcher) }
        context.interruption.kept = nil
        return value
    }

    /// `{"models":[{"id","commit","files","bytes"}],"bytes"}`
    static func json(_ manifest: ArchiveManifest, bytes: Int64) -> JSONObject {
        [
            "models": .array(
                manifest.models.map { model in
                    .object([
                        "id": .string(model.repository.description), "commit": .string(model.commit.hash),
                        "files": .int(Int64(model.paths.count)), "bytes": .int(model.totalBytes),
                    ])
                }), "bytes": .int(bytes),
        ]
    }
}
