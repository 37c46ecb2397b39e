import CKernels
import HubCore
import ModelFormats

/// NF4 and FP4 of bitsandbytes (https://arxiv.org/abs/2305.14314): `weight` is a list of bytes, `weight.absmax` the scales of
/// groups of weights, which may be codes of numbers themselves (`weight.nested_absmax`).
/// https://github.com/bitsandbytes-foundation/bitsandbytes (functional.py, `QuantState`)
extension TensorSource {
    func table4(_ tensor: StoredTensor, _ packing: Packing, rows: Int, columns: Int) throws(AIError) -> WeightMatrix
    {
        let weight = packing.stem + ".weight"
        let states = packing.companions.filter { $0.contains(".quant_state.") }
        guard states.count == 1 else {
            throw .malformed(path(tensor), "tensor \"\(weight).quant_state\" is missing")
        }
        let state = try state(states[0])
        let shape = state["shape"]?.array?.compactMap { $0.int.flatMap { Int(exactly: $0) } }
        guard shape == [rows, columns], tensor.byteCount == rows * columns / 2 else {
            throw .malformed(
                path(tensor),
                "tensor \"\(weight)\" holds \(shape.map { "\($0)" } ?? "no shape"); the configuration says [\(rows), \(columns)]"
            )
        }
        try check(tensor, columns: columns, areMultipleOf: 2)
        let scales = try list.find(packing.scales)
        let table = try list.find(weight + ".quant_map")
        try check(table, [16])
        let group = try size(state, "blocksize", states[0])
        let count = (rows * columns + group - 1) / group
        try check(scales, [count])
        var layout = hub_matrix()
        layout.format = HUB_TABLE4
        layout.weights = UnsafeRawPointer(try address(tensor))
        layout.stride = columns / 2
        layout.rows = rows
        layout.columns = columns
        layout.group = UInt32(group)
        layout.scales = UnsafeRawPointer(try address(scales))
        layout.table = UnsafeRawPointer(try address(table))
        var members = [tensor, scales, table]
        var floats = [table]
        if list.has(weight + ".nested_absmax") {
            let (nested, numbers) = (
                try list.find(weight + ".nested_absmax"), try list.find(weight + ".nested_quant_map")
            )
            let each = try size(state, "nested_blocksize", states[0])
            try check(nested, [(count + each - 1) / each])
            try check(numbers, [256])
            guard scales.type == TensorDataType.u8.rawValue, let offset = state["nested_offset"]?.double else {
                throw .malformed(path(scales), "tensor \"\(scales.name)\" is not packed as \"\(states[0])\" says")
            }
            layout.nested = UnsafeRawPointer(try address(nested))
            layout.nested_table = UnsafeRawPointer(try address(numbers))
            layout.nested_group = UInt32(each)
            layout.offset = Float(offset)
            members += [nested, numbers]
            floats += [nested, numbers]
        } else {
            floats.append(scales)
        }
        for tensor in floats where tensor.type != TensorDataType.f32.rawValue {
            throw .unsupported(path(tensor), "\(tensor.type) scales (tensor \"\(tensor.name)\") cannot be run yet")
        }
        return matrix(layout, of: members)
    }

    /// A tensor that is JSON.
    private func state(_ name: String) throws(AIError) -> JSON {
        let tensor = try list.find(name)
        let bytes = UnsafeRawBufferPointer(start: try address(tensor), count: tensor.byteCount)
        do { return try JSON.parse(Array(bytes)) } catch {
            throw .malformed(path(tensor), "tensor \"\(name)\" is not JSON")
        }
    }

    private func size(_ state: JSON, _ key: String, _ name: String) throws(AIError) -> Int {
        guard let size = state[key]?.int, (1...65536).contains(size) else {
            throw .malformed(path, "tensor \"\(name)\" has no usable \(key)")
        }
        return Int(size)
    }
}
