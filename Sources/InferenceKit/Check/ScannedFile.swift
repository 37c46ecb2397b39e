import HubCore

/// A file whose weights are scanned.
///
/// A cache blob is never changed in place, so it is mapped. Any other file may be truncated meanwhile, so it is read piece by
/// piece: what is missing is then an error of the piece.
final class ScannedFile: Sendable {
    let path: String
    private let file: FileDescriptor
    private let mapped: MappedFile?

    /// - Throws: ``ErrorCode/malformedModel`` if it is not a regular file, or the error of the failed system call.
    init(_ path: String, isMapped: Bool) throws(AIError) {
        self.path = path
        mapped = isMapped ? try MappedFile(path) : nil
        file = try FileDescriptor.modelFile(path)
    }

    /// Bytes of the file, valid while this object lives and until the buffer is reused.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` if the file ends before them.
    func bytes(_ range: Range<Int>, _ buffer: UnsafeMutableRawBufferPointer) throws(AIError) -> UnsafeRawPointer {
        if let mapped, let base = mapped.bytes.baseAddress, range.upperBound <= mapped.bytes.count {
            return base + range.lowerBound
        }
        let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<range.count])
        guard let base = piece.baseAddress, try file.read(into: piece, at: Int64(range.lowerBound)) == range.count
        else {
            throw AIError(
                .malformedModel, "\(path): it was truncated while it was read", context: .init(path: path))
        }
        return UnsafeRawPointer(base)
    }

    /// - Throws: ``ErrorCode/fileChanged`` if bytes given before were not the file's.
    func checkIntact() throws(AIError) { try mapped?.checkIntact() }
}
