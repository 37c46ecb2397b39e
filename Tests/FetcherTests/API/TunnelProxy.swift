import HubCore
import Support

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A proxy that answers CONNECT, and leads every tunnel to one port of this machine, whatever name was asked for.
final class TunnelProxy: Sendable {
    /// `http://127.0.0.1:PORT`
    let address: String
    private let listener: Int32
    private let log = Monitor<[String]>([])

    /// The first line of each request.
    var requests: [String] { log.update { $0 } }

    init(to port: UInt16) throws {
        listener = Self.socketOfThisMachine()
        var place = Self.place(0)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        var length = size
        let listener = listener
        let isListening = withUnsafeMutablePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw AIError.system("cannot listen", path: "127.0.0.1", errno: errno) }
        address = "http://127.0.0.1:\(UInt16(bigEndian: place.sin_port))"
        let log = log
        Thread.start {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                Thread.start { Self.serve(client, port, log) }
            }
        }
    }

    deinit {
        // Wakes the thread in accept, on Linux and on macOS.
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ client: Int32, _ port: UInt16, _ log: Monitor<[String]>) {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual(Array("\r\n\r\n".utf8)) {
            guard recv(client, &byte, 1, 0) == 1 else {
                close(client)
                return
            }
            head.append(byte)
        }
        log.update { $0.append(String(decoding: head.prefix { $0 != 13 }, as: UTF8.self)) }
        let server = socketOfThisMachine()
        var place = place(port)
        let isConnected = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        let answer = isConnected ? "200 Connection established\r\nX-Error-Code: OfTheProxy" : "502 Bad Gateway"
        _ = pass(Array("HTTP/1.1 \(answer)\r\n\r\n".utf8)[...], to: client)
        Thread.start { pump(from: client, to: server) }
        pump(from: server, to: client)
    }

    /// Until one side ends. The sockets are left to the end of the tests: two threads share each.
    private static func pump(from: Int32, to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            guard count > 0, pass(buffer[..<count], to: to) else { break }
        }
        shutdown(to, Int32(SHUT_WR))
    }

    private static func pass(_ bytes: ArraySlice<UInt8>, to socket: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            #if os(Linux)
            let flags = Int32(MSG_NOSIGNAL)
            #else
            let flags: Int32 = 0
            #endif
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func socketOfThisMachine() -> Int32 {
        #if os(Linux)
        return socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        return socket(AF_INET, SOCK_STREAM, 0)
        #endif
    }

    private static func place(_ port: UInt16) -> sockaddr_in {
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = in_port_t(port.bigEndian)
        place.sin_addr.s_addr = inet_addr("127.0.0.1")
        return place
    }
}
