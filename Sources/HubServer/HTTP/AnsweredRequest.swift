package import HubCore

/// One request and its response, for a log.
package struct AnsweredRequest: Sendable {
    /// The client's numeric address.
    package var client: String
    package var method: String
    /// Path and query as they were sent.
    package var target: String
    package var status: Int
    /// Bytes of the body; nil if unknown before the end.
    package var length: Int64?

    /// `2026-11-22T15:00:36Z 127.0.0.1 GET /api/models 200 1234`
    ///
    /// - Parameter token: redacted, even inside an address; so is anything that looks like a token.
    package func line(at seconds: Double, hiding token: AccessToken?) -> String {
        let length = length.map { String($0) } ?? "-"
        let text = "\(client) \(method) \(target) \(status) \(length)".printable
        return "\(Timestamp.iso8601(seconds)) \(Secrets.masked(in: token?.masked(in: text) ?? text))"
    }
}
