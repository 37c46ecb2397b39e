package import HubServer
import CSupport
import HubCore
import Libc

/// One connection to a server of this machine, byte for byte under the test's control. It blocks, so tests call it on a
/// ``Thread``; it decodes nothing, follows nothing and repeats nothing.
package final class HTTPConnection {
    private let descriptor: Int32
    private let host: String
    private var buffer: [UInt8] = []

    /// - Parameter address: `http://127.0.0.1:PORT`
    package init(_ address: String) throws {
        guard let origin = Origin(address) else { throw AIError(.invalidInput, "\(address) is no address") }
        host = origin.description.dropping(prefix: "http://") ?? origin.description
        #if os(Linux)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw AIError.system("cannot make a socket to", path: address, errno: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // A server that hangs fails the test; it does not hang it.
        var patience = timeval(tv_sec: Int(TestTimeout.seconds), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = in_port_t(UInt16(origin.port).bigEndian)
        place.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // Everything is set by now, so that deinit closes it.
        guard result == 0 else { throw AIError.system("cannot connect to", path: address, errno: errno) }
    }

    deinit { close(descriptor) }

    /// Sends bytes as they are.
    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends bytes as they are.
    package func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { support_send(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw AIError.system("cannot send to", path: host, errno: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends a request and reads its answer.
    package func request(
        _ method: String, _ target: String, headers: HTTPHeaders = [:], body: [UInt8] = []
    ) throws -> HTTPReply {
        try sendRequest(method, target, headers: headers, body: body)
        return try reply(to: method)
    }

    /// Sends a request.
    package func sendRequest(
        _ method: String, _ target: String, headers: HTTPHeaders = [:], body: [UInt8] = []
    ) throws {
        var head = "\(method) \(target) HTTP/1.1\r\n"
        var all = headers
        if all["Host"] == nil { all["Host"] = host }
        if !body.isEmpty { all["Content-Length"] = String(body.count) }
        for field in all.fields { head += "\(field.name): \(field.value)\r\n" }
        try send(Array((head + "\r\n").utf8) + body)
    }

    /// Reads an answer.
    package func reply(to method: String = "GET") throws -> HTTPReply {
        let (status, headers) = try head()
        if method == "HEAD" || status == 204 || status == 304 {
            return HTTPReply(status: status, headers: headers, body: [], isComplete: true)
        }
        if headers["Transfer-Encoding"]?.lowercased() == "chunked" {
            let (body, isComplete) = try chunks()
            return HTTPReply(status: status, headers: headers, body: body, isComplete: isComplete)
        }
        guard let length = headers["Content-Length"].flatMap(Int.init) else {
            let body = try take(Int.max)
            return HTTPReply(status: status, headers: headers, body: body, isComplete: true)
        }
        let body = try take(length)
        return HTTPReply(status: status, headers: headers, body: body, isComplete: body.count == length)
    }

    /// Reads the head of an answer; the body is read with ``take(_:)``.
    package func head() throws -> (status: Int, headers: HTTPHeaders) {
        let status = try line()
        let words = status.split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let code = Int(words[1]) else {
            throw AIError(.protocolViolation, "\"\(status.printable)\" is no status line")
        }
        var headers = HTTPHeaders()
        while true {
            let text = try line()
            if text.isEmpty { return (code, headers) }
            guard let colon = text.firstIndex(of: ":") else {
                throw AIError(.protocolViolation, "\"\(text.printable)\" is no header")
            }
            let value = text[text.index(after: colon)...].drop { $0 == " " }
            headers.add(String(text[..<colon]), String(value))
        }
    }

    /// Reads so many bytes, fewer only where the connection ends.
    package func take(_ count: Int) throws -> [UInt8] {
        while buffer.count < count, try fill() {}
        defer { buffer.removeFirst(min(count, buffer.count)) }
        return Array(buffer.prefix(count))
    }

    /// Reads and throws away, for bodies that do not fit into memory; the number of bytes.
    package func skip(_ count: Int64) throws -> Int64 {
        var done: Int64 = 0
        while done < count {
            if buffer.isEmpty, try !fill() { break }
            let step = Int(min(Int64(buffer.count), count - done))
            buffer.removeFirst(step)
            done += Int64(step)
        }
        return done
    }

    /// Whether the server has closed; waits for it or for a byte.
    package func isAtEnd() throws -> Bool { try buffer.isEmpty && !fill() }

    private func chunks() throws -> (body: [UInt8], isComplete: Bool) {
        var body: [UInt8] = []
        while true {
            guard let text = try? line() else { return (body, false) }
            guard let size = Int(text.prefix { $0 != ";" }, radix: 16) else {
                throw AIError(.protocolViolation, "\"\(text.printable)\" is no chunk")
            }
            let part = try take(size)
            body += part
            guard part.count == size, let end = try? line(), end.isEmpty else { return (body, false) }
            if size == 0 { return (body, true) }
        }
    }

    private func line() throws -> String {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[..<end]
                buffer.removeFirst(end + 1)
                return String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
            }
            guard try fill() else { throw AIError(.unreachable, "the server closed the connection") }
        }
    }

    /// Whether there was more.
    private func fill() throws -> Bool {
        var part = [UInt8](repeating: 0, count: 256 << 10)
        let count = part.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        if count > 0 { buffer += part[..<count] }
        // A reset is an end too: what was promised did not come, and that is what tests ask.
        guard count >= 0 || errno == ECONNRESET else {
            throw AIError.system("cannot receive from", path: host, errno: errno)
        }
        return count > 0
    }
}

/// Requests on separate connections, for tests that are not about the connection.
package enum HTTPClient {
    package static func request(
        _ method: String, _ address: String, headers: HTTPHeaders = [:], body: [UInt8] = []
    ) async throws -> HTTPReply {
        guard let origin = Origin(address) else { throw AIError(.invalidInput, "\(address) is no address") }
        let target = address.dropping(prefix: origin.description) ?? "/"
        return try await Thread.run {
            try HTTPConnection(origin.description).request(
                method, target.isEmpty ? "/" : target, headers: headers, body: body)
        }
    }

    package static func get(_ address: String, headers: HTTPHeaders = [:]) async throws -> HTTPReply {
        try await request("GET", address, headers: headers)
    }

    package static func head(_ address: String, headers: HTTPHeaders = [:]) async throws -> HTTPReply {
        try await request("HEAD", address, headers: headers)
    }
}
