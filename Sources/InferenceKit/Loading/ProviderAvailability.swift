public import HubCore

/// Whether a model can be used now, and why not.
public enum ProviderAvailability: Sendable, Hashable {
    /// It can be used.
    case available
    /// It cannot.
    case unavailable(Reason)

    /// Why a model cannot be used.
    public enum Reason: Sendable, Hashable {
        /// A service requires an API key that is missing.
        case apiKeyMissing
        /// A service cannot be reached.
        case networkUnavailable
        /// The folder does not exist.
        case modelNotDownloaded
        /// What keeps this version from running it.
        case unsupported([RunObstacle])
        /// Required and available bytes.
        case insufficientMemory(required: Int64, available: Int64)
        /// This platform cannot run it.
        case unsupportedPlatform
        /// Anything else, in one sentence.
        case unknown(String)
    }

    /// Whether it can be used.
    public var isAvailable: Bool { self == .available }
}
