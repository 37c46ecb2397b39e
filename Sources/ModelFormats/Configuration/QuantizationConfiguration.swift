import HubCore

/// The quantisation of the weights.
package struct QuantizationConfiguration: Sendable, Hashable {
    /// The packing method.
    package enum Method: String, CaseIterable, Sendable, Hashable {
        case mlx = "MLX"
        case gptq = "GPTQ"
        case awq = "AWQ"
        case bitsAndBytes = "bitsandbytes"
        case fp8 = "FP8"
        case compressedTensors = "compressed-tensors"
        case mxfp4 = "MXFP4"
        case modelOpt = "ModelOpt"
        case hqq = "HQQ"
        /// Unknown here.
        case other
    }

    /// How MLX packed one kind of layers.
    package struct Packing: Sendable, Hashable {
        package let bits: Int
        package let groupSize: Int
        /// Whether it has biases as well as scales, unlike MLX's other modes.
        package var isAffine = true
    }

    /// For people: `MLX 4-bit quantisation (group size 64)`, `gptq 4-bit quantisation`.
    package let description: String
    /// The method as the file names it.
    package let name: String
    /// How it packs, in a word: `4-bit`, `NVFP4`; nil if the file does not say.
    package let packed: String?
    package let method: Method
    /// Bits per weight, if the file says.
    package let bits: Int?
    /// Weights per scale, if the file says.
    package let groupSize: Int?
    /// Rows and columns of a block that has a scale, if the file says.
    package let blockSize: [Int]?
    /// The layout, where a method has several, if the file says: of compressed-tensors `float-quantized`, `pack-quantized`,
    /// of AWQ `gemm`, of GPTQ `gptq`, `gptq_v2`, of ModelOpt `nvfp4`, `fp8`.
    package let format: String?
    /// MLX's packing of layers not in ``overrides``.
    package let packing: Packing?
    /// MLX's layers with a different packing, by name; nil for unpacked ones.
    package let overrides: [String: Packing?]

    /// Whether it is MLX's affine quantisation: `weight` packed into U32 beside `scales` and `biases`.
    package var isMLX: Bool { method == .mlx }

    /// Bit widths of MLX (https://ml-explore.github.io/mlx/build/html/python/_autosummary/mlx.core.quantize.html).
    package static let mlxBits: Set<Int> = [2, 3, 4, 5, 6, 8]

    /// The bits that a weight may have, in any packing.
    private static let bitWidths = 1...64

    init?(_ fields: ConfigurationFields) throws(AIError) {
        // MLX writes "quantization" (and repeats it as "quantization_config"); all others write "quantization_config"
        // with a quant_method.
        if let mlx = try fields.object("quantization"), let bits = try mlx.count("bits") {
            // Only the bits of the repetition are checked; nothing else of it is read.
            _ = try fields.object("quantization_config")?.count("bits", in: Self.bitWidths)
            self = try QuantizationConfiguration(mlx: mlx, bits: bits, fields.members("quantization"))
        } else if let other = try fields.object("quantization_config", "compression_config") {
            self = try QuantizationConfiguration(described: other)
        } else {
            return nil
        }
    }

    private init(mlx: ConfigurationFields, bits: Int, _ members: [(key: String, value: JSON)]) throws(AIError) {
        if !Self.mlxBits.contains(bits) { try mlx.report("quantization bits \(bits) are not supported by MLX") }
        self.bits = bits
        groupSize = try mlx.count("group_size")
        (blockSize, format) = (nil, nil)
        method = .mlx
        var overrides: [String: Packing?] = [:]
        for (name, value) in members {
            if value.bool == false { overrides[name] = .some(nil) }
            guard let own = value.object else { continue }
            let fields = ConfigurationFields(own, path: mlx.path, noted: mlx.noted)
            let ownBits = try fields.count("bits") ?? bits
            if !Self.mlxBits.contains(ownBits) {
                try mlx.report("quantization bits \(ownBits) of \(name.printable) are not supported by MLX")
            }
            overrides[name] = Packing(
                bits: ownBits, groupSize: try fields.count("group_size") ?? groupSize ?? 64,
                isAffine: Self.isAffine(fields))
        }
        self.overrides = overrides
        packing = Packing(bits: bits, groupSize: groupSize ?? 64, isAffine: Self.isAffine(mlx))
        let group = groupSize.map { "group size \($0)" }
        let kinds = Set(overrides.values.compactMap { $0?.bits }).union([bits]).sorted()
        let mixed =
            kinds.count > 1
            ? "mixed with \(kinds.filter { $0 != bits }.map { "\($0)-bit" }.joined(separator: ", "))" : nil
        let notes = [group, mixed].compactMap { $0 }.joined(separator: ", ")
        (name, packed) = ("MLX", "\(bits)-bit")
        description = "MLX \(bits)-bit quantisation" + (notes.isEmpty ? "" : " (\(notes))")
    }

    private static func isAffine(_ fields: ConfigurationFields) -> Bool {
        fields.optionalText("mode") ?? "affine" == "affine"
    }

    private static func blockSize(_ fields: ConfigurationFields, _ weights: ConfigurationFields?) throws(AIError)
        -> [Int]?
    {
        if let sizes = try fields.sizes("weight_block_size") { return sizes }
        return try weights?.sizes("block_structure")
    }

    /// The layout of a method with several, as the configuration calls it.
    private static func layout(_ method: Method, _ other: ConfigurationFields, _ group: ConfigurationFields?)
        throws(AIError) -> String?
    {
        switch method {
        // That backend has a layout of its own.
        case .awq where other.optionalText("backend") == "llm-awq": return "llm-awq"
        case .awq: return other.optionalText("version") ?? other.optionalText("format")
        case .gptq: return other.optionalText("checkpoint_format") ?? other.optionalText("format")
        case .compressedTensors:
            // Those that turn activations while the model runs.
            let turned = try other.object("transform_config")?.all["config_groups"]?.object ?? [:]
            return turned != [:]
                ? "transform_config" : other.optionalText("format") ?? group?.optionalText("format")
        default: return nil
        }
    }

    private init(described other: ConfigurationFields) throws(AIError) {
        let name = try other.string("quant_method") ?? "unnamed"
        var algorithm: String?
        // EXL2 gives an average such as 4.25.
        let average = try other.number("bits")
        if let average, average <= 0 { try other.report("quantization bits \(average) are not above 0") }
        var bits = other.optionalCount("bits")
        let group = try other.object("config_groups")?.object("group_0")
        let weights = try group?.object("weights")
        let layout = other.optionalText("packing_format")?.lowercased().replacing("auto_round:", with: "")
        switch name.lowercased() {
        case "gptq", "gptq_marlin": method = .gptq
        case "awq": method = .awq
        // Their layouts are those of others: https://github.com/intel/auto-round (inference/backend.py)
        case "auto-round", "intel/auto-round": method = layout == "auto_awq" ? .awq : .gptq
        case "bitsandbytes":
            method = .bitsAndBytes
            let (four, eight) = (try other.bool("load_in_4bit"), try other.bool("load_in_8bit"))
            bits = bits ?? (four == true ? 4 : eight == true ? 8 : nil)
        case "fp8", "fbgemm_fp8":
            method = .fp8
            bits = bits ?? 8
        case "compressed-tensors", "compressed_tensors":
            method = .compressedTensors
            if bits == nil { bits = try weights?.count("num_bits", in: Self.bitWidths) }
        case "mxfp4":
            method = .mxfp4
            bits = bits ?? 4
        case "modelopt", "modelopt_fp4":
            method = .modelOpt
            algorithm = other.optionalText("quant_algo")
        case "hqq": method = .hqq
        default: method = .other
        }
        // HQQ's may be settings for each kind of layer instead.
        let inner = method == .hqq ? try other.object("quant_config")?.object("weight_quant_params") : nil
        bits = bits ?? inner?.optionalCount("nbits")
        if method != .other, other.has("bits") { bits = try other.count("bits", in: Self.bitWidths) }
        self.bits = bits
        // -1 is the whole row.
        groupSize =
            try other.isMinusOne("group_size")
            ? nil : other.count("group_size") ?? inner?.optionalCount("group_size")
        blockSize = try Self.blockSize(other, weights)
        let ofOthers = ["auto_awq": "gemm", "auto_gptq": "gptq", "gptqmodel": "gptq_v2"]
        if name.lowercased().hasSuffix("auto-round") {
            format = ofOthers[layout ?? ""] ?? layout ?? name.lowercased()
        } else {
            format = try Self.layout(method, other, group)?.lowercased() ?? algorithm?.lowercased()
        }
        (overrides, packing) = ([:], nil)
        let told = bits.map(String.init) ?? average.map { "\($0)" }
        (self.name, packed) = (name, algorithm ?? told.map { "\($0)-bit" })
        description = "\(name)\(packed.map { " \($0.printable)" } ?? "") quantisation"
    }
}
