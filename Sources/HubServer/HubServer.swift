import CMicroHTTPD
package import HubCore

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
        /// Connections whose next request is not all here: fewer, so that somebody who holds them open takes no place
        /// from those who ask.
        package var waiting = 512
        /// How long the head of a request may take, from when the connection is open or the last answer is sent.
        package var head: Duration = .seconds(10)
        /// How long its body may take.
        package var body: Duration = .seconds(60)
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
    private let daemon: Lock<Daemon>
    private let deadlines: Task<Void, any Error>

    /// Starts to listen and serve.
    ///
    /// - Parameters:
    ///   - port: 0 for any that is free.
    ///   - log: hears of every request that was answered, on its connection's thread.
    package init(
        host: String = "127.0.0.1", port: UInt16 = 0, limits: Limits = Limits(),
        log: (@Sendable (AnsweredRequest) -> Void)? = nil, handler: any HTTPHandler
    ) throws(AIError) {
        let socket = try ListeningSocket(host: host, port: port)
        let watch = RequestWatch(limits: limits)
        let context = ServerContext(handler: handler, bodyLimit: limits.requestBody, watch: watch, log: log)
        guard let pointer = Self.start(socket.descriptor, limits, context) else {
            close(socket.descriptor)
            throw AIError(.ioError, "libmicrohttpd cannot serve \(host.printable):\(socket.port)")
        }
        self.host = host
        self.port = socket.port
        self.context = context
        daemon = Lock(Daemon(pointer: pointer))
        let pause = limits.head / 10
        deadlines = Task.detached {
            while true {
                try await Task.sleep(for: pause)
                watch.endLate()
            }
        }
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
        deadlines.cancel()
        if let pointer { MHD_stop_daemon(pointer) }
    }

    private static func start(_ socket: Int32, _ limits: Limits, _ context: ServerContext) -> OpaquePointer? {
        hub_mhd_start(socket, limits.connections, limits.idleSeconds, context.callbacks)
    }
}
