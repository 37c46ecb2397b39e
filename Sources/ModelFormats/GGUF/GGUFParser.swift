import HubCore

/// Parses the header of a GGUF file. It is untrusted: each count is checked against the file's size before anything is
/// allocated.
struct GGUFParser {
    private var reader: ByteReader
    private let fileSize: Int64
    private let path: String

    /// llama.cpp's limit is the file's size; real keys and names are far shorter.
    private static let nameLimit: UInt64 = 65_535
    private static let mostDimensions = 4
    /// Maximum nesting of arrays; no model has any.
    private static let mostLevels = 4

    init(_ bytes: UnsafeRawBufferPointer, fileSize: Int64, path: String) {
        reader = ByteReader(bytes, at: GGUFPreamble.byteCount)
        (self.fileSize, self.path) = (fileSize, path)
    }

    private func fault(_ what: String) -> AIError { .malformed(path, what) }

    /// - Throws: ``ByteReader/Short`` if the bytes are not the whole header, else ``AIError``.
    mutating func header(_ preamble: GGUFPreamble) throws -> GGUFHeader {
        var metadata: [(key: String, value: GGUFValue)] = []
        var index: [String: Int] = [:]
        for _ in 0..<preamble.metadataCount {
            let key = try name("a metadata key")
            guard index.updateValue(metadata.count, forKey: key) == nil else {
                throw fault("it has the key \(key.printable) twice")
            }
            metadata.append((key, try value(key)))
        }
        let alignment = try alignment(index["general.alignment"].map { metadata[$0].value })
        let entries = try entries(preamble.tensorCount)
        let dataStart = try padded(reader.at, alignment)
        let tensors = try placed(entries, from: dataStart, alignment)
        return GGUFHeader(
            version: preamble.version, metadata: metadata, index: index, tensors: tensors, alignment: alignment,
            dataStart: dataStart)
    }

    // MARK: Metadata

    /// A count of items of at least `size` bytes each.
    private mutating func count(of size: Int, _ what: String) throws -> Int {
        let count: UInt64 = try reader.number()
        guard count <= UInt64(max(0, fileSize - Int64(reader.at))) / UInt64(max(1, size)) else {
            throw AIError.malformed(
                path, "\(what) claims \(count) elements; the file has \(fileSize) bytes",
                expected: "\(count) elements", found: "\(fileSize) bytes")
        }
        return Int(count)
    }

    private mutating func name(_ what: String) throws -> String {
        let length: UInt64 = try reader.number()
        guard (1...Self.nameLimit).contains(length) else { throw fault("\(what) has \(length) bytes") }
        guard let text = reader.bytes.text(try reader.skip(Int(length))) else {
            throw fault("\(what) is not UTF-8")
        }
        return text
    }

    private mutating func type(_ key: String) throws -> GGUFValueType {
        let number: UInt32 = try reader.number()
        guard let type = GGUFValueType(rawValue: number) else {
            throw fault("the key \(key.printable) has a value of unknown type \(number)")
        }
        return type
    }

    private mutating func value(_ key: String) throws -> GGUFValue {
        let type = try type(key)
        switch type {
        case .string:
            let length = try count(of: 1, "the key \(key.printable)")
            return .string(reader.bytes.repairedText(try reader.skip(length)))
        case .array: return .array(try array(key, level: 0))
        default:
            guard let value = try type.number(&reader) else {
                throw fault("the key \(key.printable) is neither true nor false")
            }
            return value
        }
    }

    private mutating func array(_ key: String, level: Int) throws -> GGUFArray {
        guard level < Self.mostLevels else { throw fault("the key \(key.printable) has arrays within arrays") }
        let element = try type(key)
        let what = "the array \(key.printable)"
        let count = try count(of: element.size ?? (element == .string ? 8 : 12), what)
        let start = reader.at
        switch element {
        case .string: for _ in 0..<count { try reader.skip(try self.count(of: 1, "a string of \(what)")) }
        case .array: for _ in 0..<count { _ = try array(key, level: level + 1) }
        default: try reader.skip(count * (element.size ?? 1))
        }
        return GGUFArray(element: element, count: count, byteRange: start..<reader.at, in: reader.bytes)
    }

