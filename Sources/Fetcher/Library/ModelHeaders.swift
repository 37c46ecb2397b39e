public import HubCore

/// A model's metadata before its weights are fetched: `config.json` and the headers of its weight files.
public struct ModelHeaders: Sendable, Hashable {
    /// One weight file whose header was read.
    public struct WeightFile: Sendable, Hashable {
        /// The path in the repository.
        public let path: String
        /// `safetensors` or `GGUF`.
        public let format: String
        /// Bytes of the whole file.
        public let size: Int64
        /// Tensors in it.
        public let tensorCount: Int
        /// Elements by element type, `["BF16": 1115264]`; empty for GGUF, whose types are not read.
        public let dataTypes: [String: Int64]
    }

    /// The model as it was asked for.
    public let identifier: ModelIdentifier
    /// The commit.
    public let commit: Commit
    /// `model_type` of `config.json`; nil for GGUF without one.
    public let modelType: String?
    /// `architectures` of `config.json`: `LlamaForCausalLM`.
    public let architectures: [String]
    /// The quantisation according to `config.json`; nil if there is none.
    public let quantization: String?
    /// Maximum positions according to `config.json`.
    public let contextLength: Int?
    /// The weight files that the download would fetch or has, in the order of the repository.
    public let weights: [WeightFile]
    /// Paths of weight files in formats without a readable header: PyTorch's pickles, ONNX.
    public let unreadWeights: [String]

    /// Bytes of all files of ``weights``.
    public var weightsBytes: Int64 { weights.map { ByteCount($0.size) }.reduce(ByteCount(0), +).bytes }
}
