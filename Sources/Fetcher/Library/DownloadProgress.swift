import HubCore

/// The progress of a download, in bytes.
public struct DownloadProgress: Sendable, Hashable {
    /// Bytes of the wanted files that are on this machine.
    public var bytesDownloaded: Int64
    /// Bytes of all wanted files, known before the first one is fetched.
    public var totalBytes: Int64
    /// The largest file under way.
    public var currentFile: String?
    /// Files that are done.
    public var filesCompleted: Int
    /// Files wanted.
    public var totalFiles: Int
    /// Bytes a second over the last five seconds; nil before the first measurement.
    public var bytesPerSecond: Double?

    /// From 0 to 1.
    public var fractionCompleted: Double {
        totalBytes == 0 ? 1 : min(1, Double(bytesDownloaded) / Double(totalBytes))
    }
    /// From 0 to 100, rounded down: 100 means done.
    public var percentComplete: Int { Int(fractionCompleted * 100) }
    /// Seconds left at the present rate; nil if unknown or zero.
    public var estimatedTimeRemaining: Double? {
        guard let rate = bytesPerSecond, rate > 0 else { return nil }
        return Double(totalBytes - bytesDownloaded) / rate
    }
    /// `12.3 MB/s`; nil if the rate is unknown.
    public var formattedSpeed: String? { bytesPerSecond.map { "\(ByteCount(Int64($0)))/s" } }
    /// `1:05`, `2:03:04`; nil if the remaining time is unknown.
    public var formattedETA: String? {
        estimatedTimeRemaining.map { seconds in
            let whole = Int(min(seconds.rounded(.up), 359_999))
            func pad(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
            let tail = "\(pad(whole % 60))"
            return whole < 3600 ? "\(whole / 60):\(tail)" : "\(whole / 3600):\(pad(whole / 60 % 60)):\(tail)"
        }
    }

    init(_ progress: PullProgress, rate: Double?) {
        bytesDownloaded = progress.completedBytes
        totalBytes = progress.totalBytes
        currentFile = progress.active.max { $0.size < $1.size }?.path
        filesCompleted = progress.filesDone
        totalFiles = progress.filesTotal
        bytesPerSecond = rate
    }
}
