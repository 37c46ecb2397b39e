/// A logical tensor of a model, assembled from its stored tensors: packed weights, scales and other companions.
package struct ModelTensor: Sendable, Hashable {
    /// `model.layers.0.mlp.up_proj.weight`
    package let name: String
    /// nil if the stored tensors do not tell.
    package let shape: [Int]?
    /// Number of weights; 0 if it is not a parameter of its own (a mask, a position table, a
    /// tied tensor).
    package let parameters: Int64
    /// Its bytes, scales included.
    package let byteCount: Int64
    /// `BF16`, `MLX 4-bit`, `GPTQ`, …
    package let storage: String
    /// Indices of its stored tensors, the weights first.
    package let members: [Int]
}

/// The logical tensors of a model.
package struct ModelTensors: Sendable {
    package let tensors: [ModelTensor]
    /// Faults in their packing.
    package let faults: [PackingFault]

    package init(_ weights: StoredWeights, _ quantization: QuantizationConfiguration?) {
        var grouping = TensorGrouping(weights.tensors, quantization)
        tensors = grouping.run()
        faults = grouping.faults
    }

    /// Number of weights in all of them.
    package var parameters: Int64 { tensors.reduce(0) { $0.addedClamped($1.parameters) } }

    /// Average bits per weight, scales included; nil if there are none.
    package var bitsPerWeight: Double? {
        let counted = tensors.filter { $0.parameters > 0 }
        let parameters = counted.reduce(0.0) { $0 + Double($1.parameters) }
        guard parameters > 0 else { return nil }
        return counted.reduce(0.0) { $0 + Double($1.byteCount) } * 8 / parameters
    }
}

/// Groups stored tensors by the naming scheme of each packing method.
private struct TensorGrouping {
    private let stored: [StoredTensor]
    private let quantization: QuantizationConfiguration?
    private let places: [String: Int]
    let faults: [PackingFault]
    private var taken: Set<Int> = []

