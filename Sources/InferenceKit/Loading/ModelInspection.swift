public import HubCore
package import ModelFormats

/// The metadata of a model folder, from headers and small files; no weight is read.
public struct ModelInspection: Sendable, Hashable {
    /// The folder or file, or `org/name` of a model on a Hub.
    public let folder: String
    /// The file that the figures describe if there are several models; nil if there is one.
    public let file: String?
    /// The class in `config.json`, `LlamaForCausalLM`, or the name of a net of timm's, `resnet50`; nil if it names none.
    public let architecture: String?
    /// `model_type` in `config.json`; `general.architecture` of a GGUF file.
    public let modelType: String?
    /// Weight file formats by name: `safetensors`, `GGUF`, …
    public let formats: [String]
    /// The number of weights; quantised ones count one by one.
    public let parameters: Int64
    /// Parameters used per token in a mixture of experts; nil if all are.
    public let activeParameters: Int64?
    /// Parameters by part: `["attention": 196608]`; `embedding`, `attention`, `feed_forward`, `experts`, `norm`, `head`,
    /// `vision`, `audio`, `other`.
    public let parameterParts: [String: Int64]
    /// Average bits per weight, scales included; nil if no weights could be read.
    public let bitsPerWeight: Double?
    /// The licence in the model card; nil if unknown.
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
    /// Maximum number of positions of the model.
    public let contextLength: Int?
    /// The quantisation of the weights; nil if there is none.
    public let quantization: String?
    /// Whether MLX packed the weights.
    package let isMLX: Bool
    /// The kind of tokenizer; nil if there is no usable one.
    public let tokenizerKind: String?
    /// Whether the folder has a chat template.
    public let hasChatTemplate: Bool
    /// Whether it reads texts; a model of series or pictures needs no tokenizer.
    public let readsTexts: Bool
    /// The obstacles to running it.
    public let obstacles: [RunObstacle]
    private let memory: ModelMemory

    /// Whether this version can run it, memory aside.
    public var isSupported: Bool { obstacles.isEmpty }
    /// The most common element type: `BF16`.
    public var dominantDataType: String? { dataTypes.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key }

    /// Bytes needed to run with a context of this many positions: weights, KV cache, what recurrent layers remember,
    /// activations. Too low if ``cacheBytesPerPosition(as:)`` is unknown.
    ///
    /// - Parameters:
    ///   - context: nil for the default of ``LanguageModel/open(folder:options:)``.
    ///   - cacheFormat: how keys and values are cached.
    public func memoryBytes(context: Int? = nil, cacheFormat: KeyValueFormat = .f16) -> Int64 {
        memory.bytes(context: max(0, context ?? usualContext), format: cacheFormat)
    }

    /// The default context of ``LanguageModel/open(folder:options:)`` in positions.
    public var usualContext: Int { memory.usualContext }

    /// Reads a folder; it may be a snapshot of the cache, made of links.
    ///
    /// - Throws: ``ErrorCode/fileNotFound`` if there is nothing, ``ErrorCode/unsupportedModel`` for a single file,
    ///   ``ErrorCode/malformedModel`` for broken headers. Other faults are in ``obstacles``.
    public static func inspect(folder: String) async throws(AIError) -> ModelInspection {
        try await ComputeQueue().run { _ throws(AIError) in
            ModelInspection(try FolderReading(folder))
        }
    }

    /// A folder or a file, its tokenizer unread: that may take seconds.
    package static func outline(_ path: String) throws(AIError) -> ModelInspection {
        guard let status = try FileSystem.status(path) else {
            throw AIError(.fileNotFound, "\(path) does not exist", context: .init(path: path))
        }
        return ModelInspection(
            status.kind == .directory
                ? try ModelSources.read(folder: path) : try ModelSources.read(file: path, size: status.size))
    }

    init(_ reading: FolderReading) { self.init(reading.sources, reading.memory) }

    /// From sources read elsewhere: by ranges, from a Hub.
    package init(_ sources: ModelSources) { self.init(sources, ModelMemory(sources)) }

    private init(_ sources: ModelSources, _ memory: ModelMemory) {
        let c = sources.configuration
        let summary = ModelSummary(sources)
        folder = sources.name
        file = sources.chosen
        architecture = c?.timmName ?? c?.architectures.first
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
        readsTexts = c.map(Architectures.readsTexts) ?? true
        obstacles = FolderReading.obstacles(sources)
        self.memory = memory
    }

    /// About the share of the weights that a token is computed with: of experts those in use, and not the table of
    /// embeddings, unless it is the head too.
    package var shareReadPerToken: Double {
        guard parameters > 0 else { return 0 }
        var used = activeParameters ?? parameters
        if parameterParts["head"] ?? 0 > 0 { used -= parameterParts["embedding"] ?? 0 }
        return Double(max(0, used)) / Double(parameters)
    }

    /// Bytes of the KV cache per position in all layers: 0 for a model without one (an encoder, a recurrent one), nil if
    /// unknown.
    public func cacheBytesPerPosition(as format: KeyValueFormat = .f16) -> Int64? {
        memory.cacheBytesPerPosition(format)
    }
}
