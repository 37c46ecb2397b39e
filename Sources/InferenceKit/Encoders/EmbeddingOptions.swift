/// How texts become vectors.
public struct EmbeddingOptions: Sendable, Hashable {
    /// The name of a prompt of the model that is put before each text; nil for the model's default.
    public var promptName: String?
    /// How many numbers of a vector are kept, the first ones; nil for all.
    public var dimensions: Int?
    /// Whether vectors get length 1 after that.
    public var normalizes = false

    /// Options; by default what the model's own files say.
    public init(promptName: String? = nil, dimensions: Int? = nil, normalizes: Bool = false) {
        self.promptName = promptName
        self.dimensions = dimensions
        self.normalizes = normalizes
    }
}
