import CKernels
import HubCore
import ModelFormats

/// HQQ, as its linear layers and transformers save them: `W_q`, `scale` and `zero`, and settings as tensors of their own.
/// https://github.com/mobiusml/hqq (hqq/core/quantize.py, bitpack.py)
extension TensorSource {
    /// A matrix is cut into lines: groups of `rows * columns / scales` weights one after the other (axis 1), or as many lines as
    /// a group has weights, whose columns are the groups (axis 0). A byte holds codes of lines that are far apart; a word those
    /// of ten where they have 3 bits.
    func hqq(_ tensor: StoredTensor, _ packing: Packing, rows: Int, columns: Int) throws(AIError) -> WeightMatrix {
        let (scales, zeros) = (try list.find(packing.scales), try list.find(packing.stem + ".zero"))
        let bits = try hqqBits(packing)
        let axis = try setting(packing.stem + ".axis") ?? (scales.shape.last == 1 ? 1 : 0)
        let groups = scales.elementCount
        guard zeros.elementCount == groups, zeros.type == scales.type else {
            throw .malformed(
                path(zeros),
                "tensor \"\(zeros.name)\" has the shape \(zeros.shape) and the type \(zeros.type); the scales are \(scales.shape) of \(scales.type)"
            )
        }
        // Scales stand along the axis that groups do not.
        guard axis == 0 || axis == 1, scales.shape == (axis == 1 ? [groups, 1] : [1, groups]), rows > 0,
            columns > 0, groups > 0, rows * columns % groups == 0,
            groups <= Int(UInt32.max), rows * columns / groups <= Int(UInt32.max)
        else { throw misfit(tensor, scales, rows: rows, columns: columns) }
        let group = rows * columns / groups
        let (lines, width) = axis == 1 ? (groups, group) : (group, groups)
        let (places, size) = bits == 3 ? (10, 4) : (8 / bits, 1)
        let left = (lines + places - 1) / places
        // Only words of 3 bits are filled up. Bytes may be called floats (`view_as_float`).
        guard bits == 3 || lines % places == 0, tensor.byteCount == left * width * size else {
            throw misfit(tensor, scales, rows: rows, columns: columns)
        }
        let format = try scaleFormat(scales)
        let element = Int(hub_info(format).bytes)
        var layout = hub_matrix()
        layout.format = HUB_HQQ
        layout.weights = UnsafeRawPointer(try address(tensor))
        (layout.rows, layout.columns) = (rows, columns)
        (layout.bits, layout.group, layout.scale_rows) = (UInt8(bits), UInt32(width), left)
        layout.scale_format = format
        layout.scales = UnsafeRawPointer(try address(scales))
        layout.zeros = UnsafeRawPointer(try address(zeros))
        if axis == 1 { layout.scale_stride = element } else { layout.group_stride = element }
        return matrix(layout, of: [tensor, scales, zeros])
    }

    private func misfit(_ tensor: StoredTensor, _ scales: StoredTensor, rows: Int, columns: Int) -> AIError {
        .malformed(
            path(tensor),
            "tensor \"\(tensor.name)\" of \(tensor.byteCount) bytes and scales of \(scales.shape) do not fit weights of [\(rows), \(columns)]"
        )
    }

    /// The bits of a stored code, which may be more than those that were asked for: 5 and 6 are stored as 8, 1.58 as 2.
    private func hqqBits(_ packing: Packing) throws(AIError) -> Int {
        let name = packing.stem + ".packing"
        guard list.has(name) else { return try checkedBits(setting(packing.stem + ".nbits") ?? 4, packing) }
        let tensor = try list.find(name)
        let text = String(
            decoding: UnsafeRawBufferPointer(start: try address(tensor), count: tensor.byteCount), as: UTF8.self)
        guard let bits = ["8bit_u8": 8, "4bit_u8": 4, "3bit_32": 3, "2bit_u8": 2, "1bit_u8": 1][text] else {
            throw .unsupported(
                path(tensor), "HQQ's packing \"\(text.printable)\" (tensor \"\(name)\") cannot be run yet")
        }
        return bits
    }

    private func checkedBits(_ bits: Int, _ packing: Packing) throws(AIError) -> Int {
        guard [1, 2, 3, 4, 8].contains(bits) else {
            throw .unsupported(path, "\(bits)-bit weights of HQQ (tensor \"\(packing.stem)\") cannot be run yet")
        }
        return bits
    }

    /// An integer that is a tensor; nil if there is none.
    private func setting(_ name: String) throws(AIError) -> Int? {
        guard list.has(name) else { return nil }
        let tensor = try list.find(name)
        let start = try address(tensor)
        switch (tensor.type, tensor.elementCount) {
        case (TensorDataType.i32.rawValue, 1): return Int(start.loadUnaligned(as: Int32.self))
        case (TensorDataType.i64.rawValue, 1): return Int(start.loadUnaligned(as: Int64.self))
        case (TensorDataType.u8.rawValue, 1): return Int(start.load(as: UInt8.self))
        default:
            throw .malformed(
                path(tensor), "tensor \"\(name)\" is of \(tensor.shape) and \(tensor.type), not one integer")
        }
    }
}
