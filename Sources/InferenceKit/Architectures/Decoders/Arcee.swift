import HubCore
import ModelFormats

/// Arcee's AFM (https://huggingface.co/arcee-ai/AFM-4.5B): Llama with squared ReLU without gates.
extension Architecture {
    static let arcee = Architecture("Arcee", ["arcee"], gguf: ["arcee"], classes: .decoder("Arcee")) {
        settings throws(AIError) in
        // GGUF does not say it.
        var model = try settings.decoder(activation: settings.configuration.activation ?? "relu2")
        model.setNorms(.init(kind: .rms(offset: 0), epsilon: Float(settings.configuration.rmsNormEpsilon ?? 1e-5)))
        let hasFactors = settings.stores("rope_freqs.weight") ?? false
        model.eachAttention {
            // llama.cpp's files have permuted rows of queries and keys.
            $0.rotary?.isAdjacent = settings.isGGUF
            $0.rotary?.hasFactors = settings.isGGUF && hasFactors
        }
        model.eachFeedForward { $0.isGated = false }
        return model
    }
}
