package import HubCore

/// What a pull tells while it runs, in order, from one thread. The progress is that of all models of the call.
package enum PullEvent: Sendable {
    /// What is to be done.
    case planned(PullPlan)
    /// Another process is at work on the same file; its number, where the system says it.
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

/// How far a pull is.
package struct PullProgress: Sendable {
    /// One file under way.
    package struct Active: Sendable {
        /// The place of its plan among those of the call.
        package var plan: Int
        package var path: String
        package var received: Int64
        package var size: Int64
        package var isVerifying: Bool
    }
    /// That nothing is done here but wait for other processes.
    package struct Waiting: Sendable {
        /// One of them, where the system says which.
        package var process: Int32?
    }
    /// Bytes of all files, and of those the ones that are here.
    package var totalBytes: Int64
    package var completedBytes: Int64
    package var filesDone: Int
    package var filesTotal: Int
    package var isPaused = false
    package var active: [Active]
    package var waiting: Waiting?
    /// Seconds since a byte last came, where nothing but the server keeps the pull waiting.
    package var silence = 0.0
}

/// What became of one file.
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
