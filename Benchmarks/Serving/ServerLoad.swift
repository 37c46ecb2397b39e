import HubCore
import Libc

/// Many clients of a server: connections that are only open, and others that ask for a small file again and again.
///
///     Benchmarks load PORT PATH
enum ServerLoad {
    static let idle = 2000
    static let active = 200
    static let requests = 100_000
    /// Requests a second of all active connections together: half of what one core answers, or the queue would be measured.
    static let rate = 4000.0

    /// Runs the task if the first word names it; otherwise returns false.
    static func run(_ arguments: [String]) throws -> Bool {
        guard arguments.first == "load", arguments.count == 3, let port = UInt16(arguments[1]) else { return false }
        Machine.raiseOpenFileLimit(to: 10_000)
        let path = arguments[2]
        // Memory and code that the first answers need are no growth.
        let first = try LoadConnection(port)
        for _ in 0..<100 { try first.ask(path) }
        let before = try memory(first)
        let silent = try (0..<idle).map { _ in
            let connection = try LoadConnection(port)
            try connection.ask(path)
            return connection
        }
        let talking = try (0..<active).map { _ in try LoadConnection(port) }
        let began = Clock.seconds
        let (waits, lost) = talk(talking, path)
        let seconds = Clock.seconds - began
        // Whoever was silent is still served.
        let gone = silent.count { (try? $0.ask(path)) == nil }
        let after = try memory(first)
        let sorted = waits.sorted()
        let result: JSONObject = [
            "lost": .int(Int64(lost + gone)), "requests": .int(Int64(waits.count)),
            "p99_seconds": .double(sorted.isEmpty ? 0 : sorted[sorted.count * 99 / 100]),
            "median_seconds": .double(sorted.isEmpty ? 0 : sorted[sorted.count / 2]),
            "growth_bytes": .double(after - before), "seconds": .double(seconds),
        ]
        print(JSON.object(result).text())
        return true
    }

    /// Asks on all connections at an even pace, by one thread. The time of each answer counts from the moment that the
    /// request is due.
    private static func talk(_ connections: [LoadConnection], _ path: String) -> (waits: [Double], lost: Int) {
        var waits: [Double] = []
        waits.reserveCapacity(requests)
        var lost = 0
        var due = [Double](repeating: 0, count: connections.count)
        var isWaiting = [Bool](repeating: false, count: connections.count)
        var polled = connections.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
        let began = Clock.seconds
        var sent = 0
        while waits.count + lost < requests {
            while sent < requests, began + Double(sent) / rate <= Clock.seconds {
                let index = sent % connections.count
                // A connection whose last answer is late delays its next request, and that counts too.
                if isWaiting[index] { break }
                due[index] = began + Double(sent) / rate
                if (try? connections[index].send(path)) == nil { lost += 1 } else { isWaiting[index] = true }
                sent += 1
            }
            guard poll(&polled, nfds_t(polled.count), 1) > 0 else { continue }
            for index in polled.indices where polled[index].revents != 0 && isWaiting[index] {
                do {
                    guard try connections[index].receive() else { continue }
                    waits.append(Clock.seconds - due[index])
                } catch {
                    lost += 1
                    polled[index].fd = -1
                }
                isWaiting[index] = false
            }
        }
        return (waits, lost)
    }

    /// The memory of a server in bytes, by its metrics.
    static func memory(_ connection: LoadConnection) throws -> Double {
        let text = try connection.ask("/metrics")
        let line = text.split(separator: "\n").first { $0.hasPrefix("process_resident_memory_bytes ") }
        guard let value = line?.split(separator: " ").last.flatMap({ Double($0) }) else {
            throw AIError(.ioError, "the server does not say its memory")
        }
        return value
    }
}

/// A connection to a server on this machine that stays open.
final class LoadConnection {
    let socket: Int32
    private var received: [UInt8] = []

    init(_ port: UInt16) throws {
        #if os(Linux)
        socket = Libc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        socket = Libc.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafeBytes(of: &address) {
            connect(
                socket, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self),
                socklen_t(MemoryLayout<sockaddr_in>.size))
        }
        guard socket >= 0, status == 0 else {
            throw AIError.system("cannot connect to", path: "the server", errno: errno)
        }
    }

    deinit { close(socket) }

    /// - Parameter isWhole: whether this is a request, and not the path of one.
    func send(_ path: String, isWhole: Bool = false) throws {
        let request = isWhole ? path : "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        let count = request.utf8.count
        guard Libc.send(socket, request, count, Int32(MSG_NOSIGNAL)) == count else {
            throw AIError(.connectionLost, "the server has closed the connection")
        }
    }

    /// Reads what has come; whether the answer is whole. Another status than 200 is an error.
    func receive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { throw AIError(.connectionLost, "the server has closed the connection") }
        received += buffer[..<count]
        guard let head = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return false }
        let text = String(decoding: received[..<head.lowerBound], as: UTF8.self)
        let length = text.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.drop { $0 != ":" }.dropFirst().drop { $0 == " " }) }
        guard text.hasPrefix("HTTP/1.1 200 "), let length else {
            throw AIError(.serverError, "the server answers \(text.prefix { $0 != "\r\n" })")
        }
        guard received.count >= head.upperBound + length else { return false }
        body = String(decoding: received[head.upperBound..<head.upperBound + length], as: UTF8.self)
        received.removeFirst(head.upperBound + length)
        return true
    }

    private var body = ""

    @discardableResult
    func ask(_ path: String) throws -> String {
        try send(path)
        while try !receive() {}
        return body
    }
}
