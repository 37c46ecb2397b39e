package import HubCore

/// One tensor of a safetensors file.
public struct TensorInfo: Sendable, Hashable {
    /// The tensor's name.
    public let name: String
    /// The element type.
    public let dataType: TensorDataType
    /// The size of each dimension; empty for a scalar.
    public let shape: [Int]
    /// Its bytes as offsets in the file; checked against the shape and the file's size.
    public let byteRange: Range<Int>
    /// The number of elements.
    public let elementCount: Int
}

/// The header of one safetensors file: its tensors and their locations.
///
/// The format: 8 bytes of length (little-endian), that many bytes of JSON, then the tensors' bytes without gap or
/// overlap to the end of the file (https://github.com/huggingface/safetensors#format). Only the first two parts are
/// read, so a header fetched by an HTTP range is enough.
public struct SafetensorsHeader: Sendable {
    /// The tensors, in order of their bytes.
    public let tensors: [TensorInfo]
    /// The contents of `__metadata__`.
    public let metadata: [String: String]
    /// The offset of the first tensor's bytes.
    public let dataStart: Int

    /// Maximum header size accepted by the format's reference reader, in bytes.
    package static let maximumLength = 100_000_000

    /// The number of bytes needed to read the header: 8 plus the length in them.
    ///
    /// - Parameters:
    ///   - prefix: The first 8 bytes of the file.
    ///   - fileSize: The whole file's size in bytes.
    /// - Throws: ``ErrorCode/malformedModel``.
    package static func byteCount(prefix: UnsafeRawBufferPointer, fileSize: Int64, path: String) throws(AIError)
        -> Int
    {
        guard prefix.count >= 8, fileSize >= 8 else {
            throw .malformed(
                path, "it is too short for a safetensors file (\(counted(fileSize, "byte")))",
                expected: "at least 8 bytes", found: "\(fileSize)")
        }
        try LFSPointer.refuse(prefix, fileSize: fileSize, path: path)
        let length = UInt64(littleEndian: prefix.loadUnaligned(as: UInt64.self))
        guard length <= UInt64(maximumLength) else {
            throw .malformed(
                path, "the header claims \(length) bytes; the limit is \(maximumLength)",
                expected: "at most \(maximumLength)", found: "\(length)")
        }
        guard length >= 2, Int64(length) <= fileSize - 8 else {
            throw .malformed(
                path, "the header claims \(counted(Int64(length), "byte")); the file has \(fileSize)",
                expected: "from 2 to \(fileSize - 8)", found: "\(length)")
        }
        return 8 + Int(length)
    }

    /// Reads a header.
    ///
    /// - Parameters:
    ///   - bytes: The start of the file, at least to the header's end.
    ///   - fileSize: The whole file's size in bytes; every tensor must lie inside it.
    /// - Throws: ``ErrorCode/malformedModel`` naming the file and the tensor at fault.
    package init(_ bytes: UnsafeRawBufferPointer, fileSize: Int64, path: String) throws(AIError) {
        let dataStart = try Self.byteCount(prefix: bytes, fileSize: fileSize, path: path)
        guard bytes.count >= dataStart else {
            throw .malformed(path, "only \(bytes.count) of the header's \(dataStart) bytes were read")
        }
        // The reference reader requires the brace, so that the file cannot be mistaken for another format.
        guard bytes[8] == UInt8(ascii: "{") else {
            throw .malformed(path, "the header does not begin with a brace")
        }
        let document: JSON
        do throws(JSONError) {
            document = try JSON.parse(UnsafeRawBufferPointer(rebasing: bytes[8..<dataStart]))
        } catch {
            throw .malformed(path, "the header is \(error)", cause: error)
        }
        guard let entries = document.object else { throw .malformed(path, "the header is not an object") }
        if entries.hasDuplicateKeys {
            var names: Set<String> = []
            let name = entries.members.first { !names.insert($0.key).inserted }?.key
            throw .malformed(
                path, "the header names a tensor twice: \((name ?? "").printable)", tensor: name,
                expected: "each tensor once", found: "twice")
        }

        let dataBytes = fileSize - Int64(dataStart)
        var tensors: [TensorInfo] = []
        var metadata: [String: String] = [:]
        for (name, entry) in entries.members {
            if name == "__metadata__" {
                metadata = try Self.metadata(entry, path)
            } else {
                tensors.append(try Self.tensor(name, entry, dataStart: dataStart, dataBytes: dataBytes, path))
            }
        }
        tensors.sort {
            ($0.byteRange.lowerBound, $0.byteRange.upperBound) < ($1.byteRange.lowerBound, $1.byteRange.upperBound)
        }
        try Self.checkTiling(tensors, from: dataStart, fileSize: fileSize, path)
        self.tensors = tensors
        self.metadata = metadata
        self.dataStart = dataStart
    }

