/// A way of packing weights that the ending of a stored name tells.
struct PackedKind: Sendable {
    /// The method that a configuration names.
    let method: QuantizationConfiguration.Method
    /// What the name of the packed weights ends in.
    let ending: String
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

    var companions: [String] { required + others }

    /// The name without ending; nil for another one.
    func base(_ name: String) -> String? { name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : nil }

    static let all = [mxfp4]

    /// Microscaling: two 4-bit numbers per byte, a scale per 32.
    private static let mxfp4 = PackedKind(
        method: .mxfp4, ending: "_blocks", meaning: "", types: ["U8"], required: ["_scales"], others: [],
        storage: { _ in "MXFP4" }, elements: { blocks, _, _ in product(blocks.elementCount, 2) })

    private static func product(_ left: Int, _ right: Int) -> Int? {
        let (product, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? nil : product
    }
}
