import CMicroHTTPD
import HubCore
import Libc

/// The connections whose next request is incomplete. Each has a deadline, and their number is limited.
///
/// libmicrohttpd's timeout counts seconds of silence, so a client that sends a byte now and then escapes it. A late
/// connection is shut down, unless nothing has come since its last answer: clients keep connections for later requests.
/// So is the one closest to its deadline when there are too many; its own thread notices.
/// The limit is not per address: many clients can share one, and one client can have many.
final class RequestWatch: Sendable {
    private struct Waiting {
        var socket: Int32
        var deadline: ContinuousClock.Instant
        /// The connection's thread, once the request line has arrived.
        var thread: pthread_t?
        /// Bytes that the connection had received when its last answer was sent; nil once more have come.
        var idleSince: UInt64?
    }

    // Keys are the addresses of libmicrohttpd's connections.
    private struct State {
        var waiting: [Int: Waiting] = [:]
        /// The sockets of all open connections.
        var open: [Int: Int32] = [:]
        var isStopping = false
    }

    private let state = Lock(State())
    private let limits: ServerLimits

    init(limits: ServerLimits) { self.limits = limits }

    func opened(_ connection: OpaquePointer) {
        let socket = hub_mhd_socket(connection)
        let isStopping = state.withLock { state in
            state.open[Int(bitPattern: connection)] = socket
            return state.isStopping
        }
        if isStopping { shutdown(socket, Int32(SHUT_RDWR)) } else { expectHead(connection, isFirst: true) }
    }

    /// The connection is closed; its socket may be reused afterwards.
    func closed(_ connection: OpaquePointer) {
        state.withLock { state in
            state.open[Int(bitPattern: connection)] = nil
            state.waiting[Int(bitPattern: connection)] = nil
        }
    }

    /// Shuts down every connection. Returns when their threads have closed them, after the last handler.
    ///
    /// libmicrohttpd must not be stopped before: it crashes where it has to refuse a request while it stops, for
    /// MHD_queue_response then takes no response and its refusal needs one (0.9.75).
    func endAll() {
        state.withLock { state in
            state.isStopping = true
            for socket in state.open.values { shutdown(socket, Int32(SHUT_RDWR)) }
        }
        while state.withLock({ !$0.open.isEmpty }) { usleep(500) }
    }

    /// Shuts down the connections that wait for a request; returns how many others there are.
    func endIdle() -> Int {
        state.withLock { state in
            for waiting in state.waiting.values { shutdown(waiting.socket, Int32(SHUT_RDWR)) }
            return state.open.count - state.waiting.count
        }
    }

    /// Starts the deadline for the next request's head.
    func expectHead(_ connection: OpaquePointer, isFirst: Bool = false) {
        let received = isFirst ? nil : Self.received(hub_mhd_socket(connection))
        expect(connection, within: limits.head, idleSince: received)
    }

    /// Starts the deadline for the body, once the head has arrived.
    func expectBody(_ connection: OpaquePointer) { expect(connection, within: limits.body) }

    /// The request line has arrived.
    func arrived(_ connection: OpaquePointer) {
        state.withLock { $0.waiting[Int(bitPattern: connection)]?.thread = pthread_self() }
    }

    /// Call when the request is complete.
    func forget(_ connection: OpaquePointer) {
        state.withLock { _ = $0.waiting.removeValue(forKey: Int(bitPattern: connection)) }
    }

    /// Answers the request that this thread is reading, bypassing libmicrohttpd, and closes the connection.
    func refuse(with bytes: [UInt8]) {
        state.withLock { state in
            let mine = state.waiting.first {
                $0.value.thread.map { pthread_equal($0, pthread_self()) != 0 } == true
            }
            guard let mine else { return }
            state.waiting[mine.key] = nil
            hub_mhd_end_with(mine.value.socket, bytes, bytes.count)
        }
    }

    /// Shuts down the connections whose deadline has passed.
    func endLate() {
        let now = ContinuousClock.now
        state.withLock { state in
            for (key, waiting) in state.waiting where waiting.deadline <= now {
                guard let before = waiting.idleSince else {
                    Self.end(key, &state)
                    continue
                }
                // A head that has begun has its time from now on; silence is libmicrohttpd's to end.
                if Self.received(waiting.socket) != before { state.waiting[key]?.idleSince = nil }
                state.waiting[key]?.deadline = now + limits.head
            }
        }
    }

    /// Bytes that a connection has received; nil if the system does not say.
    private static func received(_ socket: Int32) -> UInt64? {
        var bytes: UInt64 = 0
        return hub_received_bytes(socket, &bytes) == 0 ? bytes : nil
    }

    private func expect(_ connection: OpaquePointer, within time: Duration, idleSince: UInt64? = nil) {
        let socket = hub_mhd_socket(connection)
        state.withLock { state in
            let key = Int(bitPattern: connection)
            let thread = state.waiting[key]?.thread
            state.waiting[key] = nil
            if state.waiting.count >= limits.waiting,
                let next = state.waiting.min(by: { $0.value.deadline < $1.value.deadline })
            {
                Self.end(next.key, &state)
            }
            state.waiting[key] = Waiting(
                socket: socket, deadline: .now + time, thread: thread, idleSince: idleSince)
        }
    }

    private static func end(_ key: Int, _ state: inout State) {
        guard let waiting = state.waiting.removeValue(forKey: key) else { return }
        shutdown(waiting.socket, Int32(SHUT_RDWR))
    }
}