    private static func metadata(_ entry: JSON, _ path: String) throws(AIError) -> [String: String] {
        guard let members = entry.object?.members else { throw .malformed(path, "__metadata__ is not an object") }
        var metadata: [String: String] = [:]
        for (key, value) in members {
            guard let text = value.string else { throw .malformed(path, "__metadata__ \"\(key)\" is not a string") }
            metadata[key] = text
        }
        return metadata
    }

    private static func tensor(_ name: String, _ entry: JSON, dataStart: Int, dataBytes: Int64, _ path: String)
        throws(AIError) -> TensorInfo
    {
        func fault(_ what: String, expected: String? = nil, found: String? = nil) -> AIError {
            .malformed(path, "tensor \"\(name)\" \(what)", tensor: name, expected: expected, found: found)
        }
        guard entry.object?.hasDuplicateKeys != true else { throw fault("has a duplicate field") }
        guard let spelling = entry["dtype"]?.string else { throw fault("has no dtype") }
        guard let dataType = TensorDataType(rawValue: spelling) else {
            throw fault(
                "has the unknown dtype \(spelling)", expected: "a dtype of the format",
                found: spelling)
        }
        guard let dimensions = entry["shape"]?.array else { throw fault("has no shape") }
        var shape: [Int] = []
        for dimension in dimensions {
            guard let size = dimension.int.flatMap({ Int(exactly: $0) }), size >= 0 else {
                throw fault("has a shape that is not a list of sizes")
            }
            shape.append(size)
        }
        guard let elements = TensorShape.elementCount(shape) else {
            throw fault(
                "has a shape whose product overflows", expected: "at most \(Int.max) bits",
                found: JSON.array(dimensions).text())
        }
        let bits = elements * dataType.bits
        guard bits % 8 == 0 else {
            throw fault(
                "has \(counted(bits, "bit")), not a whole number of bytes", expected: "whole bytes",
                found: "\(bits) bits")
        }
        guard let offsets = entry["data_offsets"]?.array, offsets.count == 2,
            let begin = offsets[0].int, let end = offsets[1].int, begin >= 0, begin <= end
        else { throw fault("has no valid data_offsets") }
        guard end <= dataBytes else {
            throw fault(
                "ends at byte \(end) of the data, which has \(dataBytes); the file is truncated or damaged",
                expected: "\(end)", found: "\(dataBytes)")
        }
        guard end - begin == Int64(bits / 8) else {
            throw fault(
                "has \(counted(end - begin, "byte")); its shape \(shape) of \(spelling) needs \(bits / 8)",
                expected: "\(bits / 8)", found: "\(end - begin)")
        }
        let range = dataStart + Int(begin)..<dataStart + Int(end)
        return TensorInfo(name: name, dataType: dataType, shape: shape, byteRange: range, elementCount: elements)
    }

    /// The format forbids gaps and overlaps, so that every byte belongs to a tensor.
    private static func checkTiling(_ tensors: [TensorInfo], from start: Int, fileSize: Int64, _ path: String)
        throws(AIError)
    {
        var end = start
        for tensor in tensors {
            guard tensor.byteRange.lowerBound >= end else {
                throw .malformed(
                    path, "tensor \"\(tensor.name)\" overlaps the one before it", tensor: tensor.name,
                    expected: "\(end - start)", found: "\(tensor.byteRange.lowerBound - start)")
            }
            guard tensor.byteRange.lowerBound == end else {
                let gap = tensor.byteRange.lowerBound - end
                throw .malformed(
                    path,
                    "\(counted(gap, "byte")) before tensor \"\(tensor.name)\" \(gap == 1 ? "belongs" : "belong") to none",
                    tensor: tensor.name, expected: "\(end - start)",
                    found: "\(tensor.byteRange.lowerBound - start)")
            }
            end = tensor.byteRange.upperBound
        }
        guard Int64(end) == fileSize else {
            let rest = fileSize - Int64(end)
            throw .malformed(
                path,
                "\(counted(rest, "byte")) after the last tensor \(rest == 1 ? "belongs" : "belong") to none",
                expected: "\(end)", found: "\(fileSize)")
        }
    }
}
