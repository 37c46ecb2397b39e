import HubCore

extension PullSession {
    /// What a pull may use.
    struct Limits: Sendable {
        /// Connections for ranges of large files where nobody has said how many.
        var connections = 8
        /// Connections in all where nobody has said how many: a small file is a matter of waiting, not of the line.
        /// Each holds a lock, a partial and a connection, and the process has other files open too.
        var connectionsForSmall = max(8, min(32, (Machine.openFileLimit - 40) / 4))
        /// Failures of one file without a byte in between.
        var failures = 6
        /// Seconds, doubled with each failure, before a file is asked for again.
        var backoff = 0.25
        /// Whole fetches of one file whose digest is wrong.
        var mismatches = 3
        /// Received and not yet on stable storage, over all files: what a kill may cost.
        var unflushedBytes: Int64 = 16 << 20
        /// Unflushed bytes of one file at which a flush begins.
        var flushBytes: Int64 = 4 << 20
        /// Bytes at the front that are worth a step of the digest.
        var hashStep: Int64 = 2 << 20
        /// Bytes asked for at once: of a file that has only begun, at the most, and at the least.
        var firstRange: Int64 = 4 << 20
        var range: Int64 = 16 << 20
        var smallestRange: Int64 = 2 << 20
        /// Seconds that a range should take.
        var rangeSeconds = 4.0
        /// A file of at most so many bytes counts as small.
        var smallFile: Int64 = 4 << 20
        /// Silence, while others hear something, after which a range is asked for on another connection: as a part of
        /// the seconds after which a request times out.
        var stallShare = 0.4
        /// The time that a range may still take before an idle connection is given a part of it, likewise.
        var splitShare = 0.1
        /// Bytes that are not worth a request of their own.
        var smallestSplit: Int64 = 256 << 10
    }
}
