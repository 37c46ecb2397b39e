/// A fault of a packed tensor that a loader finds before reading values: a missing companion, or packing that disagrees
/// with the configuration.
package struct PackingFault: Sendable, Hashable {
    /// The missing or wrong tensor.
    package let tensor: String
    /// The stored tensor with the packed weights.
    package let weights: Int
    /// A sentence without a full stop.
    package let detail: String
    /// Whether it hides the weights' shape.
    let hidesShape: Bool

    /// All faults of a model, in tensor order. The required companions are those of each method's loader:
    /// https://ml-explore.github.io/mlx/build/html/python/nn/_autosummary/mlx.nn.QuantizedLinear.html,
    /// https://github.com/huggingface/transformers/tree/main/src/transformers/integrations
    static func all(_ stored: [StoredTensor], _ places: [String: Int], _ quantization: QuantizationConfiguration?)
        -> [PackingFault]
    {
        guard let quantization else { return [] }
        var faults: [PackingFault] = []
        let others = quantization.overrides.filter { places[$0.key + ".weight"] == nil }.values.compactMap { $0 }
        for (index, tensor) in stored.enumerated() {
            let missing = companions(tensor, quantization).filter { names in
                !names.contains { places[$0] != nil }
            }
            for names in missing {
                faults.append(
                    PackingFault(
                        tensor: names[0], weights: index,
                        detail:
                            "tensor \"\(names[0])\" is missing; \"\(tensor.name)\" needs it",
                        hidesShape: true))
            }
            if missing.isEmpty, let (wrong, hides) = disagreement(tensor, stored, places, quantization, others) {
                faults.append(
                    PackingFault(tensor: tensor.name, weights: index, detail: wrong, hidesShape: hides))
            }
        }
        return faults
    }

    /// The companions a packed tensor needs; one from each list.
    private static func companions(_ tensor: StoredTensor, _ quantization: QuantizationConfiguration) -> [[String]]
    {
        func base(_ ending: String) -> String? {
            tensor.name.hasSuffix(ending) ? String(tensor.name.dropLast(ending.count)) : nil
        }
        let (name, type) = (tensor.name, tensor.type)
        let isFloat = type.hasPrefix("F8_")
        switch quantization.method {
        case .mlx:
            guard type == "U32", let base = base(".weight") else { return [] }
            let isAffine = packing(base, quantization)?.isAffine ?? true
            return [[base + ".scales"]] + (isAffine ? [[base + ".biases"]] : [])
        case .gptq, .awq:
            guard type == "I32", let base = base(".qweight") else { return [] }
            return [[base + ".scales"], [base + ".qzeros"]]
        case .bitsAndBytes:
            guard let base = base(".weight") else { return [] }
            if type == "U8", tensor.shape.last == 1 { return [[name + ".absmax"], [name + ".quant_map"]] }
            return type == "I8" ? [[base + ".SCB"]] : []
        case .fp8:
            return isFloat && base(".weight") != nil ? [[name + "_scale_inv", name + "_scale"]] : []
        case .compressedTensors:
            if let base = base(".weight_packed") { return [[base + ".weight_scale"]] }
            return isFloat && base(".weight") != nil ? [[name + "_scale"]] : []
        case .modelOpt:
            return (isFloat || type == "U8") && base(".weight") != nil ? [[name + "_scale"]] : []
        default:
            let kind = PackedKind.all.first {
                $0.method == quantization.method && $0.base(name) != nil && $0.types.contains(type)
            }
            guard let kind, let base = kind.base(name) else { return [] }
            return kind.required.map { [base + $0] }
        }
    }

    /// The MLX packing of a layer; nil if the file says it is not packed.
    private static func packing(_ base: String, _ quantization: QuantizationConfiguration)
        -> QuantizationConfiguration.Packing?
    {
        if let own = quantization.overrides[base] { return own }
        return quantization.packing
    }

    /// Checks MLX's words per row against its groups: bits and group size of the configuration must match both.
    private static func disagreement(
        _ tensor: StoredTensor, _ stored: [StoredTensor], _ places: [String: Int],
        _ quantization: QuantizationConfiguration, _ others: [QuantizationConfiguration.Packing]
    ) -> (detail: String, hidesShape: Bool)? {
        guard quantization.method == .mlx, tensor.type == "U32", tensor.name.hasSuffix(".weight"),
            let words = tensor.shape.last
        else { return nil }
        let base = String(tensor.name.dropLast(".weight".count))
        guard let scales = places[base + ".scales"].map({ stored[$0] }), let said = packing(base, quantization)
        else { return nil }
        guard let groups = scales.shape.last, tensor.shape.dropLast() == scales.shape.dropLast() else {
            return (
                "tensor \"\(tensor.name)\" has the shape \(tensor.shape); its scales have \(scales.shape)", true
            )
        }
        func fits(_ packing: QuantizationConfiguration.Packing) -> Bool {
            let (columns, overflow) = groups.multipliedReportingOverflow(by: packing.groupSize)
            let (bits, more) = columns.multipliedReportingOverflow(by: packing.bits)
            let (room, most) = words.multipliedReportingOverflow(by: 32)
            return !overflow && !more && !most && bits == room
        }
        // Overrides whose name matches no tensor may mean this one.
        let possible = [said] + (quantization.overrides[base] == nil ? others : [])
        guard !possible.contains(where: fits) else { return nil }
        let counts = "\(words) words and \(groups) scales in a row"
        let told = "\(said.bits) bits in groups of \(said.groupSize)"
        return ("tensor \"\(tensor.name)\" has \(counts); config.json says \(told)", false)
    }
}
