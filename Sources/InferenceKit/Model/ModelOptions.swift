/// How a model is opened.
public struct ModelOptions: Sendable, Hashable {
    /// Threads to compute with, 1 to 1024; nil for one on each physical core.
    public var threads: Int?
    /// The most positions a text may have, prompt included; nil for the model's own, at most 4,096.
    public var context: Int?
    /// What to take for the memory that is available, in bytes; nil to ask the system.
    package var availableMemory: Int64?

    /// The longest context that is taken without being asked for.
    public static let defaultContext = 4096

    /// Options; what is left out is decided from the machine and the model.
    public init(threads: Int? = nil, context: Int? = nil) {
        self.threads = threads
        self.context = context
    }
}
