/// How long a call to a provider may take, in seconds, and what is tried again within that time. Only what cannot have
/// been charged is: a failed connection, a refusal for the rate (429), and a provider that says when it will be ready
/// (503 with `Retry-After` or `estimated_time`).
public struct RemoteLimits: Sendable, Hashable {
    /// The whole call, retries and the answer included.
    public var total = 300.0
    /// Until a connection stands.
    public var connect = 10.0
    /// From the end of the request to the first byte of the answer.
    public var firstByte = 60.0
    /// Between two pieces of an answer. Comments that only keep a connection open are no pieces.
    public var idle = 60.0
    /// How often a call is repeated after 429.
    public var rateLimitRetries = 3
    /// How often a connection is tried again.
    public var connectRetries = 2
    /// The longest single wait; a provider that asks for a longer one ends the call at once.
    public var longestWait = 60.0
    /// The first wait where a provider names none; doubled each time, with jitter.
    public var retryBaseDelay = 1.0
    /// Between two looks at a queue; nil for the provider's usual time.
    public var pollInterval: Double?

    /// The usual limits.
    public init() {}
}
