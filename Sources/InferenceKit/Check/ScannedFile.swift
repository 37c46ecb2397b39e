import HubCore

/// A file whose weights are looked through.
///
/// What lies under its digest in a cache is never changed in place and may be mapped. Any other file may be cut short by its
/// owner meanwhile, and whoever touches a mapped page that is gone is killed (SIGBUS); so it is read piece by piece, which
/// costs a copy.
final class ScannedFile: Sendable {
    let path: String
    private let file: FileDescriptor
    private let mapped: MappedFile?

    /// - Throws: ``ErrorCode/malformedModel`` for what is not a file, or the error of the system call that failed.
    init(_ path: String, isMapped: Bool) throws(AIError) {
        self.path = path
        mapped = isMapped ? try MappedFile(path) : nil
        file = try FileDescriptor.modelFile(path)
    }

    /// Bytes of the file, valid as long as it and until the buffer is used for others.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` where the file ends before them.
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
}
