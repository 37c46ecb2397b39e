import CMicroHTTPD
import HubCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The connections whose next request is not all here. Each has a deadline, and only so many may wait at once.
///
/// libmicrohttpd counts seconds of silence, which a client that sends a byte now and then never reaches. A connection
/// that is late, or the one closest to its deadline where a new one is too many, is shut down; its own thread notices.
/// The limit is not one on a client's address: many clients come from one address, and one client can have many.
final class RequestWatch: Sendable {
    private struct Waiting {
        var socket: Int32
        var deadline: ContinuousClock.Instant
        /// The connection's thread, once the request's first line is here.
        var thread: pthread_t?
    }

    // Keys are the addresses of libmicrohttpd's connections.
    private struct State { var waiting: [Int: Waiting] = [:] }

    private let state = Lock(State())
    private let limits: HubServer.Limits

    init(limits: HubServer.Limits) { self.limits = limits }

    /// A connection was opened, or its last request is over: the head of the next is due.
    func expectHead(_ connection: OpaquePointer) { expect(connection, within: limits.head) }

    /// The head is here, its body is due.
    func expectBody(_ connection: OpaquePointer) { expect(connection, within: limits.body) }

    /// The request's first line is here.
    func arrived(_ connection: OpaquePointer) {
        state.withLock { $0.waiting[Int(bitPattern: connection)]?.thread = pthread_self() }
    }

    /// All of the request is here, or the connection is being closed: after that its socket may be somebody else's.
    func forget(_ connection: OpaquePointer) {
        state.withLock { _ = $0.waiting.removeValue(forKey: Int(bitPattern: connection)) }
    }

    /// Answers the request that this thread reads past libmicrohttpd, and ends its connection.
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

    /// Ends the connections whose deadline has passed.
    func endLate() {
        let now = ContinuousClock.now
        state.withLock { state in
            for (key, waiting) in state.waiting where waiting.deadline <= now { Self.end(key, &state) }
        }
    }

    private func expect(_ connection: OpaquePointer, within time: Duration) {
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
            state.waiting[key] = Waiting(socket: socket, deadline: .now + time, thread: thread)
        }
    }

    private static func end(_ key: Int, _ state: inout State) {
        guard let waiting = state.waiting.removeValue(forKey: key) else { return }
        shutdown(waiting.socket, Int32(SHUT_RDWR))
    }
}
