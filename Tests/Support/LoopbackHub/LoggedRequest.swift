package import HubServer

/// A request that a ``LoopbackHub`` has seen.
package struct LoggedRequest: Sendable {
    /// Its place in the log.
    package var index: Int
    package var listener: Fault.Listener
    package var method: String
    /// Decoded.
    package var path: String
    /// As it was sent, with its question mark left out.
    package var query: String
    /// Without the value of Authorization, which no log may hold.
    package var headers: HTTPHeaders
    package var hasAuthorization: Bool
    /// 0 until the head of the answer was made.
    package var status = 0
    package var responseHeaders = HTTPHeaders()
    /// Bytes of the body handed to the connection so far.
    package var bytesSent: Int64 = 0
    /// Whether the response is over, whole or cut.
    package var isFinished = false

    /// `METHOD /path`, what faults and waits are matched with.
    package var line: String { "\(method) \(path)" }
    package var range: String? { headers["Range"] }
    package var userAgent: String? { headers["User-Agent"] }

    /// Whether a regular expression is found in ``line``.
    package func matches(_ pattern: String) -> Bool { line.matches(pattern) }
}

extension String {
    /// An invalid regular expression is the test's mistake and ends it.
    func matches(_ pattern: String) -> Bool {
        do { return try Regex(pattern).firstMatch(in: self) != nil } catch { fatalError("\(pattern): \(error)") }
    }
}
