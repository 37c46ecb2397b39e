package import HubCore

/// The events of a running pull, in order, from one thread. The progress is that of all models of the call.
package enum PullEvent: Sendable {
    /// The plan.
    case planned(PullPlan)
    /// Another process is fetching the same file; its pid, if known.
    case waiting(path: String, process: Int32?)
    /// Bytes on the disk changed. At most ten times a second.
    case progress(PullProgress)
    /// A request failed and is made again.
    case retrying(path: String, reason: String, seconds: Double)
    /// A file's digest has been checked; it is in the cache.
    case verified(path: String, digest: ContentDigest)
    /// A file is done, one way or the other.
    case finished(PulledFile)
}

/// The progress of a pull.
package struct PullProgress: Sendable {
    /// One file being fetched.
    package struct Active: Sendable {
        /// The index of its plan in the call.
        package var plan: Int
        package var path: String
        package var received: Int64
        package var size: Int64
        package var isVerifying: Bool
    }
    /// The pull only waits for other processes.
    package struct Waiting: Sendable {
        /// One of them, if known.
        package var process: Int32?
    }
    /// Bytes of all files, and those present.
    package var totalBytes: Int64
    package var completedBytes: Int64
    package var filesDone: Int
    package var filesTotal: Int
    package var isPaused = false
    package var active: [Active]
    package var waiting: Waiting?
    /// Seconds since the last byte, if only the server delays the pull.
    package var silence = 0.0
}

/// The result of one file.
package struct PulledFile: Sendable {
    package enum Status: String, Sendable {
        /// Bytes came over the network in this pull.
        case downloaded
        /// The snapshot had it.
        case cached
        /// The content was in the cache under another name; only the link was missing.
        case linked
        case failed
    }
    package var path: String
    package var size: Int64
    package var status: Status
    /// Bytes that this pull received for it, bytes received twice included.
    package var receivedBytes: Int64 = 0
    package var error: AIError?
}
