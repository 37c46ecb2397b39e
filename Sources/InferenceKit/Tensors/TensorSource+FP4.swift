import CKernels
import HubCore
import ModelFormats

/// Two e2m1 numbers in a byte, with scales for groups of columns.
extension TensorSource {
    /// NVFP4: e4m3 scales of `[rows, columns / 16]`, and a number for all, by which ModelOpt multiplies (`weight_scale_2`) and
    /// compressed-tensors divides (`weight_global_scale`).
    func nvfp4(_ tensor: StoredTensor, _ packing: Packing, rows: Int, columns: Int) throws(AIError) -> WeightMatrix
    {
        try check(tensor, columns: columns, areMultipleOf: 16)
        try check(tensor, [rows, columns / 2])
        let scales = try list.find(packing.scales)
        try check(scales, [rows, columns / 16])
        try check(scales, are: [.u8, .f8E4M3])
        let (factor, divisor) = (packing.stem + ".weight_scale_2", packing.stem + ".weight_global_scale")
        var layout = hub_matrix()
        layout.format = HUB_NVFP4_APART
        layout.group = 16
        layout.factor = list.has(factor) ? try number(factor) : 1 / (try number(divisor))
        guard layout.factor.isFinite else {
            throw .malformed(path(tensor), "the scale of tensor \"\(tensor.name)\" is not a finite number")
        }
        return try pairs(tensor, scales, layout, rows: rows, columns: columns)
    }

    /// NVFP4 of GGUF, where llama.cpp's converter puts ModelOpt's `weight_scale_2` beside the weights: a float32, or one for each
    /// expert. https://github.com/ggml-org/llama.cpp/blob/master/src/llama-model.cpp
    func nvfp4Blocks(_ tensor: StoredTensor, _ packing: Packing, _ stack: Int, rows: Int, columns: Int)
        throws(AIError) -> WeightMatrix
    {
        try check(tensor, [rows, columns])
        var layout = try blocks(tensor, HUB_NVFP4, rows: rows, columns: columns)
        // The converter leaves out a scale of 1.
        guard list.has(packing.scales) else { return matrix(layout, of: [tensor]) }
        let scales = try list.find(packing.scales)
        guard scales.type == TensorDataType.f32.rawValue, [1, stack].contains(scales.elementCount) else {
            throw .malformed(
                path(scales),
                "tensor \"\(scales.name)\" has the shape \(scales.shape) and the type \(scales.type), not \(stack) float32 numbers"
            )
        }
        let start = try address(scales)
        for index in 0..<scales.elementCount
        where !start.loadUnaligned(fromByteOffset: 4 * index, as: Float.self).isFinite {
            throw .malformed(path(tensor), "the scale of tensor \"\(tensor.name)\" is not a finite number")
        }
        layout.scales = start
        layout.scale_rows = rows / scales.elementCount
        return try matrix(layout, of: [tensor, scales]).rows(0..<rows)
    }

    /// MXFP4: exponents of `[rows, columns / 32]`.
    func mxfp4(_ tensor: StoredTensor, _ packing: Packing, rows: Int, columns: Int) throws(AIError) -> WeightMatrix
    {
        try check(tensor, columns: columns, areMultipleOf: 32)
        try check(tensor, [rows, columns / 2])
        let scales = try list.find(packing.scales)
        try check(scales, [rows, columns / 32])
        try check(scales, are: [.u8, .f8E8M0])
        var layout = hub_matrix()
        layout.format = HUB_MXFP4_APART
        return try pairs(tensor, scales, layout, rows: rows, columns: columns)
    }

    private func check(_ scales: StoredTensor, are types: [TensorDataType]) throws(AIError) {
        guard types.contains(where: { $0.rawValue == scales.type }) else {
            throw .unsupported(
                path(scales), "scales of \(scales.type) (tensor \"\(scales.name)\") cannot be run yet")
        }
    }

    private func pairs(
        _ tensor: StoredTensor, _ scales: StoredTensor, _ kind: hub_matrix, rows: Int, columns: Int
    ) throws(AIError) -> WeightMatrix {
        var layout = kind
        layout.weights = UnsafeRawPointer(try address(tensor))
        layout.scales = UnsafeRawPointer(try address(scales))
        layout.stride = columns / 2
        layout.rows = rows
        layout.columns = columns
        return matrix(layout, of: [tensor, scales])
    }
}
