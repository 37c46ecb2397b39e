package import HubCore

/// One tensor of a GGUF file.
package struct GGUFTensor: Sendable, Hashable {
    package let name: String
    package let type: GGUFTensorType
    /// The size of each dimension in ggml's order, the contiguous one first: a matrix of Python's shape `[rows,
    /// columns]` is `[columns, rows]` here.
    package let dimensions: [Int]
    /// Its bytes as offsets in the file; checked against its dimensions and the file's size.
    package let byteRange: Range<Int>
    package let elementCount: Int
}

/// The header of a GGUF file of version 2 or 3: metadata and tensor locations.
///
/// The rules are those of llama.cpp's own reader (https://github.com/ggml-org/ggml/blob/master/src/gguf.cpp): at most
/// four dimensions, whole blocks in a row, each tensor at the next multiple of the alignment after the previous one.
package struct GGUFHeader: Sendable {
    package let version: UInt32
    /// In the file's order.
    package let metadata: [(key: String, value: GGUFValue)]
    private let index: [String: Int]
    /// In file order, which is that of their bytes.
    package let tensors: [GGUFTensor]
    /// Each tensor begins at a multiple of this many bytes from ``dataStart``.
    package let alignment: Int
    package let dataStart: Int

    /// The result of reading the start of a file.
    package enum Reading: Sendable {
        case header(GGUFHeader)
        /// The header is longer: at least this many bytes are needed.
        case needs(Int)
    }

    /// Maximum header size. A vocabulary of 256,000 tokens with its merges takes some 15 MB.
    package static let maximumLength = 512 << 20

    init(
        version: UInt32, metadata: [(key: String, value: GGUFValue)], index: [String: Int], tensors: [GGUFTensor],
        alignment: Int, dataStart: Int
    ) {
        (self.version, self.metadata, self.index) = (version, metadata, index)
        (self.tensors, self.alignment, self.dataStart) = (tensors, alignment, dataStart)
    }

    /// The end of the last tensor, without and with the padding that most writers add.
    var ends: ClosedRange<Int64> {
        let end = Int64(tensors.map(\.byteRange.upperBound).max() ?? dataStart)
        let rest = (end - Int64(dataStart)) % Int64(alignment)
        return end...(rest == 0 ? end : end + Int64(alignment) - rest)
    }

    package subscript(key: String) -> GGUFValue? { index[key].map { metadata[$0].value } }

    /// Reads a header from the start of a file.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` naming the key or tensor at fault; ``ErrorCode/unsupportedModel`` for
    ///   another version, byte order or type.
    package static func read(_ bytes: UnsafeRawBufferPointer, fileSize: Int64, path: String) throws(AIError)
        -> Reading
    {
        guard bytes.count >= GGUFPreamble.byteCount || Int64(bytes.count) >= fileSize else {
            return .needs(GGUFPreamble.byteCount)
        }
        try LFSPointer.refuse(bytes, fileSize: fileSize, path: path)
        let preamble = try GGUFPreamble(bytes, fileSize: fileSize, path: path)
        var parser = GGUFParser(bytes, fileSize: fileSize, path: path)
        do {
            return .header(try parser.header(preamble))
        } catch let short as ByteReader.Short {
            // A header that exceeds the file is truncated; otherwise more bytes are needed.
            guard Int64(short.needed) <= fileSize else {
                throw .malformed(
                    path,
                    "the header goes past the end of the file at byte \(fileSize); the file is truncated or damaged",
                    expected: "at least \(short.needed)", found: "\(fileSize)")
            }
            guard short.needed <= maximumLength else {
                throw .malformed(path, "its header has more than \(ByteCount(Int64(maximumLength)))")
            }
            return .needs(short.needed)
        } catch {
            throw AIError.wrapping(error)
        }
    }
}