    private func alignment(_ value: GGUFValue?) throws(AIError) -> Int {
        guard let value else { return 32 }
        guard case .unsigned(let number) = value, number.nonzeroBitCount == 1, number <= 1 << 30 else {
            throw fault("general.alignment is not a power of two")
        }
        return Int(number)
    }

    // MARK: Tensors

    private struct Entry {
        let name: String
        let type: GGUFTensorType
        let dimensions: [Int]
        let elements: Int
        let bytes: Int
        let offset: UInt64
    }

    private mutating func entries(_ count: Int) throws -> [Entry] {
        var entries: [Entry] = []
        var names: Set<String> = []
        for _ in 0..<count {
            let entry = try entry()
            guard names.insert(entry.name).inserted else {
                throw AIError.malformed(
                    path, "it has tensor \"\(entry.name)\" twice", tensor: entry.name, expected: "once",
                    found: "twice")
            }
            entries.append(entry)
        }
        return entries
    }

    private mutating func entry() throws -> Entry {
        let name = try name("the name of a tensor")
        func fault(_ what: String, expected: String? = nil, found: String? = nil) -> AIError {
            .malformed(path, "tensor \"\(name)\" \(what)", tensor: name, expected: expected, found: found)
        }
        let rank: UInt32 = try reader.number()
        guard rank <= Self.mostDimensions else {
            throw fault(
                "has \(rank) dimensions", expected: "at most \(Self.mostDimensions)", found: "\(rank)")
        }
        var dimensions: [Int] = []
        for _ in 0..<rank {
            let size: UInt64 = try reader.number()
            guard let size = Int(exactly: size) else { throw fault("has a dimension of \(size)") }
            dimensions.append(size)
        }
        guard let elements = TensorShape.elementCount(dimensions) else {
            throw fault(
                "has dimensions whose product overflows", expected: "at most \(Int.max) bytes",
                found: "\(dimensions)")
        }
        let number: UInt32 = try reader.number()
        guard let type = GGUFTensorType(number) else {
            throw AIError.unsupported(path, "tensor \"\(name)\" has the unknown type \(number)")
        }
        let row = dimensions.first ?? 1
        guard row % type.blockElements == 0 else {
            throw fault(
                "has rows of \(row), not a multiple of the block size \(type.blockElements) (\(type.name))",
                expected: "a multiple of \(type.blockElements)", found: "\(row)")
        }
        return Entry(
            name: name, type: type, dimensions: dimensions, elements: elements,
            bytes: elements / type.blockElements * type.blockBytes,
            offset: try reader.number())
    }

    private func padded(_ value: Int, _ alignment: Int) throws(AIError) -> Int {
        let (sum, overflow) = value.addingReportingOverflow(alignment - 1)
        guard !overflow else { throw fault("its tensors have more bytes than a file can have") }
        return sum & ~(alignment - 1)
    }

    /// The tensors with their byte ranges, in order.
    private func placed(_ entries: [Entry], from start: Int, _ alignment: Int) throws(AIError) -> [GGUFTensor] {
        var next = start
        var tensors: [GGUFTensor] = []
        tensors.reserveCapacity(entries.count)
        for entry in entries {
            guard entry.offset == UInt64(next - start) else {
                throw .malformed(
                    path,
                    "tensor \"\(entry.name)\" begins at byte \(entry.offset) of the data, not at \(next - start)",
                    tensor: entry.name, expected: "\(next - start)", found: "\(entry.offset)")
            }
            let (end, overflow) = next.addingReportingOverflow(entry.bytes)
            guard !overflow, Int64(end) <= fileSize else {
                throw .malformed(
                    path,
                    "tensor \"\(entry.name)\" goes past the end of the file at byte \(fileSize); the file is truncated or damaged",
                    tensor: entry.name, expected: overflow ? nil : "at least \(end)", found: "\(fileSize)")
            }
            tensors.append(
                GGUFTensor(
                    name: entry.name, type: entry.type, dimensions: entry.dimensions, byteRange: next..<end,
                    elementCount: entry.elements))
            next = try padded(end, alignment)
        }
        return tensors
    }
}
