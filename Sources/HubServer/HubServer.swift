import CMicroHTTPD
package import HubCore
import Libc

/// An HTTP/1.1 server for a handler, on libmicrohttpd.
///
/// Each connection has its own thread, so a handler or a body may block (digests, test faults) without delaying others.
/// Files are sent with sendfile. https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html
package final class HubServer: Sendable {
    /// The host as given.
    package let host: String
    /// The port listened on.
    package let port: UInt16
    /// The listening socket, until the server stops.
    package let descriptor: Int32

    private let context: ServerContext
    // A daemon is safe to use from any thread: https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html
    private struct Daemon: @unchecked Sendable {
        var pointer: OpaquePointer?
        private var listens = true

        init(pointer: OpaquePointer) { self.pointer = pointer }

        /// Closes the listening socket, once: MHD_quiesce_daemon returns its number again to who asks again, and another
        /// descriptor may have it by then.
        mutating func stopListening() {
            guard listens, let pointer else { return }
            listens = false
            let socket = MHD_quiesce_daemon(pointer)
            if socket >= 0 { close(socket) }
        }
    }
    private let daemon: Lock<Daemon>
    private let deadlines: Task<Void, any Error>

    /// Starts to listen and serve.
    ///
    /// - Parameters:
    /// - port: 0 for any free port.
    /// - inherited: a listening socket that replaces `port`, as systemd hands it over.
    /// - proxies: whose `X-Forwarded-*` headers count.
    /// - log: called for every answered request, on its connection's thread.
    package init(
        host: String = "127.0.0.1", port: UInt16 = 0, inherited: Int32? = nil,
        limits: ServerLimits = ServerLimits(), proxies: TrustedProxies = TrustedProxies(),
        log: (@Sendable (AnsweredRequest) -> Void)? = nil, handler: any HTTPHandler
    ) throws(AIError) {
        let socket: ListeningSocket
        if let inherited {
            socket = try ListeningSocket(inherited: inherited)
        } else {
            socket = try ListeningSocket(host: host, port: port)
        }
        let watch = RequestWatch(limits: limits)
        let context = ServerContext(
            handler: handler, bodyLimit: limits.requestBody, watch: watch, proxies: proxies, log: log)
        guard let pointer = Self.start(socket.descriptor, limits, context) else {
            close(socket.descriptor)
            throw AIError(.ioError, "libmicrohttpd cannot serve \(host.printable):\(socket.port)")
        }
        self.host = host
        self.port = socket.port
        descriptor = socket.descriptor
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

    /// Accepts no further connection and waits until every answer that has begun is sent, or the time is over; then it
    /// stops. Blocks.
    package func stop(grace: Duration) {
        daemon.withLock { $0.stopListening() }
        let deadline = ContinuousClock.now + grace
        while context.watch.endIdle() > 0, ContinuousClock.now < deadline { usleep(5_000) }
        stop()
    }

    /// Closes every connection and returns when the last handler has. A second call does nothing.
    package func stop() {
        let pointer = daemon.withLock { daemon -> OpaquePointer? in
            daemon.stopListening()
            defer { daemon.pointer = nil }
            return daemon.pointer
        }
        deadlines.cancel()
        guard let pointer else { return }
        context.watch.endAll()
        MHD_stop_daemon(pointer)
    }

    private static func start(_ socket: Int32, _ limits: ServerLimits, _ context: ServerContext) -> OpaquePointer? {
        hub_mhd_start(socket, limits.connections, limits.idleSeconds, context.callbacks)
    }
}
