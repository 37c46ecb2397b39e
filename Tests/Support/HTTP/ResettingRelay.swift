import HubCore

/// Stands before a server of this machine and tears connections: the client gets a reset in the middle of an answer, as
/// from a firewall that has forgotten the connection.
package final class ResettingRelay: Sendable {
    /// `http://127.0.0.1:PORT`
    package let address: String
    private let listener: Int32
    private let count = Monitor(0)

    /// How many connections have been reset.
    package var resets: Int { count.update { $0 } }

    /// - Parameters:
    ///   - address: the server's.
    ///   - limit: the bytes of answers after which a connection is torn.
    ///   - times: how many connections are; those after them are left alone.
    package init(to address: String, resettingAfter limit: Int, times: Int = 1) throws {
        guard let port = Origin(address).flatMap({ UInt16(exactly: $0.port) }) else {
            throw AIError(.invalidInput, "\(address) is no address")
        }
        let (listener, ownPort) = try LoopbackSocket.listening()
        self.listener = listener
        self.address = "http://127.0.0.1:\(ownPort)"
        let count = count
        Thread.start {
            while let client = LoopbackSocket.next(listener) {
                Thread.start {
                    Self.serve(client, port) { passed in
                        count.update { count in
                            guard passed >= limit, count < times else { return false }
                            count += 1
                            return true
                        }
                    }
                }
            }
        }
    }

    deinit { LoopbackSocket.stopListening(listener) }

    /// One connection on one thread, so that nothing else holds the socket when it is reset.
    ///
    /// - Parameter isEnough: whether it is to be torn after so many bytes.
    private static func serve(_ client: Int32, _ port: UInt16, _ isEnough: (Int) -> Bool) {
        guard let server = LoopbackSocket.connected(to: port) else { return LoopbackSocket.drop(client) }
        defer { LoopbackSocket.drop(server) }
        var passed = 0
        while true {
            let ready = LoopbackSocket.waitForEither(client, server)
            if ready.one {
                let bytes = LoopbackSocket.receive(client)
                guard !bytes.isEmpty, LoopbackSocket.send(bytes, to: server) else { break }
            }
            if ready.two {
                let bytes = LoopbackSocket.receive(server)
                guard !bytes.isEmpty, LoopbackSocket.send(bytes, to: client) else { break }
                passed += bytes.count
                if isEnough(passed) { return LoopbackSocket.reset(client) }
            }
        }
        LoopbackSocket.drop(client)
    }
}
