import HubCore

extension PullSession {
    /// The limits of a pull.
    package struct Limits: Sendable {
        /// Default number of connections for ranges of large files.
        var connections = 8
        /// Default total number of connections: small files are bound by latency. Each has a lock, a partial and a
        /// connection open, and the process has other files open too.
        var connectionsForSmall = max(8, min(32, (Machine.openFileLimit - 40) / 4))
        /// Maximum failures of a file without a byte in between.
        package var failures = 6
        /// Seconds, doubled with each failure, before a retry.
        var backoff = 0.25
        /// Seconds that a server may ask to wait.
        package var longestWait = HubClient.longestWait
        /// Maximum complete fetches of a file with a wrong digest.
        package var mismatches = 3
        /// Maximum received bytes not yet on stable storage, over all files and sessions: the loss on a kill.
        package var unflushedBytes: Int64 = 16 << 20
        /// Unflushed bytes of one file at which a flush begins.
        var flushBytes: Int64 = 4 << 20
        /// Minimum bytes at the front for a step of the digest.
        var hashStep: Int64 = 2 << 20
        /// Bytes per request: for a file just begun, maximum, and minimum.
        var firstRange: Int64 = 4 << 20
        var range: Int64 = 16 << 20
        var smallestRange: Int64 = 2 << 20
        /// Target seconds per range.
        var rangeSeconds = 4.0
        /// A file of at most this many bytes counts as small.
        var smallFile: Int64 = 4 << 20
        /// Silence, while others receive bytes, after which a range is requested on another connection: as a fraction
        /// of the request timeout.
        var stallShare = 0.4
        /// The remaining time of a range above which an idle connection takes part of it, likewise.
        var splitShare = 0.1
        /// Minimum bytes for a separate request.
        var smallestSplit: Int64 = 256 << 10

        package init() {}
    }
}
