import CPlatform
import Libc

/// A file mapped read-only into memory. Pages are read when they are touched and shared with every other process.
///
/// Blobs of the cache are never changed in place, but a foreign tool may cut one, and a disk may fail. Bytes that cannot be
/// read become zeros, and ``checkIntact()`` reports it: call it after computing with the bytes, before using the result.
package final class MappedFile: Sendable {
    /// The bytes of the whole file; valid as long as this object lives.
    // Read-only memory, unmapped only by deinit, so any thread may read it.
    nonisolated(unsafe) package let bytes: UnsafeRawBufferPointer
    package let path: String
    /// The entry in the table of mappings that SIGBUS is repaired in; nil for an empty file.
    nonisolated(unsafe) private let mapping: OpaquePointer?

    /// Maps a file; an empty one gives an empty buffer.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` if it is not a regular file, or the error of the failed system call.
    package init(_ path: String) throws(AIError) {
        let file = try FileDescriptor.modelFile(path)
        let size = Int(try file.status().size)
        self.path = path
        guard size > 0 else {
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            mapping = nil
            return
        }
        let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, file.raw, 0)
        guard let address, address != MAP_FAILED else { throw .system("cannot map", path: path, errno: errno) }
        // Whoever touches a page first decides on its size in the page cache, also for those who map the file later.
        hub_prefer_large_pages(address, size)
        guard let mapping = hub_mapping_add(address, size) else {
            munmap(address, size)
            throw .system("cannot map", path: path, errno: ENOMEM)
        }
        self.mapping = mapping
        bytes = UnsafeRawBufferPointer(start: address, count: size)
    }

    /// Checks that every byte that was read so far is the file's. Costs next to nothing.
    ///
    /// - Throws: ``ErrorCode/fileChanged``.
    package func checkIntact() throws(AIError) {
        guard let mapping, hub_mapping_is_damaged(mapping) != 0 else { return }
        throw AIError(
            .fileChanged, "\(path): the file was cut, or could not be read, while it was in use",
            context: .init(path: path))
    }

    deinit {
        if let mapping { hub_mapping_remove(mapping) }
        if let base = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: base), bytes.count) }
    }
}
