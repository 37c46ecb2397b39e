import HubCore

/// Puts a safetensors file together.
package enum SafetensorsBytes {
    /// A tensor with its numbers.
    package struct Tensor: Sendable {
        package var name: String
        package var type: String
        package var shape: [Int]
        package var bytes: [UInt8]

        package init(_ name: String, _ type: String, _ shape: [Int], _ bytes: [UInt8]) {
            (self.name, self.type, self.shape, self.bytes) = (name, type, shape, bytes)
        }
    }

    private static let bits = ["BF16": 16, "F16": 16, "F32": 32, "F8_E4M3": 8, "U8": 8, "I8": 8, "I32": 32]

    /// A file of tensors one behind the other, whose bytes count up to a value that no type takes for none.
    ///
    /// - Parameter tensors: names, types and shapes.
    package static func file(_ tensors: [(String, String, [Int])]) -> [UInt8] {
        var at = 0
        return file(
            tensors.map { name, type, shape in
                let count = shape.reduce(1, *) * bits[type]! / 8
                at += count
                return Tensor(name, type, shape, (at - count..<at).map { UInt8($0 % 61) })
            })
    }

    /// A file of tensors one behind the other.
    package static func file(_ tensors: [Tensor]) -> [UInt8] {
        var entries: [(key: String, value: JSON)] = []
        var at = 0
        for tensor in tensors {
            let end = at + tensor.bytes.count
            entries.append(
                (
                    tensor.name,
                    .object([
                        "dtype": .string(tensor.type), "shape": .array(tensor.shape.map { .int(Int64($0)) }),
                        "data_offsets": .array([.int(Int64(at)), .int(Int64(end))]),
                    ])
                ))
            at = end
        }
        let header = Array(JSON.object(JSONObject(entries)).text().utf8)
        let length = (0..<8).map { UInt8(truncatingIfNeeded: header.count >> (8 * $0)) }
        return length + header + tensors.flatMap(\.bytes)
    }
}
