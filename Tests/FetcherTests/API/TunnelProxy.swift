import Support

/// A proxy that answers CONNECT, and leads every tunnel to one port of this machine, whatever name was asked for.
final class TunnelProxy: Sendable {
    /// `http://127.0.0.1:PORT`
    let address: String
    private let listener: Int32
    private let log = Monitor<[String]>([])

    /// The first line of each request.
    var requests: [String] { log.update { $0 } }

    init(to port: UInt16) throws {
        let (listener, ownPort) = try LoopbackSocket.listening()
        self.listener = listener
        address = "http://127.0.0.1:\(ownPort)"
        let log = log
        Thread.start {
            while let client = LoopbackSocket.next(listener) { Thread.start { Self.serve(client, port, log) } }
        }
    }

    deinit { LoopbackSocket.stopListening(listener) }

    private static func serve(_ client: Int32, _ port: UInt16, _ log: Monitor<[String]>) {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual(Array("\r\n\r\n".utf8)) {
            let byte = LoopbackSocket.receive(client, atMost: 1)
            guard !byte.isEmpty else { return LoopbackSocket.drop(client) }
            head += byte
        }
        log.update { $0.append(String(decoding: head.prefix { $0 != 13 }, as: UTF8.self)) }
        guard let server = LoopbackSocket.connected(to: port) else {
            LoopbackSocket.send(Array("HTTP/1.1 502 Bad Gateway\r\n\r\n".utf8), to: client)
            return LoopbackSocket.drop(client)
        }
        let answer = "HTTP/1.1 200 Connection established\r\nX-Error-Code: OfTheProxy\r\n\r\n"
        LoopbackSocket.send(Array(answer.utf8), to: client)
        Thread.start { pump(from: client, to: server) }
        pump(from: server, to: client)
    }

    /// Until one side ends. The sockets are left to the end of the tests: two threads share each.
    private static func pump(from: Int32, to: Int32) {
        while true {
            let bytes = LoopbackSocket.receive(from)
            guard !bytes.isEmpty, LoopbackSocket.send(bytes, to: to) else { break }
        }
        LoopbackSocket.end(to)
    }
}
