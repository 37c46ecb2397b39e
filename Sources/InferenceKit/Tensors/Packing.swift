import ModelFormats

/// How a matrix of safetensors is packed: what the stored tensors beside its weights say, for a configuration names the
/// method, but not always the modules that it left out.
struct Packing: Sendable, Hashable {
    enum Method: Sendable, Hashable {
        /// Words of some bits with scales and biases by groups of columns.
        case mlx
        /// e4m3 with a scale for all, for each row, or for blocks.
        case float8
        /// Words with eight outputs of a column, by groups of columns with scales and zeros.
        case awq
        /// Words with some columns of an output, by groups of columns with scales and zeros.
        case gptq
    }

    let method: Method
    /// The name without `.weight`.
    let stem: String
    /// The tensor of the scales.
    let scales: String
    /// The tensors beside the weights, those for activations and caches too, which are not used.
    let companions: [String]

    /// nil for a matrix that is not packed.
    ///
    /// - Parameter name: of the weights, as ``TensorSource/plain(_:)`` has it.
    init?(_ name: String, in source: TensorSource) {
        guard name.hasSuffix(".weight"), let type = source.type(name) else { return nil }
        let stem = String(name.dropLast(".weight".count))
        func first(_ endings: String...) -> String? { endings.lazy.map { stem + $0 }.first(where: source.has) }
        let endings: [String]
        switch type {
        case TensorDataType.u32.rawValue:
            guard let scales = first(".scales") else { return nil }
            (method, self.scales, endings) = (.mlx, scales, [".scales", ".biases"])
        case TensorDataType.f8E4M3.rawValue:
            guard let scales = first(".weight_scale_inv", ".weight_scale") else { return nil }
            (method, self.scales) = (.float8, scales)
            endings = [".weight_scale_inv", ".weight_scale"] + Self.unused
        case TensorDataType.i32.rawValue:
            guard let scales = first(".scales"), let weights = try? source.shape(name),
                let shape = try? source.shape(scales)
            else { return nil }
            method = weights.last == shape.last ? .gptq : .awq
            (self.scales, endings) = (scales, [".scales", ".qzeros", ".g_idx"])
        default: return nil
        }
        self.stem = stem
        companions = endings.map { stem + $0 }.filter(source.has)
    }

    /// Scales of activations and of cached keys and values, which are computed in float here.
    private static let unused = [".input_scale", ".activation_scale", ".output_scale", ".k_scale", ".v_scale"]
}
