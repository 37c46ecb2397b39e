import CKernels
import HubCore
import ModelFormats

extension TensorSource {
    /// Scales as the kernels read them.
    func scaleFormat(_ scales: StoredTensor) throws(AIError) -> hub_format {
        guard let format = WeightFormats.named[scales.type], WeightFormats.isFloat(format) else {
            throw .unsupported(
                path(scales), "scales of \(scales.type) (tensor \"\(scales.name)\") cannot be run yet")
        }
        return format
    }

    /// The only number of a tensor.
    func number(_ name: String) throws(AIError) -> Float {
        let tensor = try list.find(name)
        guard tensor.elementCount == 1 else {
            throw .malformed(path(tensor), "tensor \"\(name)\" has the shape \(tensor.shape), not one number")
        }
        return try numbers(name, tensor.shape).array[0]
    }

    /// Whether rows are whole words or blocks of so many columns.
    func check(_ tensor: StoredTensor, columns: Int, areMultipleOf size: Int) throws(AIError) {
        guard columns > 0, columns % size == 0, columns <= Int(UInt32.max) else {
            throw .unsupported(
                path(tensor),
                "packed rows of \(columns), which is no multiple of \(size) (tensor \"\(tensor.name)\"), cannot be run yet"
            )
        }
    }

    /// FP8: `weight_scale` for all or for each row, `weight_scale_inv` (which multiplies too) for blocks, whose size is in
    /// the configuration, for the last ones may be smaller.
    func float8(_ tensor: StoredTensor, _ packing: Packing, _ stack: Int, rows: Int, columns: Int)
        throws(AIError) -> WeightMatrix
    {
        try check(tensor, [rows, columns])
        let scales = try list.find(packing.scales, stack: stack)
        let block = try block(scales, rows: rows, columns: columns)
        let format = try scaleFormat(scales)
        let element = Int(hub_info(format).bytes)
        let groups = (columns + block.columns - 1) / block.columns
        var layout = hub_matrix()
        layout.weights = UnsafeRawPointer(try address(tensor))
        layout.stride = columns
        layout.rows = rows
        layout.columns = columns
        layout.format = HUB_FP8
        layout.group = UInt32(block.columns)
        layout.scale_format = format
        layout.scales = UnsafeRawPointer(try address(scales))
        layout.scale_rows = block.rows
        layout.scale_stride = groups * element
        layout.group_stride = element
        return matrix(layout, of: [tensor, scales])
    }

    /// The rows and columns that share a scale.
    private func block(_ scales: StoredTensor, rows: Int, columns: Int) throws(AIError) -> (rows: Int, columns: Int)
    {
        guard rows > 0, columns > 0, columns <= Int(UInt32.max) else {
            throw .malformed(path(scales), "tensor \"\(scales.name)\" scales a matrix of [\(rows), \(columns)]")
        }
        if scales.elementCount == 1 { return (rows, columns) }
        // ModelOpt has two more dimensions of 1.
        let isWide = scales.shape.count == 4 && scales.shape[1] == 1 && scales.shape[3] == 1
        let shape =
            isWide
            ? [scales.shape[0], scales.shape[2]] : scales.shape.count == 1 ? scales.shape + [1] : scales.shape
        func fits(_ block: [Int]) -> Bool {
            block.count == 2 && block.allSatisfy { $0 > 0 }
                && shape == [(rows + block[0] - 1) / block[0], (columns + block[1] - 1) / block[1]]
        }
        var found = quantization?.blockSize ?? []
        let isWhole =
            shape.count == 2 && shape.allSatisfy { $0 > 0 } && rows % shape[0] == 0 && columns % shape[1] == 0
        if isWhole, found.isEmpty || shape == [rows, 1] { found = [rows / shape[0], columns / shape[1]] }
        guard fits(found) else {
            throw .malformed(
                path(scales),
                "tensor \"\(scales.name)\" has the shape \(scales.shape), which does not fit weights of [\(rows), \(columns)]"
            )
        }
        guard found[1] % 32 == 0 || found[1] >= columns else {
            throw .unsupported(
                path(scales), "scales of \(found[1]) columns (tensor \"\(scales.name)\") cannot be run yet")
        }
        return (found[0], min(found[1], columns))
    }
}
