import CKernels
import HubCore
import ModelFormats

/// AWQ and GPTQ, whose stored rows are columns of the matrix.
extension TensorSource {
    /// AutoAWQ's GEMM layout: `[columns, rows / 8]` words of 4 bits, scales of `[groups, rows]`.
    func awq(_ tensor: StoredTensor, _ packing: Packing, rows: Int, columns: Int) throws(AIError) -> WeightMatrix {
        try check(tensor, [columns, rows / 8])
        var layout = hub_matrix()
        layout.format = HUB_AWQ
        layout.stride = rows / 2
        return try turned(tensor, packing, layout, bits: 4, rows: rows, columns: columns)
    }

    /// AutoGPTQ's layout: `[columns * bits / 32, rows]` words, scales of `[groups, rows]`. Zeros are stored less 1 but in
    /// its second format.
    func gptq(_ tensor: StoredTensor, _ packing: Packing, rows: Int, columns: Int) throws(AIError) -> WeightMatrix {
        guard tensor.shape.count == 2, columns > 0, tensor.shape[0] * 32 % columns == 0 else {
            throw .malformed(path(tensor), "tensor \"\(tensor.name)\" has the shape \(tensor.shape)")
        }
        let bits = tensor.shape[0] * 32 / columns
        guard [4, 8].contains(bits) else {
            throw .unsupported(
                path(tensor), "\(bits)-bit weights of GPTQ (tensor \"\(tensor.name)\") cannot be run yet")
        }
        try check(tensor, [columns * bits / 32, rows])
        var layout = hub_matrix()
        layout.format = HUB_GPTQ
        layout.stride = rows * 4
        layout.zero_less = quantization?.format == "gptq_v2" ? 0 : 1
        let whole = try turned(tensor, packing, layout, bits: bits, rows: rows, columns: columns)
        try checkOrder(packing, columns: columns, group: Int(whole.layout.group))
        return whole
    }

    private func turned(
        _ tensor: StoredTensor, _ packing: Packing, _ kind: hub_matrix, bits: Int, rows: Int, columns: Int
    ) throws(AIError) -> WeightMatrix {
        let scales = try find(packing.scales)
        let zeros = try find(packing.stem + ".qzeros")
        guard tensor.type == zeros.type, scales.shape.count == 2, scales.shape[0] > 0,
            columns % scales.shape[0] == 0, scales.shape[1] == rows,
            zeros.shape == [scales.shape[0], rows * bits / 32], columns <= Int(UInt32.max)
        else {
            throw .malformed(
                path(tensor),
                "tensor \"\(tensor.name)\" has scales of \(scales.shape) and zeros of \(zeros.shape); the configuration says [\(rows), \(columns)]"
            )
        }
        let group = columns / scales.shape[0]
        guard rows % 8 == 0, group % 32 == 0, let format = WeightFormats.named[scales.type],
            [HUB_F16, HUB_BF16].contains(format)
        else {
            throw .unsupported(
                path(tensor),
                "\(rows) outputs with \(scales.type) scales by groups of \(group) (tensor \"\(tensor.name)\") cannot be run yet"
            )
        }
        var layout = kind
        layout.weights = UnsafeRawPointer(try address(tensor))
        layout.rows = rows
        layout.columns = columns
        layout.transposed = true
        layout.bits = UInt8(bits)
        layout.group = UInt32(group)
        layout.scale_format = format
        layout.scales = UnsafeRawPointer(try address(scales))
        layout.group_stride = rows * 2
        layout.zeros = UnsafeRawPointer(try address(zeros))
        layout.zero_stride = rows * bits / 8
        return matrix(layout, of: [tensor, scales, zeros])
    }

    /// `g_idx` is the group of each column.
    private func checkOrder(_ packing: Packing, columns: Int, group: Int) throws(AIError) {
        let name = packing.stem + ".g_idx"
        guard has(name) else { return }
        let order = try find(name)
        try check(order, [columns])
        guard order.type == TensorDataType.i32.rawValue else {
            throw .malformed(path(order), "tensor \"\(name)\" is of the type \(order.type)")
        }
        let groups = try address(order)
        for column in 0..<columns {
            let found = groups.loadUnaligned(fromByteOffset: 4 * column, as: Int32.self)
            guard Int(found) == column / group else {
                throw .unsupported(
                    path(order), "columns in an order of their own (tensor \"\(name)\") cannot be run yet")
            }
        }
    }
}
