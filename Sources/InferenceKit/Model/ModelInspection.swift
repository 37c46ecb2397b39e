public import HubCore
package import ModelFormats

/// What a model folder says of itself, from its headers and small files; no weight is read.
public struct ModelInspection: Sendable, Hashable {
    /// The folder or file, or `org/name` of a model that is not here.
    public let folder: String
    /// The file that the figures are of, where there are several models; nil where there is one.
    public let file: String?
    /// The class in `config.json`, `LlamaForCausalLM`; nil where it names none.
    public let architecture: String?
    /// `model_type` in `config.json`; `general.architecture` of a GGUF file.
    public let modelType: String?
    /// Weight file formats by name: `safetensors`, `GGUF`, …
    public let formats: [String]
    /// The number of weights, those of a quantised tensor counted one by one.
    public let parameters: Int64
    /// Parameters that one token goes through in a mixture of experts; nil where that is all of them.
    public let activeParameters: Int64?
    /// Parameters by part: `["attention": 196608]`; `embedding`, `attention`, `feed_forward`, `experts`, `norm`, `head`,
    /// `vision`, `audio`, `other`.
    public let parameterParts: [String: Int64]
    /// Bits that a weight takes on average, scales included; nil where there are no weights that could be read.
    public let bitsPerWeight: Double?
    /// The licence by the model's card; nil where that is not known.
    public let license: String?
    /// Tensors' elements by element type: `["BF16": 1115264]`.
    public let dataTypes: [String: Int64]
    /// Bytes of all tensors.
    public let weightsBytes: Int64
    /// Layers of the decoder.
    public let layers: Int?
    /// Attention heads.
    public let heads: Int?
    /// Heads of keys and values; fewer than ``heads`` in grouped-query attention.
    public let kvHeads: Int?
    /// Width of the residual stream.
    public let hiddenSize: Int?
    /// Tokens in the vocabulary.
    public let vocabulary: Int?
    /// Positions that the model was made for.
    public let contextLength: Int?
    /// How the weights are quantised; nil where they are not.
    public let quantization: String?
    /// Whether MLX packed them.
    package let isMLX: Bool
    /// The kind of tokenizer; nil where there is none that can be used.
    public let tokenizerKind: String?
    /// Whether the folder has a chat template.
    public let hasChatTemplate: Bool
    /// What stands against running it, each a noun phrase, `architecture gpt2`, or what is broken.
    public let obstacles: [String]
    private let memory: MemoryEstimate

    /// Whether this version can run it, memory aside.
    public var isSupported: Bool { obstacles.isEmpty }
    /// The element type most of the weights have: `BF16`.
    public var dominantDataType: String? { dataTypes.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key }

    /// Bytes that running needs with a context of this many positions: weights, keys and values, activations. Where it is
    /// not known what is kept of a position (``cacheBytesPerPosition``), what is told is too little.
    ///
    /// - Parameter context: nil for what ``LanguageModel/open(folder:options:)`` takes without being asked.
    public func memoryBytes(context: Int? = nil) -> Int64 {
        memory.bytes(context: max(0, context ?? usualContext))
    }

    /// Positions that ``LanguageModel/open(folder:options:)`` takes without being asked.
    public var usualContext: Int { min(contextLength ?? 2048, ModelOptions.defaultContext) }

    /// Reads a folder; it may be a snapshot of the cache, all of it links.
    ///
    /// - Throws: ``ErrorCode/fileNotFound`` where there is nothing, ``ErrorCode/unsupportedModel`` for a single file,
    ///   ``ErrorCode/malformedModel`` for broken headers. What is unsupported, or broken beside them, is in ``obstacles``.
    public static func inspect(folder: String) async throws(AIError) -> ModelInspection {
        try await ComputeQueue().run { _ throws(AIError) in
            ModelInspection(try FolderReading(folder))
        }
    }

    init(_ reading: FolderReading) { self.init(reading.sources) }

    /// What was read elsewhere: by ranges, from a Hub.
    package init(_ sources: ModelSources) {
        let c = sources.configuration
        let summary = ModelSummary(sources, batch: Decoder.batch)
        folder = sources.name
        file = sources.chosen
        architecture = c?.architectures.first
        modelType = c?.modelType
        formats = sources.formats.map(\.format.rawValue)
        parameters = summary.parameters
        activeParameters = summary.activeParameters
        parameterParts = Dictionary(uniqueKeysWithValues: summary.parts.map { ($0.key.rawValue, $0.value) })
        bitsPerWeight = summary.bitsPerWeight
        license = sources.license
        dataTypes = summary.dataTypes
        weightsBytes = summary.weightsBytes
        layers = c?.layers
        heads = c?.heads
        kvHeads = c?.kvHeads
        hiddenSize = c?.hiddenSize
        vocabulary = c?.vocabulary
        contextLength = c?.maxPositions
        quantization = summary.quantization
        isMLX = c?.quantization?.isMLX ?? false
        tokenizerKind = sources.tokenizerKind
        hasChatTemplate = sources.hasChatTemplate
        obstacles = FolderReading.obstacles(sources)
        memory = summary.memory
    }

    /// Bytes that keys and values of one position take in all layers, as float32: 0 where a model keeps none (an encoder,
    /// a recurrent one), nil where it is not known how many.
    public var cacheBytesPerPosition: Int64? { memory.cacheBytesPerPosition }
}
