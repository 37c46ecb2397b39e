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
    /// its second format. `g_idx` is the group of each column.
    func gptq(_ tensor: StoredTensor, _ packing: Packing, rows: Int, columns: Int) throws(AIError) -> WeightMatrix {
        guard tensor.shape.count == 2, columns > 0, tensor.shape[0] * 32 % columns == 0 else {
            throw .malformed(path(tensor), "tensor \"\(tensor.name)\" has the shape \(tensor.shape)")
        }
        let bits = tensor.shape[0] * 32 / columns
        guard [2, 3, 4, 8].contains(bits) else {
            throw .unsupported(
                path(tensor), "\(bits)-bit weights of GPTQ (tensor \"\(tensor.name)\") cannot be run yet")
        }
        try check(tensor, [columns * bits / 32, rows])
        var layout = hub_matrix()
        layout.format = HUB_GPTQ
        layout.stride = rows * 4
        layout.zero_less = quantization?.format == "gptq_v2" ? 0 : 1
        return try turned(tensor, packing, layout, bits: bits, rows: rows, columns: columns)
    }

    private func turned(
        _ tensor: StoredTensor, _ packing: Packing, _ kind: hub_matrix, bits: Int, rows: Int, columns: Int
    ) throws(AIError) -> WeightMatrix {
        let scales = try list.find(packing.scales)
        let zeros = try list.find(packing.stem + ".qzeros")
        guard tensor.type == zeros.type, scales.shape.count == 2, scales.shape[0] > 0, scales.shape[1] == rows,
            zeros.shape == [scales.shape[0], rows * bits / 32], columns <= Int(UInt32.max),
            let group = group(of: columns, count: scales.shape[0])
        else {
            throw .malformed(
                path(tensor),
                "tensor \"\(tensor.name)\" has scales of \(scales.shape) and zeros of \(zeros.shape); the configuration says [\(rows), \(columns)]"
            )
        }
        guard rows % 8 == 0, rows * bits % 32 == 0, let format = WeightFormats.named[scales.type],
            WeightFormats.isFloat(format)
        else {
            throw .unsupported(
                path(tensor),
                "\(rows) outputs with \(scales.type) scales (tensor \"\(tensor.name)\") cannot be run yet")
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
        layout.group_stride = rows * Int(hub_info(format).bytes)
        layout.zeros = UnsafeRawPointer(try address(zeros))
        layout.zero_stride = rows * bits / 8
        let order = packing.stem + ".g_idx"
        guard list.has(order) else { return matrix(layout, of: [tensor, scales, zeros]) }
        let groups = try list.find(order)
        if try !isUsual(groups, columns: columns, group: group, count: scales.shape[0]) {
            layout.order = UnsafeRawPointer(try address(groups))
        }
        return matrix(layout, of: [tensor, scales, zeros, groups])
    }

    /// The columns of a group, of which the last may have fewer; nil if there is no such number.
    private func group(of columns: Int, count: Int) -> Int? {
        if let told = quantization?.groupSize, (columns + told - 1) / told == count { return min(told, columns) }
        return columns % count == 0 ? columns / count : nil
    }

    /// The group of each column, as a tensor lists them.
    func groups(_ order: StoredTensor, columns: Int) throws(AIError) -> [Int32] {
        try check(order, [columns])
        guard order.type == TensorDataType.i32.rawValue else {
            throw .malformed(path(order), "tensor \"\(order.name)\" is of the type \(order.type)")
        }
        let start = try address(order)
        return (0..<columns).map { start.loadUnaligned(fromByteOffset: 4 * $0, as: Int32.self) }
    }

    /// Whether groups follow each other; with `desc_act` they need not.
    func isUsual(_ order: StoredTensor, columns: Int, group: Int, count: Int) throws(AIError) -> Bool {
        let groups = try groups(order, columns: columns)
        if let wrong = groups.first(where: { !(0..<count).contains(Int($0)) }) {
            throw .malformed(path(order), "tensor \"\(order.name)\" names the group \(wrong) of \(count)")
        }
        return groups.indices.allSatisfy { Int(groups[$0]) == $0 / group }
    }
}
