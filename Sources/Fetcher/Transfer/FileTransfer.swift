import Dispatch
import HubCore

/// One blob on its way into the cache. All of this is touched on the engine's thread alone; what blocks (digests,
/// flushing, locks) runs on the two queues, touches nothing here but ``disk``, and comes back to that thread.
final class FileTransfer: @unchecked Sendable {
    enum Phase {
        /// Not begun; begun, and waiting for its lock or to be opened; fetching; whole; done.
        case queued, waiting, fetching, finishing, ended
    }

    /// One request for a range of the file.
    final class Part {
        let range: Range<Int64>
        /// Position of the next byte.
        var next: Int64
        var transfer: HTTPTransfer?
        var redirects = 0
        /// Which of the Hub's answers about the place of the content this goes by.
        var answer = 0
        /// Whether this request asks the Hub where the content lies.
        var isResolving = false
        var isPaused = false
        let startedAt = Clock.seconds

        init(_ range: Range<Int64>) {
            self.range = range
            next = range.lowerBound
        }
    }

    /// The file; one of them where several paths share the content.
    let file: RepositoryFile
    /// All paths of the repository that have this content.
    let paths: [String]
    let folder: RepositoryFolder
    var phase = Phase.queued
    /// Another process holds the lock.
    var isLockedOut = false

    /// Written to the partial.
    var received = IntervalSet()
    var parts: [Part] = []
    /// Where the content lies, once the Hub has said so.
    var location: String?
    /// How often the Hub has said so.
    var answers = 0
    /// Whether the Hub itself serves the content, so that nobody need ask where it is.
    var isServedDirectly = false
    /// The server ignores ranges: one request from the beginning.
    var isSingleStream = false

    /// Failures since a new byte last came. Requests that were under way together and fail together are one.
    var failures = 0
    /// Failures since a byte last came to a request that was made after one: how long to wait with the next.
    var setbacks = 0
    /// The clock's seconds of the last failure.
    var failedAt = -Double.infinity
    /// How often the whole was there and its digest was wrong.
    var mismatches = 0
    /// The clock's seconds before which nothing is asked again.
    var notBefore = 0.0
    var receivedBytes: Int64 = 0

    /// Digest work.
    var hashed: Int64 = 0
    var isHashing = false
    /// Flushing work.
    var isFlushing = false
    var unflushed: Int64 = 0

    let disk: PartialFile
    let ioQueue = DispatchQueue(label: "hub.flush")
    let hashQueue = DispatchQueue(label: "hub.digest")

    init(_ file: RepositoryFile, paths: [String], folder: RepositoryFolder) {
        self.file = file
        self.paths = paths
        self.folder = folder
        disk = PartialFile(file, folder: folder)
    }

    var isWholeHere: Bool { received.front == file.size }

    /// The next range to ask for: the first gap that nobody is fetching, no longer than `length`.
    func nextRange(length: Int64) -> Range<Int64>? {
        if isSingleStream { return parts.isEmpty && !isWholeHere ? 0..<file.size : nil }
        var taken = received
        for part in parts { taken.insert(part.next..<max(part.next, part.range.upperBound)) }
        guard let gap = taken.firstGap(below: file.size) else { return nil }
        return gap.lowerBound..<gap.lowerBound + min(length, gap.upperBound - gap.lowerBound)
    }

    /// Ends all requests; nothing of them is heard any more.
    func cancelParts(_ engine: HTTPEngine) {
        for part in parts { if let transfer = part.transfer { engine.cancel(transfer) } }
        parts = []
    }
}
