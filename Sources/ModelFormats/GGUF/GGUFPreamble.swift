package import HubCore

/// The first 24 bytes of a GGUF file: magic, version and counts.
/// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md#file-structure
package struct GGUFPreamble: Sendable, Hashable {
    package let version: UInt32
    package let tensorCount: Int
    /// Pairs of metadata.
    package let metadataCount: Int

    package static let byteCount = 24
    /// Minimum size of a tensor's entry: the length of its name, its rank, type and offset.
    private static let smallestTensor: Int64 = 24
    /// Minimum size of a pair: the length of its key, its type, a byte of value.
    private static let smallestPair: Int64 = 13

    /// - Parameters:
    ///   - bytes: The start of the file.
    ///   - fileSize: The whole file's size in bytes, which bounds the counts.
    /// - Throws: ``ErrorCode/malformedModel``; ``ErrorCode/unsupportedModel`` for another version or byte order.
    package init(_ bytes: UnsafeRawBufferPointer, fileSize: Int64, path: String) throws(AIError) {
        guard bytes.count >= Self.byteCount, fileSize >= Int64(Self.byteCount) else {
            throw .malformed(
                path, "\(counted(fileSize, "byte")) are too few for a GGUF file",
                expected: "at least \(Self.byteCount)", found: "\(fileSize)")
        }
        guard bytes.prefix(4).elementsEqual("GGUF".utf8) else {
            throw .malformed(
                path, "it does not begin with GGUF", expected: "GGUF",
                found: String(decoding: bytes.prefix(4), as: UTF8.self).printable)
        }
        version = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        guard (2...3).contains(version) else {
            if (2...3).contains(version.byteSwapped) { throw .unsupported(path, "big-endian GGUF") }
            throw .unsupported(path, "GGUF version \(version)")
        }
        let tensors = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        let pairs = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        let room = fileSize - Int64(Self.byteCount)
        guard tensors <= room / Self.smallestTensor, pairs <= room / Self.smallestPair else {
            throw .malformed(
                path,
                "it says it holds \(tensors) tensors and \(pairs) pairs of metadata, the file has \(fileSize) bytes",
                expected: "\(tensors) tensors, \(pairs) pairs", found: "\(fileSize) bytes")
        }
        (tensorCount, metadataCount) = (Int(tensors), Int(pairs))
    }
}
