import HubCore
import Synchronization

/// One blob on its way into the cache. All of this is touched on the engine's thread alone; what blocks (digests,
/// flushing, locks) runs on the two queues, touches nothing here but ``disk`` and the atomics, and comes back to that
/// thread.
final class FileTransfer: @unchecked Sendable {
    enum Phase {
        /// Not begun; begun, and waiting for its lock or to be opened; proving content that the cache has under another
        /// name; fetching; whole; done.
        case queued, waiting, adopting, fetching, finishing, ended
    }

    /// One request for a range of the file.
    final class Part {
        /// What was asked for.
        let asked: Range<Int64>
        /// Where the part ends: before the end of what was asked where the rest was given to another connection.
        var end: Int64
        /// Position of the next byte.
        var next: Int64
        var transfer: HTTPTransfer?
        var redirects = 0
        /// Which of the Hub's answers about the place of the content this goes by.
        var answer = 0
        /// Whether this request asks the Hub where the content lies.
        var isResolving = false
        /// Whether received bytes are held back.
        var isPaused = false
        /// Whether it was let go on, and is the next to use the rate.
        var isNext = false
        let startedAt = Clock.seconds
        /// When a byte last came, or could last have come.
        var heardAt = Clock.seconds

        init(_ range: Range<Int64>) {
            asked = range
            end = range.upperBound
            next = range.lowerBound
        }

        var left: Int64 { max(0, end - next) }
        /// Bytes a second since it was asked for.
        func rate(at now: Double) -> Double { Double(next - asked.lowerBound) / max(0.001, now - startedAt) }
    }

    /// The file; one of them where several paths share the content.
    let file: RepositoryFile
    /// All paths of the repository that have this content.
    let paths: [String]
    let job: PullJob
    let places: TransferPlaces
    var phase = Phase.queued
    /// Ended, and its lock given back.
    var isClosed = false
    /// Another process holds the lock.
    var isLockedOut = false
    /// That process, where the system says which, and the bytes that it has.
    var holder: Int32?
    var bytesElsewhere: Int64 = 0
    /// Where the cache holds the content under another name; nil once it has been tried.
    var source: String?
    /// The transfer of the same content in another repository or revision, which goes first.
    var twin: FileTransfer?
    /// Bytes of ``source`` that have been proven.
    let adopted = Atomic<Int64>(0)
    /// Tells the queues that the work is over.
    let isCancelled = Atomic(false)

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
    /// Ranges that fell silent and were asked for again.
    var stalls = 0
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
    let ioQueue = SerialQueue(.blocking)
    let hashQueue: SerialQueue

    init(_ file: RepositoryFile, paths: [String], of job: PullJob, source: String? = nil) {
        self.file = file
        self.paths = paths
        self.job = job
        self.source = source
        places = job.places(file)
        disk = PartialFile(file, at: places)
        // What waits for the disk must not keep the digests waiting. What is digested in a moment needs no second queue.
        hashQueue = file.size > 1 << 20 ? SerialQueue(.computing) : ioQueue
    }

    var isWholeHere: Bool { received.front == file.size }

    /// Bytes that are here, for the progress.
    var progress: Int64 {
        if phase == .adopting { return min(file.size, adopted.load(ordering: .relaxed)) }
        return isLockedOut ? bytesElsewhere : received.count
    }

    /// The next range to ask for: the first gap that nobody is fetching, no longer than `length`.
    func nextRange(length: Int64) -> Range<Int64>? {
        if isSingleStream { return parts.isEmpty && !isWholeHere ? 0..<file.size : nil }
        var taken = received
        for part in parts where part.left > 0 { taken.insert(part.next..<part.end) }
        guard let gap = taken.firstGap(below: file.size) else { return nil }
        return gap.lowerBound..<gap.lowerBound + min(length, gap.upperBound - gap.lowerBound)
    }

    /// Ends all requests; nothing of them is heard any more.
    func cancelParts(_ engine: HTTPEngine) {
        for part in parts { if let transfer = part.transfer { engine.cancel(transfer) } }
        parts = []
    }
}
