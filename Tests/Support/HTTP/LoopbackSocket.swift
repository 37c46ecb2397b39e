import CSupport
package import HubCore
import Libc

/// Plain TCP on this machine, byte for byte: for what no HTTP server would do.
package enum LoopbackSocket {
    /// A socket that listens on a free port.
    package static func listening() throws(AIError) -> (descriptor: Int32, port: UInt16) {
        let made = make()
        var place = place(0)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        var length = size
        let isListening = withUnsafeMutablePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(made, $0, size) == 0 && listen(made, 16) == 0 && getsockname(made, $0, &length) == 0
            }
        }
        guard isListening else { throw AIError.system("cannot listen", path: "127.0.0.1", errno: errno) }
        return (made, UInt16(bigEndian: place.sin_port))
    }

    /// The next connection to a listening socket; nil once that is shut down.
    package static func next(_ listener: Int32) -> Int32? {
        let client = accept(listener, nil, nil)
        return client >= 0 ? client : nil
    }

    /// A socket connected to a port; nil if nothing listens there.
    package static func connected(to port: UInt16) -> Int32? {
        let made = make()
        var place = place(port)
        let isConnected = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(made, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if isConnected { return made }
        close(made)
        return nil
    }

    /// Wakes threads waiting for the next connection, on Linux and macOS, and stops listening.
    package static func stopListening(_ listener: Int32) {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// What has come; empty at the end.
    package static func receive(_ socket: Int32, atMost count: Int = 16 << 10) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let got = recv(socket, &buffer, count, 0)
        return Array(buffer.prefix(max(0, got)))
    }

    /// Sends all of it; whether the other side took it.
    @discardableResult
    package static func send(_ bytes: some Sequence<UInt8>, to socket: Int32) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { support_send(socket, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Says that nothing more will be sent.
    package static func end(_ socket: Int32) { shutdown(socket, Int32(SHUT_WR)) }

    /// Closes.
    package static func drop(_ socket: Int32) { close(socket) }

    /// Closes with a reset. "If l_linger is zero, close() discards unsent data and sends RST."
    package static func reset(_ socket: Int32) {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close(socket)
    }

    /// Waits until one of two sockets has something to say; which of them.
    package static func waitForEither(_ one: Int32, _ two: Int32) -> (one: Bool, two: Bool) {
        var both = [
            pollfd(fd: one, events: Int16(POLLIN), revents: 0), pollfd(fd: two, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&both, nfds_t(both.count), -1) < 0 && errno == EINTR {}
        return (both[0].revents != 0, both[1].revents != 0)
    }

    private static func make() -> Int32 {
        #if os(Linux)
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let made = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        // A program that a test starts must not keep it open.
        _ = fcntl(made, F_SETFD, FD_CLOEXEC)
        return made
    }

    private static func place(_ port: UInt16) -> sockaddr_in {
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = in_port_t(port.bigEndian)
        place.sin_addr.s_addr = inet_addr("127.0.0.1")
        return place
    }
}
