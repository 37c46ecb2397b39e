public import HubCore
import ModelFormats

/// What a model folder says of itself, from its headers and small files; no weight is read.
public struct ModelInspection: Sendable, Hashable {
    /// The folder.
    public let folder: String
    /// The class in `config.json`, `LlamaForCausalLM`; nil where it names none.
    public let architecture: String?
    /// `model_type` in `config.json`.
    public let modelType: String?
    /// Weight file formats by name: `safetensors`, `GGUF`, …
    public let formats: [String]
    /// The number of weights, those of a quantised tensor counted one by one.
    public let parameters: Int64
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
    /// The kind of tokenizer; nil where there is none that can be used.
    public let tokenizerKind: String?
    /// Whether the folder has a chat template.
    public let hasChatTemplate: Bool
    /// What stands against running it, each a noun phrase: `architecture gpt2`.
    public let obstacles: [String]
    private let memory: MemoryEstimate

    /// Whether this version can run it, memory aside.
    public var isSupported: Bool { obstacles.isEmpty }
    /// The element type most of the weights have: `BF16`.
    public var dominantDataType: String? { dataTypes.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key }

    /// Bytes that running needs with a context of this many positions: weights, keys and values, activations.
    ///
    /// - Parameter context: nil for what ``LanguageModel/open(folder:options:)`` takes without being asked.
    public func memoryBytes(context: Int? = nil) -> Int64 {
        memory.bytes(context: max(0, context ?? min(contextLength ?? 2048, ModelOptions.defaultContext)))
    }

    /// Reads a folder; it may be a snapshot of the cache, all of it links.
    ///
    /// - Throws: ``ErrorCode/fileNotFound`` where there is nothing, ``ErrorCode/unsupportedModel`` for a single file,
    ///   ``ErrorCode/malformedModel`` for what is broken. What is only unsupported is in ``obstacles``.
    public static func inspect(folder: String) async throws(AIError) -> ModelInspection {
        try await ComputeQueue(label: "hub.inspect").run { _ throws(AIError) in
            try ModelInspection(FolderReading(folder))
        }
    }

    init(_ reading: FolderReading) throws(AIError) {
        let c = reading.configuration
        folder = reading.folder
        architecture = c?.architectures.first
        modelType = c?.modelType
        formats = reading.formats.map(\.rawValue)
        let counts = Self.count(reading.weights, c?.quantization)
        parameters = counts.parameters
        dataTypes = counts.byType
        weightsBytes = reading.weights?.tensorBytes ?? 0
        layers = c?.layers
        heads = c?.heads
        kvHeads = c?.kvHeads
        hiddenSize = c?.hiddenSize
        vocabulary = c?.vocabulary
        contextLength = c?.maxPositions
        quantization = c?.quantization?.description
        tokenizerKind = reading.tokenizer?.kind
        hasChatTemplate = try Self.hasChatTemplate(reading.folder)
        obstacles = reading.obstacles
        memory = reading.memory
    }

    /// MLX packs 32 / bits weights into each U32 and keeps scales and biases beside it, which are no parameters.
    private static func count(_ weights: SafetensorsFolder?, _ quantization: QuantizationConfiguration?)
        -> (parameters: Int64, byType: [String: Int64])
    {
        var parameters: Int64 = 0
        var byType: [String: Int64] = [:]
        let tensors = weights?.tensors ?? [:]
        for (name, entry) in tensors {
            let elements = Int64(entry.info.elementCount)
            byType[entry.info.dataType.rawValue, default: 0] += elements
            let suffix = name.split(separator: ".").last ?? ""
            let base = name.dropLast(suffix.count)
            if let quantization, quantization.isMLX, let bits = quantization.bits {
                if suffix == "weight", tensors[base + "scales"] != nil {
                    parameters += elements * 32 / Int64(bits)
                    continue
                }
                if suffix == "scales" || suffix == "biases", tensors[base + "weight"] != nil { continue }
            }
            parameters += elements
        }
        return (parameters, byType)
    }

    private static func hasChatTemplate(_ folder: String) throws(AIError) -> Bool {
        for name in ["chat_template.jinja", "chat_template.json"] where FileSystem.exists(Path.join(folder, name)) {
            return true
        }
        return try JSONFile.read(Path.join(folder, "tokenizer_config.json"))?["chat_template"] != nil
    }
}
