/// Options for opening a model.
public struct ModelOptions: Sendable, Hashable {
    /// Threads to compute with, 1 to 1024; nil for `HUB_THREADS`, or one on each physical core.
    public var threads: Int?
    /// Maximum number of positions of a text, prompt included; nil for the model's own, at most 4,096.
    public var context: Int?
    /// Whether to compute with float32 activations and dequantised weights. Otherwise activations are rounded to 8 bits
    /// where weights are quantised, which is several times faster.
    public var isExact: Bool
    /// How keys and values are cached; nil for ``KeyValueFormat/f32`` if exact, otherwise ``KeyValueFormat/f16``.
    public var cacheFormat: KeyValueFormat?
    /// How keys and values are cached with these options.
    public var usedCacheFormat: KeyValueFormat { cacheFormat ?? (isExact ? .f32 : .f16) }
    /// Texts that nobody continues but that are kept for their beginnings.
    package var keptTexts = 2
    /// Whether texts of several people are computed at once: prompts in smaller pieces, so that nobody waits long for
    /// another's. Then ``context`` is a limit for many models, and one that takes fewer positions is opened with those.
    package var isShared = false
    /// The instruction set: `scalar`, `avx2`, `avx512`, `neon`; nil for `HUB_KERNELS`, or the fastest one.
    package var kernels: String?
    /// The available memory to assume, in bytes; nil to ask the system.
    package var availableMemory: Int64?

    /// The longest default context.
    public static let defaultContext = 4096

    /// Options; the defaults depend on the machine and the model.
    public init(
        threads: Int? = nil, context: Int? = nil, isExact: Bool = false, cacheFormat: KeyValueFormat? = nil
    ) {
        self.threads = threads
        self.context = context
        self.isExact = isExact
        self.cacheFormat = cacheFormat
    }
}
