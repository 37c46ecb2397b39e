import CKernels
import HubCore
import ModelFormats

/// Integers of compressed-tensors, and LLM.int8's (https://arxiv.org/abs/2208.07339).
extension TensorSource {
    /// `pack-quantized`: words along the columns, less the middle of their range; scales of `[rows, groups]`; zeros, if there
    /// are any, in words along the rows, or as bytes in older files.
    /// https://github.com/vllm-project/compressed-tensors (pack_quantized.py)
    func integers(_ tensor: StoredTensor, _ packing: Packing, rows: Int, columns: Int) throws(AIError)
        -> WeightMatrix
    {
        guard tensor.shape.count == 2, columns > 0, tensor.shape[1] * 32 % columns == 0 else {
            throw .malformed(
                path(tensor),
                "tensor \"\(tensor.name)\" has the shape \(tensor.shape); the configuration says [\(rows), \(columns)]"
            )
        }
        let bits = tensor.shape[1] * 32 / columns
        guard [2, 4, 8].contains(bits) else {
            throw .unsupported(path(tensor), "\(bits)-bit words (tensor \"\(tensor.name)\") cannot be run yet")
        }
        try check(tensor, columns: columns, areMultipleOf: 32 / bits)
        try check(tensor, [rows, columns * bits / 32])
        var (layout, members) = try scaled(tensor, packing, rows: rows, columns: columns)
        layout.format = HUB_MLX
        layout.bits = UInt8(bits)
        layout.stride = columns * bits / 8
        let groups = columns / Int(layout.group)
        if let order = try order(packing, columns: columns, group: Int(layout.group)) {
            layout.order = UnsafeRawPointer(try address(order))
            members.append(order)
        }
        let name = packing.stem + ".weight_zero_point"
        guard list.has(name) else { return matrix(layout, of: members) }
        let zeros = try list.find(name)
        members.append(zeros)
        if zeros.type == TensorDataType.i32.rawValue {
            try check(zeros, [(rows * bits + 31) / 32, groups])
            layout.zero_stride = groups * 4
        } else if zeros.type == TensorDataType.i8.rawValue {
            try check(zeros, [rows, groups])
        } else {
            throw .unsupported(path(zeros), "\(zeros.type) zeros (tensor \"\(name)\") cannot be run yet")
        }
        layout.zeros = UnsafeRawPointer(try address(zeros))
        return matrix(layout, of: members)
    }

    /// `int-quantized`: signed bytes with `weight_scale` for each row or group; bitsandbytes' with `SCB`, the largest number
    /// of each row.
    func int8(_ tensor: StoredTensor, _ packing: Packing, rows: Int, columns: Int) throws(AIError) -> WeightMatrix {
        try check(tensor, columns: columns, areMultipleOf: 1)
        try check(tensor, [rows, columns])
        var (layout, members) = try scaled(tensor, packing, rows: rows, columns: columns)
        layout.format = HUB_INT8
        layout.stride = columns
        layout.factor = packing.scales.hasSuffix(".SCB") ? 1 / 127 : 1
        let form = packing.stem + ".weight_format"
        if list.has(form) {
            let stored = try list.find(form)
            guard stored.byteCount == 1, try address(stored).load(as: UInt8.self) == 0 else {
                throw .unsupported(path(stored), "weights in the order of tensor \"\(form)\" cannot be run yet")
            }
        }
        if let order = try order(packing, columns: columns, group: Int(layout.group)) {
            throw .unsupported(
                path(order), "columns in an order of their own (tensor \"\(order.name)\") cannot be run yet")
        }
        let zeros = packing.stem + ".weight_zero_point"
        if list.has(zeros) { try checkZeros(try list.find(zeros)) }
        return matrix(layout, of: members)
    }

    /// With scales of `[rows]` or `[rows, groups]`, or one for all.
    private func scaled(_ tensor: StoredTensor, _ packing: Packing, rows: Int, columns: Int) throws(AIError) -> (
        hub_matrix, [StoredTensor]
    ) {
        let scales = try list.find(packing.scales)
        let shape = scales.shape.count == 1 ? scales.shape + [1] : scales.shape
        guard shape.count == 2, shape[0] == rows, shape[1] > 0, columns % shape[1] == 0 else {
            throw .malformed(
                path(scales),
                "tensor \"\(scales.name)\" has the shape \(scales.shape), which does not fit weights of [\(rows), \(columns)]"
            )
        }
        let group = columns / shape[1]
        var layout = hub_matrix()
        layout.weights = UnsafeRawPointer(try address(tensor))
        layout.rows = rows
        layout.columns = columns
        layout.group = UInt32(group)
        layout.scale_format = try scaleFormat(scales)
        layout.scales = UnsafeRawPointer(try address(scales))
        return (layout, [tensor, scales])
    }

    /// Zeros beside weights that need none.
    private func checkZeros(_ zeros: StoredTensor) throws(AIError) {
        let bytes = UnsafeRawBufferPointer(start: try address(zeros), count: zeros.byteCount)
        guard bytes.allSatisfy({ $0 == 0 }) else {
            throw .unsupported(path(zeros), "\(zeros.type) zeros (tensor \"\(zeros.name)\") cannot be run yet")
        }
    }

    /// `weight_g_idx`, the group of each column, where those do not follow each other; -1 where nothing was ordered.
    private func order(_ packing: Packing, columns: Int, group: Int) throws(AIError) -> StoredTensor? {
        let name = packing.stem + ".weight_g_idx"
        guard list.has(name) else { return nil }
        let order = try list.find(name)
        if try groups(order, columns: columns).allSatisfy({ $0 == -1 }) { return nil }
        return try isUsual(order, columns: columns, group: group, count: columns / group) ? nil : order
    }
}
