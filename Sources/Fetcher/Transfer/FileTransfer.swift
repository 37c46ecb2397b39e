import HubCore
import Synchronization

/// The transfer of one blob into the cache. Used only on the engine's thread; blocking work (digests, flushing, locks)
/// runs on the two queues, uses only ``disk`` and the atomics, and reports back to that thread.
final class FileTransfer: @unchecked Sendable {
    enum Phase {
        /// Not begun; waiting for its lock or to be opened; verifying content that the cache has under another name;
        /// fetching; complete; done.
        case queued, waiting, adopting, fetching, finishing, ended
    }

    /// One request for a range of the file.
    final class Part {
        /// The requested range.
        let asked: Range<Int64>
        /// The range that the response brings: as a rule the requested one.
        private(set) var brought: Range<Int64>
        /// The end of the part: earlier than requested if the rest was given to another connection.
        var end: Int64
        /// Position of the next byte.
        var next: Int64
        var transfer: HTTPTransfer?
        var redirects = 0
        /// The number of the Hub's answer for the location used.
        var answer = 0
        /// Whether this request asks the Hub for the location.
        var isResolving = false
        /// Whether received bytes are held back.
        var isPaused = false
        /// Whether it was resumed and is the next to use the rate.
        var isNext = false
        let startedAt = Clock.seconds
        /// When a byte last arrived or could have arrived.
        var heardAt = Clock.seconds

        init(_ range: Range<Int64>) {
            (asked, brought) = (range, range)
            end = range.upperBound
            next = range.lowerBound
        }

        /// Takes another range than the requested one, before its first byte.
        func take(_ range: Range<Int64>) {
            brought = range
            next = range.lowerBound
            // The rest may have been given to another connection.
            end = max(next, end < asked.upperBound ? min(end, range.upperBound) : range.upperBound)
        }

        var left: Int64 { max(0, end - next) }
        /// Bytes a second since it was asked for.
        func rate(at now: Double) -> Double { Double(next - brought.lowerBound) / max(0.001, now - startedAt) }
    }

    /// The file, or one of several paths with this content.
    let file: RepositoryFile
    /// All paths of the repository that have this content.
    let paths: [String]
    let job: PullJob
    let places: TransferPlaces
    var phase = Phase.queued
    /// Ended, with its lock released.
    var isClosed = false
    /// Another process holds the lock.
    var isLockedOut = false
    /// That process, if known, and its bytes.
    var holder: Int32?
    /// How often in a row it had no more bytes than the time before.
    var looksWithoutProgress = 0
    /// Whether a file with readers is fetched without waiting for it.
    var goesBesideHolder: Bool { job.watch != nil && looksWithoutProgress >= 4 }
    var bytesElsewhere: Int64 = 0
    /// The path of the content under another name in the cache; nil once tried.
    var source: String?
    /// The transfer of the same content in another repository or revision, which runs first.
    var twin: FileTransfer?
    /// Verified bytes of ``source``.
    let adopted = Atomic<Int64>(0)
    /// Tells the queues to stop.
    let isCancelled = Atomic(false)

    /// Written to the partial.
    var received = IntervalSet()
    /// Of these, bytes that the digest has yet to prove: copied from an older revision, or received in place of the range
    /// that was asked for.
    var copied = IntervalSet()
    var parts: [Part] = []
    /// The content's location, once known.
    var location: String?
    /// The number of locations received.
    var answers = 0
    /// Whether the Hub itself serves the content, so that no location is needed.
    var isServedDirectly = false
    /// The server, or a box on the way, ignores or spoils ranges: one request from the beginning, and the digest decides.
    var isSingleStream = false

    /// Failures since the last new byte. Concurrent requests that fail together count as one.
    var failures = 0
    /// Failures since the last byte of a later request; determines the next delay.
    var setbacks = 0
    /// The clock's seconds of the last failure.
    var failedAt = -Double.infinity
    /// Number of stalled ranges that were requested again.
    var stalls = 0
    /// Number of complete fetches with a wrong digest.
    var mismatches = 0
    /// The clock's seconds before which nothing is requested again.
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
        if let seed = job.seeds[file.digest.hex] { (copied, receivedBytes) = (seed.copied, seed.receivedBytes) }
        disk = PartialFile(file, at: places)
        // Disk waits must not delay digests. A small file needs no second queue.
        hashQueue = file.size > 1 << 20 ? SerialQueue(.computing) : ioQueue
    }

    var isWholeHere: Bool { received.front == file.size }

    /// Bytes present, for the progress.
    var progress: Int64 {
        if phase == .adopting { return min(file.size, adopted.load(ordering: .relaxed)) }
        return isLockedOut ? bytesElsewhere : received.count
    }

    /// What is here or requested.
    var taken: IntervalSet {
        var taken = received
        for part in parts where part.left > 0 { taken.insert(part.next..<part.end) }
        return taken
    }

    /// The next range to request: the first gap not being fetched, at most `length` bytes.
    func nextRange(length: Int64) -> Range<Int64>? {
        if isSingleStream { return parts.isEmpty && !isWholeHere ? 0..<file.size : nil }
        guard job.watch?.wantsAll ?? true, let gap = taken.firstGap(below: file.size) else { return nil }
        return gap.lowerBound..<gap.lowerBound + min(length, gap.upperBound - gap.lowerBound)
    }

    /// Ends all requests, without further callbacks.
    func cancelParts(_ engine: HTTPEngine) {
        for part in parts { if let transfer = part.transfer { engine.cancel(transfer) } }
        parts = []
    }
}
