import HubCore
import Libc

/// Ends a wait for input from another thread: the self-pipe trick, https://cr.yp.to/docs/selfpipe.html
final class WakePipe: Sendable {
    private let ends: (read: Int32, write: Int32)

    init() throws(AIError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .system("cannot make", path: "a pipe", errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.ends = (ends[0], ends[1])
    }

    deinit {
        close(ends.read)
        close(ends.write)
    }

    func wake() {
        var byte: UInt8 = 0
        _ = write(ends.write, &byte, 1)
    }

    /// Waits until a descriptor can be read, or has ended; false if ``wake()`` came first.
    func waits(for descriptor: Int32) throws(AIError) -> Bool {
        while true {
            var waiting = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&waiting, 2, -1) > 0 { return waiting[1].revents == 0 }
            guard errno == EINTR else { throw .system("cannot wait for", path: "standard input", errno: errno) }
        }
    }
}
