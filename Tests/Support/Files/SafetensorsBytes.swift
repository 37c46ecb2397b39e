import HubCore

/// Puts a safetensors file together.
package enum SafetensorsBytes {
    private static let bits = ["BF16": 16, "F16": 16, "F32": 32, "F8_E4M3": 8, "U8": 8, "I8": 8, "I32": 32]

    /// A file of tensors one behind the other, whose bytes count up to a value that no type takes for none.
    ///
    /// - Parameter tensors: names, types and shapes.
    package static func file(_ tensors: [(String, String, [Int])]) -> [UInt8] {
        var entries: [(key: String, value: JSON)] = []
        var at = 0
        for (name, type, shape) in tensors {
            let end = at + shape.reduce(1, *) * bits[type]! / 8
            entries.append(
                (
                    name,
                    .object([
                        "dtype": .string(type), "shape": .array(shape.map { .int(Int64($0)) }),
                        "data_offsets": .array([.int(Int64(at)), .int(Int64(end))]),
                    ])
                ))
            at = end
        }
        let header = Array(JSON.object(JSONObject(entries)).text().utf8)
        let length = (0..<8).map { UInt8(truncatingIfNeeded: header.count >> (8 * $0)) }
        return length + header + (0..<at).map { UInt8($0 % 61) }
    }
}
