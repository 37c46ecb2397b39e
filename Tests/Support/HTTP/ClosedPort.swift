import Libc

/// An address without a listener: its port is taken for as long as the tests run, so that no test's server can get it,
/// and nobody listens.
package enum ClosedPort {
    /// `http://127.0.0.1:40123`
    package static let address: String = {
        #if os(Linux)
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let made = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(made, address, length) == 0 && getsockname(made, address, &length) == 0
            }
        }
        precondition(made >= 0 && bound, "no port can be taken: \(String(cString: strerror(errno)))")
        return "http://127.0.0.1:\(UInt16(bigEndian: place.sin_port))"
    }()
}
