import HubCore
import HubServer
import Support

/// A server whose every answer a test writes itself: for what no honest Hub would ever say.
final class ScriptedServer: Sendable {
    /// A request as it came.
    struct Asked: Sendable {
        var method: String
        /// Path and query; with the scheme and the host where a proxy was asked.
        var target: String
        var authorization: String?
        /// Its place among all requests, from 0.
        var index: Int
    }

    /// What is sent back.
    struct Answer: Sendable {
        var status = 200
        var headers: [(String, String)] = []
        var body: [UInt8] = []

        static func json(_ text: String, headers: [(String, String)] = []) -> Answer {
            Answer(headers: headers + [("Content-Type", "application/json")], body: Array(text.utf8))
        }
        static func status(_ status: Int, headers: [(String, String)] = [], _ text: String = "") -> Answer {
            Answer(status: status, headers: headers, body: Array(text.utf8))
        }
        static func redirect(_ target: String, status: Int = 302) -> Answer {
            Answer(status: status, headers: [("Location", target)])
        }
    }

    /// `http://127.0.0.1:PORT`
    let address: String
    private let server: HubServer
    private let log: Monitor<[Asked]>

    init(_ answer: @escaping @Sendable (Asked) -> Answer) throws {
        log = Monitor([])
        server = try HubServer(limits: .patient, handler: Handler(log: log, answer: answer))
        address = server.address
    }

    deinit { server.stop() }

    /// The port alone.
    var port: String { address.split(separator: ":").last.map(String.init) ?? "" }
    /// Every request so far.
    var requests: [Asked] { log.update { $0 } }

    private struct Handler: HTTPHandler {
        let log: Monitor<[Asked]>
        let answer: @Sendable (Asked) -> Answer

        func respond(to request: HTTPRequest) -> HTTPResponse {
            let asked = log.update { log in
                let asked = Asked(
                    method: request.method, target: request.target,
                    authorization: request.headers["Authorization"], index: log.count)
                log.append(asked)
                return asked
            }
            let made = answer(asked)
            var headers = HTTPHeaders()
            for (name, value) in made.headers { headers.add(name, value) }
            return HTTPResponse(made.status, headers: headers, body: .bytes(made.body))
        }
    }
}
