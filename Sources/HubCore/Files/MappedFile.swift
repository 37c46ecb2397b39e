import CPlatform
import Libc

/// A file mapped read-only into memory. Pages are read when they are touched and shared with every other process.
///
/// A file that is truncated while it is mapped kills the reader (SIGBUS); blobs of the cache are never changed in
/// place, so only foreign tools could do that.
package final class MappedFile: Sendable {
    /// The bytes of the whole file; valid as long as this object lives.
    // Read-only memory, unmapped only by deinit, so any thread may read it.
    nonisolated(unsafe) package let bytes: UnsafeRawBufferPointer
    package let path: String

    /// Maps a file; an empty one gives an empty buffer.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` if it is not a regular file, or the error of the failed system call.
    package init(_ path: String) throws(AIError) {
        let file = try FileDescriptor.modelFile(path)
        let size = Int(try file.status().size)
        self.path = path
        guard size > 0 else {
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            return
        }
        let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, file.raw, 0)
        guard let address, address != MAP_FAILED else { throw .system("cannot map", path: path, errno: errno) }
        // Whoever touches a page first decides on its size in the page cache, also for those who map the file later.
        hub_prefer_large_pages(address, size)
        bytes = UnsafeRawBufferPointer(start: address, count: size)
    }

    deinit {
        if let base = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: base), bytes.count) }
    }
}
