public import HubCore

/// What had arrived of an answer when it broke off: the cause of the error that says why.
public struct PartialAnswer: Error, Sendable {
    /// The answer so far.
    public let result: GenerationResult

    /// An answer that broke off.
    public init(_ result: GenerationResult) { self.result = result }
}

extension AIError {
    /// The answer so far, if this error ended a generation in the middle.
    public var partialResult: GenerationResult? { (cause as? PartialAnswer)?.result }
}
