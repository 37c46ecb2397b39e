import ModelFormats

/// The parts of a layer that have tensors.
enum WindowPart: Sendable, Hashable {
    case firstNorm, secondNorm, query, key, value, output, up, down
    /// What distances add, or what makes it.
    case distances
    /// A logarithm of each head, by whose exponential cosines are multiplied.
    case scale
}

extension WindowNet {
    /// The name of a tensor of a layer, without `.weight`.
    func name(_ part: WindowPart, stage: Int, layer: Int) -> String {
        let start = naming.isTransformers ? "\(prefix)encoder.layers." : "\(prefix)layers."
        return "\(start)\(stage).blocks.\(layer).\(name(part))"
    }

    private func name(_ part: WindowPart) -> String {
        switch (part, naming) {
        case (.firstNorm, .timm), (.firstNorm, .original): "norm1"
        case (.secondNorm, .timm), (.secondNorm, .original): "norm2"
        case (.firstNorm, _): "layernorm_before"
        case (.secondNorm, _): "layernorm_after"
        case (.query, .transformers): "attention.self.query"
        case (.key, .transformers): "attention.self.key"
        case (.value, .transformers): "attention.self.value"
        case (.query, .newer): "attention.q_proj"
        case (.key, .newer): "attention.k_proj"
        case (.value, .newer): "attention.v_proj"
        case (.query, _), (.key, _), (.value, _): "attn.qkv"
        case (.output, .transformers): "attention.output.dense"
        case (.output, .newer): "attention.o_proj"
        case (.output, _): "attn.proj"
        case (.up, .transformers): "intermediate.dense"
        case (.down, .transformers): "output.dense"
        case (.up, _): "mlp.fc1"
        case (.down, _): "mlp.fc2"
        case (.distances, _): distancesName
        case (.scale, _): naming.isTransformers ? "attention.self.logit_scale" : "attn.logit_scale"
        }
    }

    private var distancesName: String {
        switch (version, naming) {
        case (.first, .transformers): "attention.self.relative_position_bias_table"
        case (.first, .newer): "attention.relative_position_bias.relative_position_bias_table"
        case (.first, _): "attn.relative_position_bias_table"
        case (.second, _):
            naming.isTransformers ? "attention.self.continuous_position_bias_mlp" : "attn.cpb_mlp"
        }
    }

    /// Whether queries, keys and values are one matrix.
    var isPacked: Bool { !naming.isTransformers }

    /// The bias of queries or of values where it is not beside their matrix.
    func biasName(_ part: WindowPart, stage: Int, layer: Int) -> String {
        let name = name(part, stage: stage, layer: layer)
        guard isPacked, version == .second else { return name + ".bias" }
        return name.dropLast("qkv".count) + (part == .query ? "q_bias" : "v_bias")
    }

    /// Before `norm` and `reduction` of what makes a stage of the one before it.
    func mergeName(_ stage: Int) -> String {
        switch naming {
        case .timm: "\(prefix)layers.\(stage).downsample."
        case .original: "\(prefix)layers.\(stage - 1).downsample."
        case .transformers, .newer: "\(prefix)encoder.layers.\(stage - 1).downsample."
        }
    }

    var squareName: String {
        prefix + (naming.isTransformers ? "embeddings.patch_embeddings.projection" : "patch_embed.proj")
    }
    var squareNormName: String { prefix + (naming.isTransformers ? "embeddings.norm" : "patch_embed.norm") }
    var finalNormName: String { prefix + (naming.isTransformers ? "layernorm" : "norm") }

    /// Numbers that the norm of a stage's merging has: of four rows, or in the second version of what is made of them.
    func mergeNormWidth(_ stage: Int) -> Int {
        version == .first ? 4 * stages[stage - 1].channels : stages[stage].channels
    }
}

extension WindowNet: StoredNet {
    typealias Tensor = ConvolutionNet.Tensor

    var tensors: [Tensor] {
        guard let first = stages.first else { return [] }
        var found = [Tensor(name: squareName + ".weight", shape: [first.channels, 3, patch, patch])]
        found.append(Tensor(name: squareName + ".bias", shape: [first.channels]))
        found += Self.norm(squareNormName, first.channels)
        for (number, stage) in stages.enumerated() {
            if number > 0 {
                let merge = mergeName(number)
                found += Self.norm(merge + "norm", mergeNormWidth(number))
                found.append(
                    Tensor(
                        name: merge + "reduction.weight", shape: [stage.channels, 4 * stages[number - 1].channels]))
            }
            for layer in 0..<stage.depth { found += tensors(stage, number, layer) }
        }
        if hasFinalNorm { found += Self.norm(finalNormName, features) }
        if let classifier, let labels {
            found += Self.linear(classifier, labels.count, features, hasBias: true)
        }
        return found
    }

    private func tensors(_ stage: Stage, _ number: Int, _ layer: Int) -> [Tensor] {
        let width = stage.channels
        func named(_ part: WindowPart) -> String { name(part, stage: number, layer: layer) }
        var found = Self.norm(named(.firstNorm), width) + Self.norm(named(.secondNorm), width)
        if isPacked {
            found.append(Tensor(name: named(.query) + ".weight", shape: [3 * width, width]))
        } else {
            found += [WindowPart.query, .key, .value].map {
                Tensor(name: named($0) + ".weight", shape: [width, width])
            }
        }
        found += inputBiases(number, layer)
        found += Self.linear(named(.output), width, width, hasBias: true)
        found += Self.linear(named(.up), stage.inner, width, hasBias: true)
        found += Self.linear(named(.down), width, stage.inner, hasBias: true)
        switch version {
        case .first: found.append(Tensor(name: named(.distances), shape: [stage.window.distances, stage.heads]))
        case .second:
            found.append(Tensor(name: named(.scale), shape: [stage.heads, 1, 1]))
            found += Self.linear(
                named(.distances) + ".0", Self.distanceWidth, Self.distanceInputs, hasBias: true)
            found += Self.linear(named(.distances) + ".2", stage.heads, Self.distanceWidth, hasBias: false)
        }
        return found
    }

    private func inputBiases(_ stage: Int, _ layer: Int) -> [Tensor] {
        guard hasInputBias else { return [] }
        let width = stages[stage].channels
        if isPacked, version == .first {
            return [Tensor(name: name(.query, stage: stage, layer: layer) + ".bias", shape: [3 * width])]
        }
        let parts: [WindowPart] = version == .first ? [.query, .key, .value] : [.query, .value]
        return parts.map { Tensor(name: biasName($0, stage: stage, layer: layer), shape: [width]) }
    }

    private static func norm(_ name: String, _ width: Int) -> [Tensor] {
        ["weight", "bias"].map { Tensor(name: "\(name).\($0)", shape: [width]) }
    }

    private static func linear(_ name: String, _ rows: Int, _ columns: Int, hasBias: Bool) -> [Tensor] {
        let weight = Tensor(name: name + ".weight", shape: [rows, columns])
        return hasBias ? [weight, Tensor(name: name + ".bias", shape: [rows])] : [weight]
    }

    /// What old files list though it follows from the sizes of windows.
    private static let computed = [".relative_position_index", ".relative_coords_table", ".attn_mask"]

    func isBeside(_ name: String) -> Bool {
        unread.contains { name.hasPrefix($0) } || Self.computed.contains { name.hasSuffix($0) }
    }
}
