/// Size classes by the memory a model needs.
public enum ModelSize: String, Sendable, Hashable, Codable, CaseIterable {
    /// Up to 4 GB.
    case small
    /// Up to 16 GB.
    case medium
    /// Up to 64 GB.
    case large
    /// More than 64 GB.
    case xlarge

    /// The class of a model that needs this many bytes.
    public init(memory bytes: ByteCount) {
        switch bytes.bytes {
        case ...4_000_000_000: self = .small
        case ...16_000_000_000: self = .medium
        case ...64_000_000_000: self = .large
        default: self = .xlarge
        }
    }
}

/// A capability of a model.
public enum ModelCapability: String, Sendable, Hashable, Codable, CaseIterable {
    case textGeneration = "text-generation"
    case embeddings
    case transcription
    case codeGeneration = "code-generation"
    case reasoning
    case multimodal
    case imageGeneration = "image-generation"

    /// The Hub's tasks (`pipeline_tag`) for it; empty if only tags indicate it.
    public var tasks: [String] {
        switch self {
        case .textGeneration: ["text-generation", "text2text-generation"]
        case .embeddings: ["feature-extraction", "sentence-similarity"]
        case .transcription: ["automatic-speech-recognition"]
        case .multimodal: ["image-text-to-text", "any-to-any", "visual-question-answering"]
        case .imageGeneration: ["text-to-image"]
        case .codeGeneration, .reasoning: []
        }
    }

    /// The capability of a Hub task (`pipeline_tag`); nil for other tasks.
    public init?(task: String) {
        guard let found = Self.allCases.first(where: { $0.tasks.contains(task) }) else { return nil }
        self = found
    }
}

/// A model in a list. Two are equal if all fields are.
public struct ModelInfo: Sendable, Hashable, Codable {
    /// The model.
    public var identifier: ModelIdentifier
    /// A name for people.
    public var name: String
    /// A sentence about it.
    public var description: String?
    /// Its size class; nil if the required memory is unknown.
    public var size: ModelSize?
    /// Bytes of its files, or an estimate by its parameters and quantisation; nil if unknown.
    public var diskSize: ByteCount?
    /// Tokens it can attend to.
    public var contextWindow: Int?
    /// Its capabilities.
    public var capabilities: Set<ModelCapability>
    /// Whether the curated list recommends it.
    public var isRecommended: Bool
    /// Number of parameters.
    public var parameters: Int64?
    /// Quantisation, as the field names it: `Q4_K_M`, `4bit`.
    public var quantization: String?

    /// A model; unknown fields are nil.
    public init(
        identifier: ModelIdentifier, name: String, description: String? = nil, size: ModelSize? = nil,
        diskSize: ByteCount? = nil, contextWindow: Int? = nil, capabilities: Set<ModelCapability> = [],
        isRecommended: Bool = false, parameters: Int64? = nil, quantization: String? = nil
    ) {
        self.identifier = identifier
        self.name = name
        self.description = description
        self.size = size
        self.diskSize = diskSize
        self.contextWindow = contextWindow
        self.capabilities = capabilities
        self.isRecommended = isRecommended
        self.parameters = parameters
        self.quantization = quantization
    }
}
