import HubCore

/// A summary of a model from its ``ModelSources``.
package struct ModelSummary: Sendable, Hashable {
    package let parameters: Int64
    /// Parameters used per token; nil if all are.
    package let activeParameters: Int64?
    /// Parameters by part, the largest first.
    package let parts: [TensorPart: Int64]
    /// Tensors' elements by element type.
    package let dataTypes: [String: Int64]
    package let weightsBytes: Int64
    package let bitsPerWeight: Double?
    /// The quantisation of the weights; nil if there is none.
    package let quantization: String?

    package init(_ sources: ModelSources) {
        let configuration = sources.configuration
        let weights = sources.weights
        let tensors = weights.map { ModelTensors($0, configuration?.quantization) }
        parameters = tensors?.parameters ?? 0
        bitsPerWeight = tensors?.bitsPerWeight
        dataTypes = weights?.dataTypes ?? [:]
        weightsBytes = sources.weightsBytes
        var parts: [TensorPart: Int64] = [:]
        for tensor in tensors?.tensors ?? [] where tensor.parameters > 0 {
            let part = TensorPart(tensor.name)
            parts[part] = (parts[part] ?? 0).addedClamped(tensor.parameters)
        }
        self.parts = parts
        if let experts = configuration?.experts, let used = configuration?.expertsPerToken, used < experts,
            let all = parts[.experts]
        {
            let share = min(1, Double(used) / Double(experts))
            activeParameters = parameters - all + (Int64(exactly: (Double(all) * share).rounded()) ?? all)
        } else {
            activeParameters = nil
        }
        quantization = configuration?.quantization?.description ?? Self.quantization(tensors)
    }

    /// By the most common type, if the configuration says nothing: for GGUF.
    private static func quantization(_ tensors: ModelTensors?) -> String? {
        var counts: [String: Int64] = [:]
        var plain: Int64 = 0
        for tensor in tensors?.tensors ?? [] {
            // Unpacked tensors, of any type, are not quantised.
            let isPlain = TensorDataType(rawValue: tensor.storage) != nil && tensor.members.count == 1
            guard !isPlain else {
                plain = plain.addedClamped(tensor.parameters)
                continue
            }
            counts[tensor.storage] = (counts[tensor.storage] ?? 0).addedClamped(tensor.parameters)
        }
        guard let most = counts.max(by: { ($0.value, $0.key) < ($1.value, $1.key) })?.key,
            counts[most] ?? 0 > plain
        else { return nil }
        return most
    }
}
