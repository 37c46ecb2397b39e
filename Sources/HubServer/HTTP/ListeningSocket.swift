import HubCore
import Libc

/// A listening TCP socket. Not created by libmicrohttpd, so that errors have a reason and child processes do not
/// inherit the descriptor.
struct ListeningSocket {
    let descriptor: Int32
    /// The port, also if port 0 was requested.
    let port: UInt16

    /// Binds the first address of `host` that can be bound.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a host without an address; else the errno of the last attempt.
    init(host: String, port: UInt16) throws(AIError) {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        #if os(Linux)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        let fault = getaddrinfo(host, String(port), &hints, &list)
        guard fault == 0 else {
            throw AIError(
                .invalidInput, "\(host.printable) has no address: \(String(cString: gai_strerror(fault)))")
        }
        defer { freeaddrinfo(list) }
        var number: Int32 = EADDRNOTAVAIL
        var candidate = list
        while let info = candidate?.pointee {
            if let opened = Self.open(info) {
                descriptor = opened
                self.port = Self.localPort(opened)
                return
            }
            number = errno
            candidate = info.ai_next
        }
        throw .system("cannot listen on", path: "\(host.printable):\(port)", errno: number)
    }

    /// A socket that listens already, as systemd hands it over.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` if it does not.
    init(inherited: Int32) throws(AIError) {
        var listens: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(inherited, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0, listens != 0 else {
            throw AIError(.invalidInput, "descriptor \(inherited) is not a listening socket")
        }
        _ = fcntl(inherited, F_SETFD, FD_CLOEXEC)
        descriptor = inherited
        port = Self.localPort(inherited)
    }

    /// nil leaves the reason in errno.
    private static func open(_ info: addrinfo) -> Int32? {
        let descriptor = socket(info.ai_family, info.ai_socktype, info.ai_protocol)
        guard descriptor >= 0 else { return nil }
        var yes: Int32 = 1
        // Without it a restarted server waits a minute for the old connections' ports.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        // Many clients connect at once; a short queue drops SYNs, which costs a second each.
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, bind(descriptor, info.ai_addr, info.ai_addrlen) == 0,
            listen(descriptor, 1024) == 0
        else {
            let number = errno
            close(descriptor)
            errno = number
            return nil
        }
        return descriptor
    }

    private static func localPort(_ descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            let address = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
            guard getsockname(descriptor, address, &length) == 0 else { return 0 }
            // The port is at the same offset, in network order, for IPv4 and IPv6.
            return UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        }
    }
}
