import CMicroHTTPD
package import HubCore
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An HTTP/1.1 server around a handler, by libmicrohttpd: it speaks the protocol, the handler decides.
///
/// Each connection has a thread of its own, so a handler or a body may block (digests, faults of a test) and stops
/// nobody else. Files go out by sendfile.
/// https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html
package final class HubServer: Sendable {
    /// Limits of a server.
    package struct Limits: Sendable {
        /// Connections open at once; more wait in the kernel's queue.
        package var connections: UInt32 = 1024
        /// Seconds without a byte moving after which a connection is closed; 0 for never.
        package var idleSeconds: UInt32 = 120
        /// The longest body of a request in bytes.
        package var requestBody: Int = 4 << 20

        package init() {}
    }

    /// The host as it was given.
    package let host: String
    /// The port listened on.
    package let port: UInt16

    private let context: ServerContext
    // A daemon is safe to use from any thread: https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html
    private struct Daemon: @unchecked Sendable { var pointer: OpaquePointer? }
    private let daemon: Mutex<Daemon>

    /// Starts to listen and serve.
    ///
    /// - Parameter port: 0 for any that is free.
    package init(
        host: String = "127.0.0.1", port: UInt16 = 0, limits: Limits = Limits(), handler: any HTTPHandler
    ) throws(AIError) {
        let socket = try ListeningSocket(host: host, port: port)
        let context = ServerContext(handler: handler, bodyLimit: limits.requestBody)
        guard let pointer = Self.start(socket.descriptor, limits, context) else {
            close(socket.descriptor)
            throw AIError(.ioError, "libmicrohttpd cannot serve \(host.printable):\(socket.port)")
        }
        self.host = host
        self.port = socket.port
        self.context = context
        daemon = Mutex(Daemon(pointer: pointer))
    }

    deinit { stop() }

    /// `http://127.0.0.1:8080`
    package var address: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// Closes every connection and returns when the last handler has. A second call does nothing.
    package func stop() {
        let pointer = daemon.withLock { daemon -> Daemon in
            defer { daemon.pointer = nil }
            return daemon
        }.pointer
        if let pointer { MHD_stop_daemon(pointer) }
    }

    private static func start(_ socket: Int32, _ limits: Limits, _ context: ServerContext) -> OpaquePointer? {
        hub_mhd_start(
            socket, limits.connections, limits.idleSeconds, requestArrived, handleRequest, requestOver,
            Unmanaged.passUnretained(context).toOpaque())
    }
}
