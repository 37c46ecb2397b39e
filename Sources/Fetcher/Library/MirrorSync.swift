package import Catalog
package import HubCore

/// Brings what the catalog knows of the Hub's models up to date; see DESIGN.md, "The mirror".
package struct MirrorSync: Sendable {
    let catalog: Catalog
    let client: HubClient
    let pause: @Sendable (Double) async throws -> Void
    /// How long pages are gathered for one transaction; nil for as long as the last one took.
    var gathering: Duration?

    /// - Parameter pause: waits so many seconds for the Hub's limit on requests, or throws where the task is cancelled.
    package init(
        catalog: Catalog, client: HubClient,
        pause: (@Sendable (Double) async throws -> Void)? = nil
    ) {
        self.catalog = catalog
        self.client = client
        self.pause = pause ?? { try await client.http.engine.sleep($0) }
    }

    /// What is brought up to date.
    package struct Options: Sendable {
        /// Only the models of this user or organisation.
        package var author: String?
        /// Whether every model is looked at, not only what changed.
        package var isWhole = false
        /// At most so many models in this run.
        package var limit: Int?

        package init() {}
    }

    /// What a run came to.
    package struct Report: Sendable, Hashable {
        /// Models listed, each time they were.
        package var models = 0
        package var added = 0
        package var changed = 0
        package var unchanged = 0
        package var vanished = 0
        /// Models that the Hub does not list and that may be another Hub's.
        package var elsewhere = 0
        package var pages = 0
        package var requests = 0
        /// Whether all was seen that there was to see.
        package var isComplete = false
    }

    package enum Event: Sendable {
        /// Another process is at it; this one waits.
        case queued
        /// Goes on where an earlier run was cut off.
        case resumed(models: Int, beganAt: Double)
        /// The Hub does not know the place any more where an earlier run was cut off: that walk begins anew.
        case restarted
        /// The catalog was made again meanwhile, or another process walks too: this run goes on where the catalog stands.
        case overtaken
        /// A page is in the catalog.
        case page(Report)
        /// The Hub allows few more requests for now.
        case waiting(seconds: Double)
    }

    /// What was done, and what ended it early.
    package struct Result: Sendable {
        package var report: Report
        package var error: AIError?
    }

    /// Walks to the end, or as far as the limit lets. What came is kept, whatever happens; the next run goes on there.
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

/// That this process is the one that brings a catalog's mirror up to date: flock on a file beside it, never deleted. It
/// spares the Hub work only; the mirror stays right because the transaction of each page looks whether the catalog still
/// stands where the walk does.
final class MirrorLock: Sendable {
    private let file: FileDescriptor

    /// nil where another process holds it. Where the file system has no flock everyone holds it.
    init?(_ catalog: Catalog) throws(AIError) {
        let path = Path.join(Path.parent(catalog.path), "sync.lock")
        file = try FileDescriptor(path, [.write, .create, .noFollow, .nonBlocking], mode: 0o600)
        if try file.tryLock() == false { return nil }
    }
}
