import HubCore

/// Limits of a server.
package struct ServerLimits: Sendable {
    /// Connections open at once; more wait in the kernel's queue. Each may need a second descriptor, for a file.
    package var connections = UInt32(clamping: min(4096, max(32, (Machine.openFileLimit - 64) / 2)))
    /// Connections whose next request is incomplete: fewer, so that idle clients cannot use up all connections.
    package var waiting: Int
    /// Time limit for a request's head, from the opening of the connection or the head's first byte; up to twice as much
    /// after an earlier request.
    package var head: Duration = .seconds(10)
    /// Time limit for the body.
    package var body: Duration = .seconds(60)
    /// Seconds of silence after which a connection is closed; 0 for never.
    package var idleSeconds: UInt32 = 120
    /// Maximum size of a request body in bytes.
    package var requestBody: Int = 4 << 20

    package init() { waiting = Int(connections) / 4 * 3 }
}