    init(_ stored: [StoredTensor], _ quantization: QuantizationConfiguration?) {
        self.stored = stored
        self.quantization = quantization
        places = Dictionary(stored.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        faults = PackingFault.all(stored, places, quantization)
    }

    mutating func run() -> [ModelTensor] {
        var found: [Int: ModelTensor] = [:]
        for index in Set(faults.filter(\.hidesShape).map(\.weights)) {
            let incomplete = incomplete(index)
            taken.formUnion(incomplete.members)
            found[index] = incomplete
        }
        // Packed ones first: their companions are not separate tensors.
        for index in stored.indices where !taken.contains(index) {
            guard let packed = packed(index) else { continue }
            taken.formUnion(packed.members)
            found[index] = packed
        }
        for index in stored.indices where !taken.contains(index) { found[index] = plain(index) }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }

    private func plain(_ index: Int) -> ModelTensor {
        let tensor = stored[index]
        return ModelTensor(
            name: tensor.name, shape: tensor.shape,
            parameters: TensorPart(tensor.name) == .buffer || tensor.isTied ? 0 : Int64(tensor.elementCount),
            byteCount: Int64(tensor.byteCount), storage: tensor.type, members: [index])
    }

    /// Packed weights with missing companions: the unpacked shape is unknown.
    private func incomplete(_ index: Int) -> ModelTensor {
        let name = stored[index].name
        let kind = PackedKind.all.first { $0.base(name) != nil }
        let ending =
            ([".qweight", ".weight_packed", ".weight"] + PackedKind.all.map(\.ending)).first(where: name.hasSuffix)
            ?? ""
        let base = String(name.dropLast(ending.count))
        let beside = beside(
            base,
            [
                ".scales", ".biases", ".qzeros", ".g_idx", ".SCB", ".weight_format", ".weight_shape",
                ".weight.absmax", ".weight.quant_map", ".weight.nested_absmax", ".weight.nested_quant_map",
                ".weight.quant_state.bitsandbytes__nf4", ".weight.quant_state.bitsandbytes__fp4", ".weight_scale_2",
                ".input_scale", ".weight_zero_point",
            ] + (kind?.companions ?? []))
        return made(
            base + (kind?.meaning ?? ".weight"), index, shape: nil, elements: stored[index].elementCount,
            stored[index].type, beside)
    }

    // MARK: Packed weights

    private func packed(_ index: Int) -> ModelTensor? {
        let name = stored[index].name
        func base(_ ending: String) -> String? {
            name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : nil
        }
        if let base = base(".weight") { return besideScales(index, base) }
        if let base = base(".qweight") { return integerColumns(index, base) }
        if let base = base(".weight_packed") { return compressed(index, base) }
        return PackedKind.all.lazy.compactMap { named(index, $0) }.first
    }

    /// - Parameter companions: full names of possible companions.
    private func made(
        _ base: String, _ index: Int, shape: [Int]?, elements: Int, _ storage: String, _ companions: [String]
    ) -> ModelTensor {
        let members = [index] + companions.compactMap { places[$0] }
        return ModelTensor(
            name: base, shape: shape, parameters: Int64(elements),
            byteCount: members.reduce(0) { $0.addedClamped(Int64(stored[$1].byteCount)) }, storage: storage,
            members: members)
    }

    private func beside(_ base: String, _ endings: [String]) -> [String] { endings.map { base + $0 } }

    /// MLX, bitsandbytes, float8 and NVFP4 of GGUF: `weight` with scales of some kind.
    private func besideScales(_ index: Int, _ base: String) -> ModelTensor? {
        let tensor = stored[index]
        if tensor.type == "U32", let scales = places[base + ".scales"] {
            return mlx(index, base, stored[scales])
        }
        let weight = base + ".weight"
        if tensor.type == "U8", places[weight + ".absmax"] != nil {
            let (elements, _) = tensor.elementCount.multipliedReportingOverflow(by: 2)
            return made(
                weight, index, shape: nil, elements: max(0, elements), "bitsandbytes 4-bit",
                beside(
                    weight,
                    [
                        ".absmax", ".quant_map", ".nested_absmax", ".nested_quant_map",
                        ".quant_state.bitsandbytes__nf4", ".quant_state.bitsandbytes__fp4",
                    ]))
        }
        if tensor.type == "I8", places[base + ".SCB"] != nil {
            return made(
                weight, index, shape: tensor.shape, elements: tensor.elementCount, "bitsandbytes 8-bit",
                [base + ".SCB", base + ".weight_format"])
        }
        let scales =
            beside(weight, ["_scale_inv", "_scale", "_scale_2"])
            + beside(base, [".input_scale", ".k_scale", ".v_scale"])
        if tensor.type == "U8", let scale = places[weight + "_scale"] {
            return pairs(index, weight, stored[scale], scales)
        }
        if tensor.type.hasPrefix("F8_") || tensor.type == "I8", scales.contains(where: { places[$0] != nil }) {
            return made(weight, index, shape: tensor.shape, elements: tensor.elementCount, tensor.type, scales)
        }
        let ofBlocks = beside(base, [".scale", ".input_scale"])
        if tensor.type == "NVFP4", ofBlocks.contains(where: { places[$0] != nil }) {
            return made(weight, index, shape: tensor.shape, elements: tensor.elementCount, tensor.type, ofBlocks)
        }
        return nil
    }

    /// NVIDIA and AMD: two 4-bit numbers per byte, a scale per 16 (NVFP4) or 32 (MXFP4).
    private func pairs(_ index: Int, _ weight: String, _ scale: StoredTensor, _ companions: [String])
        -> ModelTensor?
    {
        let tensor = stored[index]
        guard let bytes = tensor.shape.last, let groups = scale.shape.last, groups > 0,
            tensor.shape.dropLast() == scale.shape.dropLast()
        else { return nil }
        let (columns, overflow) = bytes.multipliedReportingOverflow(by: 2)
        let (elements, more) = tensor.elementCount.multipliedReportingOverflow(by: 2)
        guard !overflow, !more, columns % groups == 0, [16, 32].contains(columns / groups) else { return nil }
        return made(
            weight, index, shape: tensor.shape.dropLast() + [columns], elements: elements,
            scale.type == "F8_E4M3" ? "NVFP4" : "MXFP4", companions)
    }

    /// MLX packs 32 / bits weights into a word, or 32 weights of n bits into n words.
    private func mlx(_ index: Int, _ base: String, _ scales: StoredTensor) -> ModelTensor? {
        let tensor = stored[index]
        guard let words = tensor.shape.last, let groups = scales.shape.last, words > 0, groups > 0,
            tensor.shape.dropLast() == scales.shape.dropLast()
        else { return nil }
        let own = quantization?.overrides[base] ?? nil
        // The shapes must be consistent; the configuration decides if it fits them, because the group size is stored
        // nowhere else.
        let group = own?.groupSize ?? quantization?.groupSize ?? 64
        let (columns, overflow) = groups.multipliedReportingOverflow(by: group)
        guard !overflow, columns > 0, words.multipliedReportingOverflow(by: 32).overflow == false,
            words * 32 % columns == 0
        else { return nil }
        let bits = words * 32 / columns
        guard QuantizationConfiguration.mlxBits.contains(bits) else { return nil }
        let elements = tensor.shape.dropLast().reduce(columns) {
            $0.multipliedReportingOverflow(by: $1).partialValue
        }
        return made(
            base + ".weight", index, shape: tensor.shape.dropLast() + [columns], elements: max(0, elements),
            "MLX \(bits)-bit", [base + ".scales", base + ".biases"])
    }

    /// GPTQ packs along the rows of the transposed matrix, AWQ along its columns.
    private func integerColumns(_ index: Int, _ base: String) -> ModelTensor? {
        let tensor = stored[index]
        guard tensor.shape.count == 2, let scales = places[base + ".scales"], let out = stored[scales].shape.last,
            out > 0
        else { return nil }
        let companions = beside(base, [".scales", ".qzeros", ".g_idx"])
        if tensor.shape[1] == out {
            let bits = quantization?.bits ?? 4
            let (weights, overflow) = tensor.shape[0].multipliedReportingOverflow(by: 32)
            guard !overflow, (1...32).contains(bits) else { return nil }
            let rows = weights / bits
            return made(
                base + ".weight", index, shape: [out, rows],
                elements: max(0, rows.multipliedReportingOverflow(by: out).partialValue), "GPTQ \(bits)-bit",
                companions)
        }
        guard tensor.shape[1] > 0, out % tensor.shape[1] == 0 else { return nil }
        let bits = 32 / max(1, out / tensor.shape[1])
        return made(
            base + ".weight", index, shape: [out, tensor.shape[0]],
            elements: max(0, tensor.shape[0].multipliedReportingOverflow(by: out).partialValue), "AWQ \(bits)-bit",
            companions)
    }

    private func compressed(_ index: Int, _ base: String) -> ModelTensor? {
        let tensor = stored[index]
        guard let last = tensor.shape.last else { return nil }
        // Two 4-bit numbers per byte, or as many as fit a word.
        let each = tensor.type == "U8" ? 2 : 32 / max(1, min(32, quantization?.bits ?? 4))
        let (columns, overflow) = last.multipliedReportingOverflow(by: each)
        let (elements, more) = tensor.elementCount.multipliedReportingOverflow(by: each)
        guard !overflow, !more else { return nil }
        return made(
            base + ".weight", index, shape: tensor.shape.dropLast() + [columns], elements: elements,
            "compressed-tensors",
            beside(
                base,
                [
                    ".weight_scale", ".weight_shape", ".weight_zero_point", ".weight_g_idx", ".weight_global_scale",
                    ".input_global_scale", ".input_scale",
                ]))
    }

    /// Those whose names tell how they are packed.
    private func named(_ index: Int, _ kind: PackedKind) -> ModelTensor? {
        let tensor = stored[index]
        guard let base = kind.base(tensor.name), kind.types.contains(tensor.type) else { return nil }
        let beside = kind.required.map { places[base + $0] }
        guard let first = beside[0], !beside.contains(nil),
            let elements = kind.elements(tensor, stored[first], quantization)
        else { return nil }
        return made(
            base + kind.meaning, index, shape: nil, elements: elements, kind.storage(quantization),
            self.beside(base, kind.companions))
    }
}
