import CMicroHTTPD

/// The connection of a request. Used on its own thread only, while the request is answered.
package struct ClientConnection: Sendable {
    let socket: Int32

    /// Whether the client has gone: nobody would read an answer.
    package var isGone: Bool { hub_mhd_is_gone(socket) != 0 }
}
