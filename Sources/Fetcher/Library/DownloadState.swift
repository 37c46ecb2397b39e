#if canImport(FoundationEssentials)
public import struct FoundationEssentials.URL
#else
public import struct Foundation.URL
#endif
public import HubCore

/// The state of a download.
public enum DownloadState: Sendable, Hashable {
    /// Determining what to fetch.
    case pending
    /// Bytes are being fetched.
    case downloading
    /// No request is running; received bytes and locks are kept. ``DownloadTask/resume()`` continues.
    case paused
    /// Every byte is here and is being verified.
    case verifying
    /// Every file is in this folder and verified.
    case completed(URL)
    /// It failed with this error; received bytes are kept for the next download.
    case failed(AIError)
    /// It was cancelled; received bytes are kept for the next download.
    case cancelled

    /// Whether it is working: neither paused nor over.
    public var isActive: Bool {
        switch self {
        case .pending, .downloading, .verifying: true
        case .paused, .completed, .failed, .cancelled: false
        }
    }

    /// Whether it is over: nothing changes any more.
    public var isTerminal: Bool {
        switch self {
        case .completed, .failed, .cancelled: true
        case .pending, .downloading, .paused, .verifying: false
        }
    }

    /// Errors are equal if code, message and context are; causes are not compared.
    public static func == (left: DownloadState, right: DownloadState) -> Bool {
        switch (left, right) {
        case (.pending, .pending), (.downloading, .downloading), (.paused, .paused), (.verifying, .verifying),
            (.cancelled, .cancelled):
            true
        case (.completed(let left), .completed(let right)): left == right
        case (.failed(let left), .failed(let right)):
            left.code == right.code && left.message == right.message && left.context == right.context
        default: false
        }
    }

    /// Feeds what `==` compares to the hasher.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .pending: hasher.combine(0)
        case .downloading: hasher.combine(1)
        case .paused: hasher.combine(2)
        case .verifying: hasher.combine(3)
        case .completed(let folder): hasher.combine(folder)
        case .failed(let error):
            hasher.combine(error.code)
            hasher.combine(error.message)
            hasher.combine(error.context)
        case .cancelled: hasher.combine(4)
        }
    }
}
