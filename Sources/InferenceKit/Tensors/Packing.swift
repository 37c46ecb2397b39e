import HubCore
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
        /// e2m1 with an e4m3 scale for each 16 columns and one for all.
        case nvfp4
        /// Blocks of GGUF with an e4m3 scale for each 16 columns, and a number for all that is a tensor of its own.
        case nvfp4Blocks
        /// e2m1 with an exponent for each 32 columns.
        case mxfp4
        /// Words of some bits with scales and zeros by groups of columns.
        case integers
        /// Signed bytes with scales for rows or groups of columns.
        case int8
        /// Codes of a table of 16 numbers, with scales by groups of weights.
        case table4
        /// Codes of lines of weights, with scales and zeros for lines or for their columns.
        case hqq
    }

    /// What names of packed weights end in, where others end in `.weight`.
    static let endings = [".qweight", ".weight_packed", ".W_q"]

    let method: Method
    /// The name without `.weight`.
    let stem: String
    /// The tensor of the scales.
    let scales: String
    /// The tensors beside the weights, those for activations and caches too, which are not used.
    let companions: [String]

    /// nil for a matrix that is not packed.
    ///
    /// - Parameter name: of the weights, as ``TensorList/plain(_:)`` has it.
    init?(_ name: String, in list: TensorList) {
        guard name.hasSuffix(".weight"), let type = list.type(name) else { return nil }
        let stem = String(name.dropLast(".weight".count))
        func first(_ endings: String...) -> String? { endings.lazy.map { stem + $0 }.first(where: list.has) }
        let endings: [String]
        switch type {
        case _ where list.has(stem + ".scale") && list.has(stem + ".zero"):
            (method, self.scales, endings) = (.hqq, stem + ".scale", PackedKind.hqq.companions)
        case Self.nvfp4Blocks where list.has(stem + ".scale") || list.has(stem + ".input_scale"):
            (method, self.scales, endings) = (.nvfp4Blocks, stem + ".scale", [".scale", ".input_scale"])
        case TensorDataType.u32.rawValue:
            guard let scales = first(".scales") else { return nil }
            (method, self.scales, endings) = (.mlx, scales, [".scales", ".biases"])
        case TensorDataType.f8E4M3.rawValue:
            guard let scales = first(".weight_scale_inv", ".weight_scale") else { return nil }
            (method, self.scales) = (.float8, scales)
            endings = [".weight_scale_inv", ".weight_scale"] + Self.unused
        case TensorDataType.i32.rawValue where list.has(stem + ".weight_scale"):
            (method, self.scales, endings) = (.integers, stem + ".weight_scale", Self.compressed)
        case _ where list.has(name + ".absmax"):
            (method, self.scales) = (.table4, name + ".absmax")
            let states = ["nf4", "fp4"].map { ".weight.quant_state.bitsandbytes__" + $0 }
            endings =
                [".weight.absmax", ".weight.quant_map", ".weight.nested_absmax", ".weight.nested_quant_map"]
                + states
        case TensorDataType.u8.rawValue:
            guard let scales = first(".weight_scale") else { return nil }
            let factors = [".weight_scale_2", ".weight_global_scale"]
            method = factors.contains { list.has(stem + $0) } ? .nvfp4 : .mxfp4
            (self.scales, endings) = (scales, factors + Self.compressed)
        case TensorDataType.i8.rawValue:
            guard let scales = first(".SCB", ".weight_scale") else { return nil }
            (method, self.scales, endings) = (.int8, scales, [".SCB", ".weight_format"] + Self.compressed)
        case TensorDataType.i32.rawValue:
            guard let scales = first(".scales"), let weights = try? list.shape(name),
                let shape = try? list.shape(scales)
            else { return nil }
            method = weights.last == shape.last ? .gptq : .awq
            (self.scales, endings) = (scales, [".scales", ".qzeros", ".g_idx"])
        default: return nil
        }
        self.stem = stem
        companions = endings.map { stem + $0 }.filter(list.has)
    }

    /// GGUF's name of the type.
    static let nvfp4Blocks = "NVFP4"

    /// Scales of activations and of cached keys and values, which are computed in float here.
    private static let unused = [
        ".input_scale", ".input_zero_point", ".input_global_scale", ".activation_scale", ".output_scale",
        ".k_scale",
        ".v_scale",
    ]
    /// What compressed-tensors puts beside weights.
    private static let compressed =
        [".weight_scale", ".weight_zero_point", ".weight_shape", ".weight_g_idx"] + unused

    /// Whether a tensor scales cached keys, values or queries of attention.
    static func isOfCache(_ name: String) -> Bool {
        [".k_scale", ".v_scale", ".q_scale", ".k_zero_point", ".v_zero_point"].contains(where: name.hasSuffix)
    }
}

extension TensorSource {
    /// A packed matrix, as it lies in the file.
    ///
    /// - Parameter stack: the matrices of the same shape that it consists of, one above the other.
    /// - Throws: ``ErrorCode/malformedModel`` for tensors that are missing or have other shapes,
    ///   ``ErrorCode/unsupportedModel`` for what there are no kernels for.
    func packed(_ tensor: StoredTensor, _ packing: Packing, _ stack: Int, rows: Int, columns: Int) throws(AIError)
        -> WeightMatrix
    {
        switch packing.method {
        case .mlx: try mlx(tensor, packing, stack, rows: rows, columns: columns)
        case .float8: try float8(tensor, packing, stack, rows: rows, columns: columns)
        case .awq: try awq(tensor, packing, rows: rows, columns: columns)
        case .gptq: try gptq(tensor, packing, rows: rows, columns: columns)
        case .nvfp4: try nvfp4(tensor, packing, rows: rows, columns: columns)
        case .nvfp4Blocks: try nvfp4Blocks(tensor, packing, stack, rows: rows, columns: columns)
        case .mxfp4: try mxfp4(tensor, packing, rows: rows, columns: columns)
        case .integers: try integers(tensor, packing, rows: rows, columns: columns)
        case .int8: try int8(tensor, packing, rows: rows, columns: columns)
        case .hqq: try hqq(tensor, packing, rows: rows, columns: columns)
        case .table4: try table4(tensor, packing, rows: rows, columns: columns)
        }
    }
}
