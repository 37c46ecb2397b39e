public import HubCore

/// How the Hub is asked: where, as whom, how patiently. These govern calls of the API; a pull lasts as long as bytes
/// arrive.
public struct HFConfiguration: Sendable, CustomStringConvertible {
    /// The Hub or a mirror. Where no endpoint was given, `HF_ENDPOINT` counts instead: who uses the configuration looks
    /// there first.
    public private(set) var endpoint: Endpoint
    /// Whether ``endpoint(_:)`` named it.
    private var namesEndpoint = false
    /// Where the token comes from. It is sent to the endpoint's own origin only.
    public private(set) var tokenProvider: HFTokenProvider
    /// Seconds that one call may take.
    public private(set) var timeout: Int
    /// How often a call is tried again after an answer that may change: 408, 429, 5xx, or a connection that broke. A
    /// server that cannot be reached at all is not tried again, so that what is known offline shows at once.
    public private(set) var maxRetries: Int
    /// Seconds before the first new try; doubled each time, with jitter.
    public private(set) var retryBaseDelay: Double

    private init(endpoint: Endpoint, timeout: Int, maxRetries: Int) {
        self.endpoint = endpoint
        self.tokenProvider = .auto
        self.timeout = timeout
        self.maxRetries = maxRetries
        self.retryBaseDelay = 1
    }

    /// The Hub that `HF_ENDPOINT` names, else huggingface.co; 60 seconds, 3 retries.
    public static let `default` = HFConfiguration(endpoint: .huggingFace, timeout: 60, maxRetries: 3)
    /// As ``default``, with 120 seconds.
    public static let longRunning = HFConfiguration(endpoint: .huggingFace, timeout: 120, maxRetries: 3)
    /// The given address, otherwise as ``default``.
    public static func endpoint(_ endpoint: Endpoint) -> HFConfiguration {
        HFConfiguration.default.with { ($0.endpoint, $0.namesEndpoint) = (endpoint, true) }
    }

    /// The same with the endpoint that the environment names, unless one was given.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` where `HF_ENDPOINT` is not the address of a Hub.
    package func resolved(in environment: HubEnvironment) throws(AIError) -> HFConfiguration {
        guard !namesEndpoint else { return self }
        let endpoint = try environment.endpoint()
        return with { $0.endpoint = endpoint }
    }

    /// The same with another token.
    public func token(_ provider: HFTokenProvider) -> HFConfiguration { with { $0.tokenProvider = provider } }
    /// The same with another time limit for one call, in seconds; at least 1.
    public func timeout(_ seconds: Int) -> HFConfiguration { with { $0.timeout = max(1, seconds) } }
    /// The same with another number of retries; at least 0.
    public func maxRetries(_ count: Int) -> HFConfiguration { with { $0.maxRetries = max(0, count) } }
    /// The same with another first delay, in seconds.
    public func retryBaseDelay(_ seconds: Double) -> HFConfiguration {
        with { $0.retryBaseDelay = max(0, seconds) }
    }

    private func with(_ change: (inout HFConfiguration) -> Void) -> HFConfiguration {
        var copy = self
        change(&copy)
        return copy
    }

    /// Never shows the token.
    public var description: String { "\(endpoint), \(tokenProvider), \(timeout) s, \(maxRetries) retries" }
}
