public import HubCore

/// Settings for API calls: endpoint, token, timeouts and retries. A pull continues as long as bytes arrive.
public struct HFConfiguration: Sendable, CustomStringConvertible {
    /// The Hub or a mirror. Without an explicit endpoint, `HF_ENDPOINT` takes precedence.
    public private(set) var endpoint: Endpoint
    /// Whether ``endpoint(_:)`` set it.
    private var namesEndpoint = false
    /// The source of the token. It is sent only to the endpoint's own origin.
    public private(set) var tokenProvider: HFTokenProvider
    /// Time limit of one call in seconds.
    public private(set) var timeout: Int
    /// Maximum retries after 408, 429, 5xx or a broken connection. An unreachable server is not retried, so that
    /// offline data shows at once.
    public private(set) var maxRetries: Int
    /// Seconds before the first retry; doubled each time, with jitter.
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

    /// The same with the environment's endpoint, unless one was given.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` if `HF_ENDPOINT` is not the address of a Hub.
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
