/// Options for opening a model.
public struct ModelOptions: Sendable, Hashable {
    /// Threads to compute with, 1 to 1024; nil for one on each physical core.
    public var threads: Int?
    /// Maximum number of positions of a text, prompt included; nil for the model's own, at most 4,096.
    public var context: Int?
    /// The available memory to assume, in bytes; nil to ask the system.
    package var availableMemory: Int64?

    /// The longest default context.
    public static let defaultContext = 4096

    /// Options; the defaults depend on the machine and the model.
    public init(threads: Int? = nil, context: Int? = nil) {
        self.threads = threads
        self.context = context
    }
}
