/// Puts a GGUF file together, right or wrong.
package struct GGUFBytes {
    package var version: UInt32 = 3
    package var pairs: [[UInt8]] = []
    package var tensors: [[UInt8]] = []
    package var data: [UInt8] = []
    package var alignment = 32

    package init(pairs: [[UInt8]] = [], tensors: [[UInt8]] = [], data: [UInt8] = []) {
        (self.pairs, self.tensors, self.data) = (pairs, tensors, data)
    }

    /// A sound file of tensors in F16 whose numbers differ.
    ///
    /// - Parameters:
    ///   - counts: metadata by keys without the architecture: `block_count`.
    ///   - lists: the same, with a number for each layer.
    ///   - shapes: as Python counts them.
    package init(
        _ architecture: String, _ counts: [String: Int], lists: [String: [Int]] = [:],
        tensors shapes: [(String, [Int])] = []
    ) {
        pairs = [Self.pair("general.architecture", 8, Self.text(architecture))]
        pairs += counts.sorted { $0.key < $1.key }.map {
            Self.pair("\(architecture).\($0.key)", 4, Self.little(UInt32($0.value)))
        }
        pairs += lists.sorted { $0.key < $1.key }.map {
            Self.pair(
                "\(architecture).\($0.key)", 9,
                Self.little(UInt32(4)) + Self.little(UInt64($0.value.count))
                    + $0.value.flatMap { Self.little(UInt32($0)) })
        }
        for (name, shape) in shapes {
            tensors.append(Self.tensor(name, shape.reversed().map(UInt64.init), 1, offset: UInt64(data.count)))
            for number in 0..<shape.reduce(1, *) { data += [UInt8(number % 251), 0x3C] }
            while data.count % alignment != 0 { data.append(0) }
        }
    }

    /// A file with one more number in its metadata.
    package static func adding(_ key: String, _ number: UInt32, to file: [UInt8]) -> [UInt8] {
        adding([pair(key, 4, little(number))], to: file)
    }

    /// A file with more of ``pair(_:_:_:)`` in its metadata.
    package static func adding(_ added: [[UInt8]], to file: [UInt8]) -> [UInt8] {
        var pairs = added.flatMap(\.self)
        // What follows stays where it is aligned: a pair of any other name fills up.
        let filler = pair("filler", 8, text(""))
        pairs += pair("filler", 8, text(String(repeating: " ", count: 31 - (pairs.count + filler.count + 31) % 32)))
        let count = file[16..<24].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return file[..<16] + little(count + UInt64(added.count) + 1) + pairs + file[24...]
    }

    /// A file with another number in the place of one in its metadata, which must be there.
    package static func setting(_ key: String, _ number: UInt32, in file: [UInt8]) -> [UInt8] {
        guard let place = file.firstRange(of: pair(key, 4, [])) else { fatalError("no \(key)") }
        return file[..<place.upperBound] + little(number) + file[(place.upperBound + 4)...]
    }

    package static func little(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian, Array.init)
    }
    package static func text(_ text: String) -> [UInt8] { little(UInt64(text.utf8.count)) + Array(text.utf8) }
    package static func pair(_ key: String, _ type: UInt32, _ value: [UInt8]) -> [UInt8] {
        text(key) + little(type) + value
    }
    package static func tensor(_ name: String, _ dimensions: [UInt64], _ type: UInt32, offset: UInt64 = 0)
        -> [UInt8]
    {
        text(name) + little(UInt32(dimensions.count)) + dimensions.flatMap(little) + little(type) + little(offset)
    }

    package var bytes: [UInt8] {
        var out = Array("GGUF".utf8) + Self.little(version) + Self.little(UInt64(tensors.count))
        out += Self.little(UInt64(pairs.count)) + pairs.joined() + tensors.joined()
        while out.count % alignment != 0 { out.append(0) }
        return out + data
    }
}
