#if canImport(FoundationEssentials)
public import struct FoundationEssentials.URL
#else
public import struct Foundation.URL
#endif
public import HubCore

/// Where a download stands.
public enum DownloadState: Sendable, Hashable {
    /// It is being found out what there is to fetch.
    case pending
    /// Bytes are being fetched.
    case downloading
    /// No request is on its way; what came is kept, and the locks are held. ``DownloadTask/resume()`` goes on.
    case paused
    /// Every byte is here and is being proven.
    case verifying
    /// Every file is in this folder, and proven.
    case completed(URL)
    /// It ended with this error; what came is kept for the next download.
    case failed(AIError)
    /// It was cancelled; what came is kept for the next download.
    case cancelled

    /// Whether work is being done: neither resting nor over.
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

    /// Errors are the same where code, message and context are; what lies beneath them is not compared.
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
