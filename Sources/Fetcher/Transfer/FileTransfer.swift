import Dispatch
import HubCore

/// One blob on its way into the cache. All of this is touched on the engine's thread alone; what blocks (digests,
/// flushing, locks) runs on the two queues, touches nothing here but ``disk``, and comes back to that thread.
final class FileTransfer: @unchecked Sendable {
    enum Phase {
        case waiting, fetching, finishing, ended
    }

    /// One request for a range of the file.
    final class Part {
        let range: Range<Int64>
        /// Position of the next byte.
        var next: Int64
        var transfer: HTTPTransfer?
        var redirects = 0
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
    var phase = Phase.waiting

    /// Written to the partial.
    var received = IntervalSet()
    /// On stable storage and in the map.
    var safe = IntervalSet()
    var parts: [Part] = []
    /// Where the content lies, once the Hub has said so.
    var location: String?
    /// Whether the Hub itself serves the content, so that nobody need ask where it is.
    var isServedDirectly = false
    /// The server ignores ranges: one request from the beginning.
    var isSingleStream = false

    /// Failures since bytes last came.
    var failures = 0
    /// How often the whole was there and its digest was wrong.
    var mismatches = 0
    /// The clock's seconds before which nothing is asked again.
    var notBefore = 0.0
    var receivedBytes: Int64 = 0
    var lastError: AIError?

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

    var isSmall: Bool { file.size <= 4 << 20 }
    var isWholeHere: Bool { received.front == file.size }

    /// The next range to ask for: the first gap that nobody is fetching, no longer than `length`.
    func nextRange(length: Int64) -> Range<Int64>? {
        if isSingleStream { return parts.isEmpty ? 0..<file.size : nil }
        var taken = received
        for part in parts { taken.insert(part.next..<max(part.next, part.range.upperBound)) }
        guard let gap = taken.firstGap(below: file.size) else { return nil }
        return gap.lowerBound..<min(gap.upperBound, gap.lowerBound + length)
    }
}
