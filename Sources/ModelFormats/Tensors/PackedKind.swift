/// A way of packing weights that the ending of a stored name tells.
package struct PackedKind: Sendable {
    /// The method that a configuration names.
    let method: QuantizationConfiguration.Method
    /// What the name of the packed weights ends in.
    package let ending: String
    /// What the name of the weights ends in instead.
    let meaning: String
    /// Types of the packed weights.
    let types: Set<String>
    /// Endings of the tensors beside them that they cannot do without.
    let required: [String]
    /// Endings of other tensors that may be there.
    let others: [String]
    /// As ``ModelTensor/storage`` has it.
    let storage: @Sendable (QuantizationConfiguration?) -> String
    /// Number of weights, of the packed tensor and the first that it requires; nil if it is too large.
    let elements: @Sendable (StoredTensor, StoredTensor, QuantizationConfiguration?) -> Int?

    package var companions: [String] { required + others }

    /// The name without ending; nil for another one.
    func base(_ name: String) -> String? { name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : nil }

    static let all = [mxfp4, hqq]

    /// Microscaling: two 4-bit numbers per byte, a scale per 32.
    private static let mxfp4 = PackedKind(
        method: .mxfp4, ending: "_blocks", meaning: "", types: ["U8"], required: ["_scales"], others: [],
        storage: { _ in "MXFP4" }, elements: { blocks, _, _ in product(blocks.elementCount, 2) })

    /// HQQ (https://github.com/mobiusml/hqq, hqq/core/bitpack.py): as many codes as fit a byte, or ten of 3 bits in a word; the
    /// scales say how many groups there are. The others say how they were made.
    package static let hqq = PackedKind(
        method: .hqq, ending: ".W_q", meaning: ".weight", types: ["U8", "I32", "F16", "BF16", "F32"],
        required: [".scale", ".zero"],
        others: [
            ".nbits", ".group_size", ".shape", ".axis", ".packing", ".unpack_view_dtype", ".view_as_float",
            ".quant_scale", ".quant_zero", ".compute_dtype", ".offload_meta", ".encoded_state_dict",
            ".stores_quant_config", ".channel_wise", ".optimize", ".round_zero",
        ],
        storage: { $0?.bits.map { "HQQ \($0)-bit" } ?? "HQQ" },
        elements: { codes, scales, quantization in
            // A line of codes is a group.
            if scales.shape.last == 1, codes.type == "U8" || codes.type == "I32", let width = codes.shape.last {
                return product(scales.elementCount, width)
            }
            if let group = quantization?.groupSize { return product(scales.elementCount, group) }
            let bits = max(1, min(8, quantization?.bits ?? 4))
            return bits == 3 ? product(codes.byteCount / 4, 10) : product(codes.byteCount, 8 / bits)
        })

    private static func product(_ left: Int, _ right: Int) -> Int? {
        let (product, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? nil : product
    }
}
