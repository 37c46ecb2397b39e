package import HubCore

/// Where the tensors of a weight file are, whatever its format.
package struct TensorSpans: Sendable, Hashable {
    /// One tensor.
    package struct Span: Sendable, Hashable {
        package let name: String
        /// The element type as the format spells it.
        package let type: String
        /// In the format's own order.
        package let shape: [Int]
        /// Its bytes as offsets in the file.
        package let range: Range<Int64>

        /// Whether another tensor has the same name, type and shape.
        package func isAlike(_ other: Span) -> Bool {
            name == other.name && type == other.type && shape == other.shape && range.count == other.range.count
        }
    }

    /// In the order of their bytes.
    package let spans: [Span]
    /// The offset of the first tensor's bytes.
    package let dataStart: Int64
    /// What the file says of itself: GGUF's keys, of long lists only the length; `__metadata__` of safetensors.
    package let metadata: [String: JSON]

    /// The result of reading the start of a file.
    package enum Reading: Sendable {
        case spans(TensorSpans)
        /// At least this many bytes are needed.
        case needs(Int)
    }

    /// Whether tensors of such a file can be read.
    package static func knows(_ path: String) -> Bool { path.hasSuffix(".safetensors") || path.hasSuffix(".gguf") }

    /// Reads the start of a file.
    ///
    /// - Throws: ``ErrorCode/malformedModel``, ``ErrorCode/unsupportedModel``.
    package static func read(_ bytes: UnsafeRawBufferPointer, fileSize: Int64, path: String) throws(AIError)
        -> Reading
    {
        if path.hasSuffix(".gguf") {
            switch try GGUFHeader.read(bytes, fileSize: fileSize, path: path) {
            case .needs(let count): return .needs(count)
            case .header(let header):
                return .spans(
                    TensorSpans(
                        spans: header.tensors.map {
                            Span(
                                name: $0.name, type: $0.type.name, shape: $0.dimensions,
                                range: Int64($0.byteRange.lowerBound)..<Int64($0.byteRange.upperBound))
                        }, dataStart: Int64(header.dataStart),
                        metadata: Dictionary(header.metadata.map { ($0.key, $0.value.json) }) { $1 }))
            }
        }
        guard bytes.count >= 8 || fileSize < 8 else { return .needs(8) }
        let count = try SafetensorsHeader.byteCount(prefix: bytes, fileSize: fileSize, path: path)
        guard bytes.count >= count else { return .needs(count) }
        let header = try SafetensorsHeader(bytes, fileSize: fileSize, path: path)
        return .spans(
            TensorSpans(
                spans: header.tensors.map {
                    Span(
                        name: $0.name, type: $0.dataType.rawValue, shape: $0.shape,
                        range: Int64($0.byteRange.lowerBound)..<Int64($0.byteRange.upperBound))
                }, dataStart: Int64(header.dataStart), metadata: header.metadata.mapValues { .string($0) }))
    }

    /// Bytes that hold the headers of most files.
    package static let usualHeader = 64 << 10

    /// Reads the header of a file on this machine.
    package init(file: borrowing FileDescriptor, path: String) throws(AIError) {
        let size = try file.status().size
        var wanted = Self.usualHeader
        while true {
            var bytes = [UInt8](repeating: 0, count: Int(min(size, Int64(wanted))))
            let fill = bytes.withUnsafeMutableBytes { buffer in
                Result { () throws(AIError) in try file.read(into: buffer, at: 0) }
            }
            let count = try fill.get()
            let reading = bytes.withUnsafeBytes { buffer in
                Result { () throws(AIError) in
                    try Self.read(UnsafeRawBufferPointer(rebasing: buffer[..<count]), fileSize: size, path: path)
                }
            }
            switch try reading.get() {
            case .spans(let spans):
                self = spans
                return
            case .needs(let more):
                guard more > count, Int64(count) < size else {
                    throw .malformed(path, "its header has no end")
                }
                wanted = max(more, 2 * count)
            }
        }
    }

    private init(spans: [Span], dataStart: Int64, metadata: [String: JSON]) {
        (self.spans, self.dataStart, self.metadata) = (spans, dataStart, metadata)
    }

    /// The tensors that an older file has alike, as pairs of this file's and the older one's.
    package func alike(in older: TensorSpans) -> [(new: Span, old: Span)] {
        let known = Dictionary(older.spans.map { ($0.name, $0) }) { first, _ in first }
        return spans.compactMap { span in
            guard let old = known[span.name], span.isAlike(old) else { return nil }
            return (span, old)
        }
    }
}

extension GGUFValue {
    /// For comparing; of a list that is not short numbers, the length.
    fileprivate var json: JSON {
        if let string { return .string(string) }
        if let bool { return .bool(bool) }
        if let int { return .int(int) }
        if let double { return .double(double) }
        guard let array else { return .null }
        return array.numbers.map { .array($0.map { .int($0) }) } ?? .string("\(array.count) elements")
    }
}
