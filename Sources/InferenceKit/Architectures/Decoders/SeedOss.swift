import HubCore
import ModelFormats

/// Seed-OSS (https://github.com/ByteDance-Seed/seed-oss): Llama with biases of queries, keys and values.
extension Architecture {
    static let seedOss = Architecture(
        "Seed-OSS", ["seed_oss"], gguf: ["seed_oss"], classes: .decoder("SeedOss"),
        ggufTensors: .gguf.with([.feedForwardNorm: "post_attention_norm"])
    ) { settings throws(AIError) in
        var model = try settings.decoder()
        let input = settings.isGGUF ? settings.stores("blk.0.attn_q.bias") : settings.flag("attention_bias")
        let output = settings.has(bias: "attention_out_bias", of: "attn_output")
        model.eachAttention { ($0.hasInputBias, $0.hasOutputBias) = (input ?? true, output) }
        return model
    }
}
