import HubCore

/// Puts a PyTorch checkpoint together, as torch.save writes it.
package struct TorchBytes {
    package struct Tensor {
        package var name: String
        /// `FloatStorage`
        package var kind: String
        package var shape: [Int]
        /// Of its storage; tensors with the same key share it.
        package var bytes: [UInt8]
        /// nil for rows one after another.
        package var strides: [Int]?
        package var offset = 0
        /// The storage's key; nil for one of its own.
        package var key: String?

        package init(_ name: String, _ kind: String, _ shape: [Int], _ bytes: [UInt8]) {
            (self.name, self.kind, self.shape, self.bytes) = (name, kind, shape, bytes)
        }

        fileprivate var elementBytes: Int {
            ["FloatStorage": 4, "HalfStorage": 2, "BFloat16Storage": 2, "LongStorage": 8, "DoubleStorage": 8][kind]
                ?? 1
        }
    }

    package var tensors: [Tensor]
    /// Opcodes of further items of the dictionary: keys and values.
    package var others: [UInt8] = []
    /// Opcodes before the dictionary.
    package var start: [UInt8] = []
    /// What the storages of an archive begin at multiples of.
    package var alignment = 64
    /// An archive's folder.
    package var folder = "archive"
    /// Further files of an archive.
    package var files: [(name: String, bytes: [UInt8])] = []

    package init(_ tensors: [Tensor]) { self.tensors = tensors }

    // MARK: Formats

    /// The format since PyTorch 1.6: a ZIP archive.
    package var archive: [UInt8] {
        var zip = ZipBytes(alignment: alignment)
        zip.add("\(folder)/data.pkl", object(isLegacy: false))
        for (key, tensor) in storages { zip.add("\(folder)/data/\(key)", tensor.bytes) }
        for (name, bytes) in files { zip.add("\(folder)/\(name)", bytes) }
        zip.add("\(folder)/version", Array("3\n".utf8))
        return zip.file
    }

    /// The format before that: pickles, then storages.
    package var legacy: [UInt8] {
        let magic: [UInt8] = [0x80, 2, 0x8A, 10, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19, 0x2E]
        let version: [UInt8] = [0x80, 2, 0x4D, 0xE9, 0x03, 0x2E]
        let system: [UInt8] = [0x80, 2, 0x7D] + Self.text("little_endian") + [0x88, 0x73, 0x2E]
        let keys: [UInt8] = [0x80, 2, 0x5D, 0x28] + storages.flatMap { Self.text($0.key) } + [0x65, 0x2E]
        let content = storages.flatMap { _, tensor in
            Self.little(tensor.bytes.count / tensor.elementBytes, 8) + tensor.bytes
        }
        return magic + version + system + object(isLegacy: true) + keys + content
    }

    /// The tensors with a storage of their own, by its key.
    private var storages: [(key: String, tensor: Tensor)] {
        var seen: Set<String> = []
        return tensors.enumerated().map { ($1.key ?? "\($0)", $1) }.filter { seen.insert($0.0).inserted }
    }

    // MARK: The pickle

    private func object(isLegacy: Bool) -> [UInt8] {
        var out: [UInt8] = [0x80, 2] + start + Self.dictionary + [0x28]
        for (index, tensor) in tensors.enumerated() {
            out += Self.text(tensor.name) + Self.tensor(tensor, key: tensor.key ?? "\(index)", isLegacy: isLegacy)
        }
        return out + others + [0x75, 0x2E]
    }

    private static let dictionary = Array("ccollections\nOrderedDict\n)R".utf8)

    /// The opcodes of a tensor.
    package static func tensor(_ tensor: Tensor, key: String, isLegacy: Bool) -> [UInt8] {
        let count = tensor.bytes.count / tensor.elementBytes
        var out = Array("ctorch._utils\n_rebuild_tensor_v2\n((".utf8) + text("storage")
        out += Array("ctorch\n\(tensor.kind)\n".utf8) + text(key) + text("cpu") + number(count)
        out += (isLegacy ? [0x4E] : []) + Array("tQ".utf8) + number(tensor.offset)
        var strides: [Int] = []
        for size in tensor.shape.reversed() { strides.insert((strides.first ?? 1) * size, at: 0) }
        for group in [tensor.shape, tensor.strides ?? Array(strides.dropFirst() + [1])] {
            out += [0x28] + (tensor.shape.isEmpty ? [] : group.flatMap(number)) + [0x74]
        }
        return out + [0x89] + dictionary + Array("tR".utf8)
    }

    package static func text(_ text: String) -> [UInt8] { [0x58] + little(text.utf8.count, 4) + Array(text.utf8) }
    package static func number(_ value: Int) -> [UInt8] { [0x4A] + little(value, 4) }
    fileprivate static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}

/// Puts a ZIP archive together, its files stored.
private struct ZipBytes {
    let alignment: Int
    private var body: [UInt8] = []
    private var directory: [UInt8] = []
    private var count = 0

    init(alignment: Int) { self.alignment = alignment }

    mutating func add(_ name: String, _ bytes: [UInt8]) {
        func field(_ value: Int, _ width: Int) -> [UInt8] { TorchBytes.little(value, width) }
        let place = body.count
        // An extra field pads the header, as PyTorch's writer does.
        let plain = place + 30 + name.utf8.count + 4
        let padding = (alignment - plain % alignment) % alignment
        // No checksum: readers that map the content do not read all of it.
        let common =
            field(0, 2) + field(0, 2) + field(0, 4) + field(0, 4) + field(bytes.count, 4) + field(bytes.count, 4)
        body += field(0x0403_4B50, 4) + field(10, 2) + common + field(name.utf8.count, 2) + field(padding + 4, 2)
        body +=
            Array(name.utf8) + Array("FB".utf8) + field(padding, 2) + [UInt8](repeating: 0x5A, count: padding)
            + bytes
        directory += field(0x0201_4B50, 4) + field(0, 2) + field(10, 2) + common + field(name.utf8.count, 2)
        directory += field(0, 2) + field(0, 2) + field(0, 2) + field(0, 2) + field(0, 4) + field(place, 4)
        directory += Array(name.utf8)
        count += 1
    }

    var file: [UInt8] {
        func field(_ value: Int, _ width: Int) -> [UInt8] { TorchBytes.little(value, width) }
        let end =
            field(0x0605_4B50, 4) + field(0, 4) + field(count, 2) + field(count, 2) + field(directory.count, 4)
        return body + directory + end + field(body.count, 4) + field(0, 2)
    }
}
