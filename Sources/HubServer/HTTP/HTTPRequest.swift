import HubCore

/// A request as received, with its whole body: the Hub's request bodies are small.
package struct HTTPRequest: Sendable {
    package var method: String
    /// Path and query as sent, still percent-encoded.
    package var target: String
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// The connection that it came on; nil for a request that came on none.
    package var connection: ClientConnection?
    /// The client's numeric address, as a trusted proxy names it; empty if it is not known.
    package var client = ""
    /// `https` where a trusted proxy says so.
    package var scheme = "http"

    package init(_ method: String, _ target: String, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// This server's address as the client wrote it: `http://127.0.0.1:8080`.
    package var origin: String { "\(scheme)://\(headers["Host"] ?? "")" }

    /// The path as sent.
    package var rawPath: String { String(Substring(target.utf8.prefix { $0 != UInt8(ascii: "?") })) }

    /// The query as sent, without its question mark.
    package var rawQuery: String {
        target.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(target[target.utf8.index(after: $0)...]) } ?? ""
    }

    /// The query's items.
    package func query() throws(HTTPFault) -> HTTPQuery { try HTTPQuery(rawQuery) }

    /// Whether a person reads the answer, in a browser. Clients of the Hub name JSON, or no type.
    package var isForReading: Bool { headers["Accept"]?.contains("text/html") == true }

    /// The path's parts, each decoded. A part can contain a slash: the Hub's clients write `refs%2Fpr%2F1` and
    /// `sub%2Fdir`.
    ///
    /// - Throws: ``HTTPFault`` (400) for a bad escape, for invalid UTF-8, for control characters including NUL, and for
    ///   `.` and `..`, which no client of the Hub sends.
    package func pathParts() throws(HTTPFault) -> [String] {
        // Bytes, not characters: to Swift a slash and a combining mark are one character, different from "/".
        var rest = rawPath.utf8[...]
        guard rest.popFirst() == UInt8(ascii: "/") else { throw .malformed("the path does not begin with a slash") }
        var parts: [String] = []
        for raw in Path.parts(Substring(rest), omittingEmpty: false) {
            guard let part = PercentEncoding.decode(raw) else { throw .malformed("the path has a bad escape") }
            guard part.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
                throw .malformed("the path holds a control character")
            }
            guard !Path.parts(part).contains(where: { $0 == "." || $0 == ".." }) else {
                throw .malformed("the path climbs")
            }
            parts.append(part)
        }
        // A trailing slash names the same thing.
        if parts.count > 1, parts.last == "" { parts.removeLast() }
        guard !parts.contains("") || parts == [""] else { throw .malformed("the path has an empty part") }
        return parts
    }
}

/// An HTTP error found before the Hub's service handles the request.
package struct HTTPFault: Error, Sendable {
    package var status: Int
    package var reason: String

    package static func malformed(_ reason: String) -> HTTPFault { HTTPFault(status: 400, reason: reason) }
}
