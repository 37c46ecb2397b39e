import CKernels
import HubCore
import ModelFormats

extension TensorSource {
    /// MLX: weights in words of 32 bits, scales and biases by groups; the shapes say how many bits.
    func mlx(_ tensor: StoredTensor, _ packing: Packing, _ stack: Int, rows: Int, columns: Int) throws(AIError)
        -> WeightMatrix
    {
        let scales = try list.find(packing.scales, stack: stack)
        let biases = try list.find(packing.stem + ".biases", stack: stack)
        let path = path(tensor)
        guard tensor.shape.count == 2, tensor.shape[0] == rows, columns > 0, tensor.shape[1] * 32 % columns == 0,
            scales.shape.count == 2, scales.shape[0] == rows, scales.shape[1] > 0, columns % scales.shape[1] == 0,
            biases.shape == scales.shape, biases.type == scales.type
        else {
            throw .malformed(
                path,
                "tensor \"\(tensor.name)\" has the shape \(tensor.shape) and scales of \(scales.shape); the configuration says [\(rows), \(columns)]"
            )
        }
        let bits = tensor.shape[1] * 32 / columns
        let group = columns / scales.shape[1]
        guard QuantizationConfiguration.mlxBits.contains(bits), group % 8 == 0, group <= Int(UInt16.max),
            let format = WeightFormats.named[scales.type], WeightFormats.isFloat(format)
        else {
            throw .unsupported(
                path, "\(bits)-bit weights in groups of \(group) (tensor \"\(tensor.name)\") cannot be run yet")
        }
        var layout = hub_matrix()
        layout.weights = UnsafeRawPointer(try address(tensor))
        layout.stride = tensor.shape[1] * 4
        layout.rows = rows
        layout.columns = columns
        layout.format = HUB_MLX
        layout.bits = UInt8(bits)
        layout.group = UInt32(group)
        layout.scale_format = format
        layout.scales = UnsafeRawPointer(try address(scales))
        layout.biases = UnsafeRawPointer(try address(biases))
        return matrix(layout, of: [tensor, scales, biases])
    }
}
