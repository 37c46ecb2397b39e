import CPlatform
import Libc

/// Which bytes of a file are in memory, and how more get there.
package enum PageCache {
    /// Bytes asked about at once.
    private static let window: Int64 = 1 << 30
    /// Bytes requested at once: the kernel cuts longer requests.
    private static let step: Int64 = 16 << 20

    /// The bytes of a file that are in memory; nil if the system does not say.
    ///
    /// Since 5.2 Linux reports every page of a file as present to callers that neither own it nor may write to it.
    /// https://git.kernel.org/linus/134fca9063ad4851de767d1768180e5dede9a881
    package static func resident(_ file: borrowing FileDescriptor) throws(AIError) -> IntervalSet? {
        let status = try file.status()
        let user = geteuid()
        guard user == 0 || status.owner == user || FileSystem.isWritable(file.path) else { return nil }
        let page = Int64(hub_page_size())
        var out = IntervalSet()
        var pages = [UInt8](repeating: 0, count: Int(min(status.size, window) / page) + 1)
        for start in stride(from: Int64(0), to: status.size, by: Int(window)) {
            let length = min(window, status.size - start)
            guard hub_resident_pages(file.raw, off_t(start), Int(length), &pages) == 0 else {
                // File systems without a page cache of their own.
                if errno == ENODEV || errno == EINVAL || errno == ENOSYS { return nil }
                throw .system("cannot map", path: file.path, errno: errno)
            }
            var first: Int64?
            let count = (length + page - 1) / page
            for index in 0...count {
                let isIn = index < count && pages[Int(index)] & 1 != 0
                if isIn {
                    first = first ?? index
                } else if let begin = first {
                    out.insert(start + begin * page..<min(start + index * page, status.size))
                    first = nil
                }
            }
        }
        return out
    }

    /// Asks the kernel to read bytes of a file soon, and does not wait for them.
    package static func request(_ range: Range<Int64>, of file: borrowing FileDescriptor) {
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Int(step)) {
            file.readAhead(start, min(step, range.upperBound - start))
        }
    }

    /// Reads bytes of a file into memory.
    ///
    /// - Parameter progress: called with the number of further bytes; may throw to stop.
    package static func read(
        _ range: Range<Int64>, of file: borrowing FileDescriptor, progress: (Int) throws -> Void
    ) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            // Always a step ahead, so that the disk never waits for the copying.
            if (offset - range.lowerBound) % step == 0 {
                let start = offset == range.lowerBound ? offset : offset + step
                file.readAhead(start, min(offset + 2 * step, range.upperBound) - start)
            }
            let length = Int(min(Int64(buffer.count), range.upperBound - offset))
            let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<length]), at: offset)
            // Shorter than it was.
            if count == 0 { return }
            offset += Int64(count)
            try progress(count)
        }
    }
}
