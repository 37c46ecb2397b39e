package import HubCore
package import HubServer

/// What a server answered.
package struct HTTPReply: Sendable {
    package var status: Int
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// Whether the body came to its end; false if the connection was cut before.
    package var isComplete: Bool

    package init(status: Int, headers: HTTPHeaders, body: [UInt8], isComplete: Bool) {
        self.status = status
        self.headers = headers
        self.body = body
        self.isComplete = isComplete
    }

    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON.
    package func json() throws -> JSON { try JSON.parse(body) }
}
