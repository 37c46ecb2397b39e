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

    /// The forms of a log's line.
    package enum Form: String, Sendable, CaseIterable {
        /// `2026-11-22T15:00:36Z 127.0.0.1 GET /api/models 200 1234`
        case plain
        /// The Common Log Format, which tools for logs read.
        case common
        /// One object a line.
        case json
    }

    /// A line of a log, without secrets.
    ///
    /// - Parameter token: redacted, as in ``line(at:hiding:)``.
    package func line(_ form: Form, at seconds: Double, hiding token: AccessToken?) -> String {
        switch form {
        case .plain: return line(at: seconds, hiding: token)
        case .common:
            // A quote in a target would end the field.
            let target = shown(target, token).replacing("\"", with: "%22")
            let length = length.map { String($0) } ?? "-"
            return
                "\(shown(client, nil)) - - [\(Self.commonTime(seconds))] \"\(shown(method, token)) \(target) HTTP/1.1\" \(status) \(length)"
        case .json:
            let object: JSONObject = [
                "time": .string(Timestamp.iso8601(seconds)), "client": .string(client),
                "method": .string(shown(method, token)), "target": .string(shown(target, token)),
                "status": .int(Int64(status)), "bytes": length.map { .int($0) } ?? .null,
            ]
            return JSON.object(object).text()
        }
    }

    private func shown(_ text: String, _ token: AccessToken?) -> String {
        let text = text.printable
        return Secrets.masked(in: token?.masked(in: text) ?? text)
    }

    /// `25/Nov/2026:10:00:00 +0000`
    private static func commonTime(_ seconds: Double) -> String {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let text = Timestamp.iso8601(seconds)
        let date = text.prefix(10).split(separator: "-")
        let month = months[(Int(date[1]) ?? 1) - 1]
        return "\(date[2])/\(month)/\(date[0]):\(text.dropFirst(11).prefix(8)) +0000"
    }

    /// `2026-11-22T15:00:36Z 127.0.0.1 GET /api/models 200 1234`
    ///
    /// - Parameter token: redacted, even inside an address; so is anything that looks like a token.
    package func line(at seconds: Double, hiding token: AccessToken?) -> String {
        let length = length.map { String($0) } ?? "-"
        let text = "\(client) \(method) \(target) \(status) \(length)".printable
        return "\(Timestamp.iso8601(seconds)) \(Secrets.masked(in: token?.masked(in: text) ?? text))"
    }
}
