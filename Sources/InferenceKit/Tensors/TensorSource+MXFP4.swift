import CKernels
import HubCore
import ModelFormats

/// MXFP4 as gpt-oss has it: `NAME_blocks`, 16 bytes for 32 columns, and `NAME_scales`, an exponent for each of them.
/// https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf
extension TensorSource {
    /// `[count, rows, columns]` as blocks and scales.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for scales that are missing, or other shapes.
    func blocks(_ name: String, count: Int, rows: Int, columns: Int) throws(AIError) -> [WeightMatrix] {
        let (blocks, scales) = (try list.find(name + "_blocks"), try list.find(name + "_scales"))
        let size = Int(hub_info(HUB_MXFP4_APART).block)
        guard columns % size == 0 else {
            throw .malformed(path, "tensor \"\(name)\": rows of \(columns) are not whole blocks of MXFP4")
        }
        try check(blocks, [count, rows, columns / size, size / 2])
        try check(scales, [count, rows, columns / size])
        for tensor in [blocks, scales] where tensor.type != TensorDataType.u8.rawValue {
            throw .unsupported(
                path, "\(tensor.type) weights (tensor \"\(tensor.name)\") cannot be run yet")
        }
        var layout = hub_matrix()
        layout.weights = UnsafeRawPointer(try address(blocks))
        layout.scales = UnsafeRawPointer(try address(scales))
        layout.stride = columns / 2
        layout.rows = count * rows
        layout.columns = columns
        layout.format = HUB_MXFP4_APART
        let whole = matrix(layout, of: [blocks, scales])
        return try whole.parts(count)
    }
}
