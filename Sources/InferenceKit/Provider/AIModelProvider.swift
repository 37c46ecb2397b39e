public import HubCore

/// Something that a chat application can ask: a model in a folder, or a service.
public protocol AIModelProvider: Sendable {
    /// What tells it from the others.
    var identifier: String { get }
    /// What people are shown.
    var displayName: String { get }
    /// Whether no text leaves this machine.
    var isOnDevice: Bool { get }
    /// Whether it can be used now, and why not.
    var availability: ProviderAvailability { get async }
    /// The most tokens of a prompt and its answer together; nil where nobody knows.
    var maxContextLength: Int? { get async }
    /// Gets ready, so that the first answer need not wait; more calls do nothing.
    func prepare() async throws(AIError)
    /// Lets go of what ``prepare()`` took; the provider can be prepared again.
    func cleanup() async
}

extension AIModelProvider {
    /// Whether it can be used now.
    public var isAvailable: Bool { get async { await availability.isAvailable } }

    /// Whether a prompt and its answer of this many tokens fit; false where nobody knows.
    public func canHandle(contextSize: Int) async -> Bool {
        guard let longest = await maxContextLength else { return false }
        return contextSize <= longest
    }
}

/// A provider that makes text.
public protocol TextGenerator: AIModelProvider {
    /// Generates from a prompt taken as it is.
    func generate(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationResult
    /// The same as it happens.
    func stream(prompt: String, config: GenerateConfig) async throws(AIError) -> GenerationStream
}
