import Libc

/// Where bytes go: a descriptor of this process, or a test's own array.
struct Sink: Sendable {
    /// Writes all of the bytes; the errno that stopped it, or 0.
    let write: @Sendable ([UInt8]) -> Int32

    static let standardOutput = descriptor(1)
    static let standardError = descriptor(2)

    /// write(2) until everything is written. SIGPIPE must be ignored.
    static func descriptor(_ number: Int32) -> Sink {
        Sink { bytes in
            bytes.withUnsafeBytes { buffer in
                var done = 0
                while done < buffer.count {
                    let count = systemWrite(number, buffer.baseAddress! + done, buffer.count - done)
                    if count >= 0 {
                        done += count
                    } else if errno == EAGAIN || errno == EWOULDBLOCK {
                        // Someone else's descriptor may be set not to block; it is not ours to change.
                        var waiting = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
                        _ = poll(&waiting, 1, -1)
                    } else if errno != EINTR {
                        return errno
                    }
                }
                return 0
            }
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

extension Sink {
    /// Whether this errno says that the reader went away.
    static func isBrokenPipe(_ number: Int32) -> Bool { number == EPIPE }
}
