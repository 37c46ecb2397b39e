import CKernels
import HubCore
import ModelFormats

/// A decoder's tensors, every one present and of the right shape.
struct DecoderWeights: Sendable {
    /// One layer's tensors. Norms are kept as float32: they are a few kilobytes.
    struct Layer: Sendable {
        let attentionNorm: [Float]
        let query: WeightMatrix
        let key: WeightMatrix
        let value: WeightMatrix
        let output: WeightMatrix
        let feedForwardNorm: [Float]
        let gate: WeightMatrix
        let up: WeightMatrix
        let down: WeightMatrix
    }

    let embedding: WeightMatrix
    let layers: [Layer]
    let finalNorm: [Float]
    let head: WeightMatrix

    /// Maps the files and finds every tensor.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a tensor that is missing or has the wrong shape,
    ///   ``ErrorCode/unsupportedModel`` for one that this architecture does not have.
    init(_ d: DecoderDescription, _ folder: SafetensorsFolder) throws(AIError) {
        var finder = try TensorFinder(folder)
        let queries = d.heads * d.headSize
        let keys = d.kvHeads * d.headSize
        embedding = try finder.matrix("model.embed_tokens.weight", d.vocabulary, d.hiddenSize)
        var layers: [Layer] = []
        for index in 0..<d.layers {
            let prefix = "model.layers.\(index)."
            layers.append(
                Layer(
                    attentionNorm: try finder.vector(prefix + "input_layernorm.weight", d.hiddenSize),
                    query: try finder.matrix(prefix + "self_attn.q_proj.weight", queries, d.hiddenSize),
                    key: try finder.matrix(prefix + "self_attn.k_proj.weight", keys, d.hiddenSize),
                    value: try finder.matrix(prefix + "self_attn.v_proj.weight", keys, d.hiddenSize),
                    output: try finder.matrix(prefix + "self_attn.o_proj.weight", d.hiddenSize, queries),
                    feedForwardNorm: try finder.vector(prefix + "post_attention_layernorm.weight", d.hiddenSize),
                    gate: try finder.matrix(prefix + "mlp.gate_proj.weight", d.intermediateSize, d.hiddenSize),
                    up: try finder.matrix(prefix + "mlp.up_proj.weight", d.intermediateSize, d.hiddenSize),
                    down: try finder.matrix(prefix + "mlp.down_proj.weight", d.hiddenSize, d.intermediateSize)))
            // Old checkpoints store the frequencies; here they are computed from the configuration.
            finder.ignore(prefix + "self_attn.rotary_emb.inv_freq")
        }
        self.layers = layers
        finalNorm = try finder.vector("model.norm.weight", d.hiddenSize)
        if d.tiedEmbeddings {
            head = embedding
            // Some converters also write the tied head; transformers ties it anyway.
            finder.ignore("lm_head.weight")
        } else {
            head = try finder.matrix("lm_head.weight", d.vocabulary, d.hiddenSize)
        }
        try finder.checkNothingIsLeft()
    }
}

/// Finds tensors by name and records which were never used.
private struct TensorFinder {
    private let folder: SafetensorsFolder
    private let files: [MappedFile]
    private var left: Set<String>

    init(_ folder: SafetensorsFolder) throws(AIError) {
        self.folder = folder
        var files: [MappedFile] = []
        for shard in folder.shards { files.append(try MappedFile(shard.path)) }
        self.files = files
        left = Set(folder.tensors.keys)
    }

    mutating func matrix(_ name: String, _ rows: Int, _ columns: Int) throws(AIError) -> WeightMatrix {
        try find(name, [rows, columns], rows: rows, columns: columns)
    }

    mutating func vector(_ name: String, _ count: Int) throws(AIError) -> [Float] {
        try find(name, [count], rows: 1, columns: count).widened()
    }

    mutating func ignore(_ name: String) { left.remove(name) }

    /// An unused tensor means that the description is wrong, and so would be the output.
    func checkNothingIsLeft() throws(AIError) {
        guard let name = left.min(), let entry = folder.tensors[name] else { return }
        let more = left.count > 1 ? " and \(left.count - 1) more" : ""
        throw .unsupported(
            folder.shards[entry.shard].path,
            "tensor \"\(name)\"\(more) is not part of this architecture")
    }

    private mutating func find(_ name: String, _ shape: [Int], rows: Int, columns: Int) throws(AIError)
        -> WeightMatrix
    {
        guard let entry = folder.tensors[name] else {
            throw .malformed(folder.shards[0].path, "tensor \"\(name)\" is missing")
        }
        let file = files[entry.shard]
        guard entry.info.shape == shape else {
            throw .malformed(
                file.path, "tensor \"\(name)\" has the shape \(entry.info.shape); config.json says \(shape)")
        }
        left.remove(name)
        return try WeightMatrix(entry.info, rows: rows, columns: columns, in: file)
    }
}
