package import Catalog
package import HubCore

/// Updates the catalog's mirror of the Hub's models; see docs/design/mirror.md, "The mirror".
package struct MirrorSync: Sendable {
    let catalog: Catalog
    let client: HubClient
    let pause: @Sendable (Double) async throws -> Void
    /// Time to gather pages for one transaction; nil for the duration of the last one.
    var gathering: Duration?

    /// - Parameter pause: waits this many seconds for the Hub's rate limit, or throws if the task is cancelled.
    package init(
        catalog: Catalog, client: HubClient,
        pause: (@Sendable (Double) async throws -> Void)? = nil
    ) {
        self.catalog = catalog
        self.client = client
        self.pause = pause ?? { try await client.http.engine.sleep($0) }
    }

    /// The options of a run.
    package struct Options: Sendable {
        /// Only the models of this user or organisation.
        package var author: String?
        /// Whether every model is listed, not only changes.
        package var isWhole = false
        /// Maximum number of models in this run.
        package var limit: Int?

        package init() {}
    }

    /// The result of a run.
    package struct Report: Sendable, Hashable {
        /// The models that this run listed, each once.
        package var models = 0
        package var added = 0
        package var changed = 0
        package var unchanged = 0
        package var vanished = 0
        /// Models that the Hub does not list and that may belong to another Hub.
        package var elsewhere = 0
        package var pages = 0
        package var requests = 0
        /// Whether the walk reached the end.
        package var isComplete = false
    }

    package enum Event: Sendable {
        /// Another process is syncing; this one waits.
        case queued
        /// Resumes an interrupted run.
        case resumed(models: Int, beganAt: Double)
        /// The Hub no longer knows the interrupted run's cursor: the walk restarts.
        case restarted
        /// The catalog was rebuilt, or another process walks too: this run continues from the catalog's progress.
        case overtaken
        /// A page is in the catalog.
        case page(Report)
        /// The Hub allows few more requests for now.
        case waiting(seconds: Double)
    }

    /// The report, and the error that ended the run early.
    package struct Result: Sendable {
        package var report: Report
        package var error: AIError?
    }

    /// Walks to the end or the limit. Received pages are always kept; the next run continues there.
    package func run(_ options: Options = Options(), hear: @escaping @Sendable (Event) -> Void = { _ in }) async
        -> Result
    {
        var run = MirrorRun(self, options, hear)
        var error: AIError?
        do { try await run.go() } catch let thrown { error = AIError.wrapping(thrown) }
        run.report.requests = run.requests.count
        return Result(report: run.report, error: error)
    }
}

/// Counts from any thread.
final class RequestCounter: Sendable {
    private let number = Lock(0)
    var count: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
}

/// The lock of the process that updates a catalog's mirror: flock on a file beside it, never deleted. It only saves
/// requests; correctness relies on each page's transaction, which checks the catalog's progress.
final class MirrorLock: Sendable {
    private let file: FileDescriptor

    /// nil if another process holds it. Without flock support every process gets it.
    init?(_ catalog: Catalog) throws(AIError) {
        let path = Path.join(Path.parent(catalog.path), "sync.lock")
        file = try FileDescriptor(path, [.write, .create, .noFollow, .nonBlocking], mode: 0o600)
        if try file.tryLock() == false { return nil }
    }
}
