import HubCore

/// A part of a server behind the front door, such as the mirror.
package protocol ServerRoom: Sendable {
    /// Whether the room answers requests for these path parts.
    func claims(_ parts: [String]) -> Bool
    /// The same for a room that has to know more of the request than its path.
    func claims(_ parts: [String], of request: HTTPRequest) -> Bool
    /// The route's name in the metrics: one of a small fixed set.
    func route(_ parts: [String]) -> String
    /// Answers a request whose Host is allowed. Whether its sender may have the answer is the room's affair.
    func respond(to request: HTTPRequest) -> HTTPResponse
}

extension ServerRoom {
    package func claims(_ parts: [String], of request: HTTPRequest) -> Bool { claims(parts) }
}

/// What every request passes: the check of Host, `/health`, `/metrics`, and the count of answers.
package struct FrontDoor: HTTPHandler {
    private let rooms: [any ServerRoom]
    private let access: HubAccess
    private let metrics: ServerMetrics
    /// The tokens that open `/metrics`; nil leaves it open.
    private let tokens: TokenList?

    package init(
        rooms: [any ServerRoom], access: HubAccess, metrics: ServerMetrics, metricsTokens tokens: TokenList?
    ) {
        (self.rooms, self.access, self.metrics, self.tokens) = (rooms, access, metrics, tokens)
        metrics.declare(
            "hub_http_requests_total", type: "counter", "Requests answered, by route and status.", hasLabels: true)
    }

    package func respond(to request: HTTPRequest) -> HTTPResponse {
        var route = "none"
        let response: HTTPResponse
        do throws(HubFault) { response = try answer(request, &route) } catch { response = error.response }
        metrics.add("hub_http_requests_total", labels: [("route", route), ("code", String(response.status))])
        return response.readable(to: request)
    }

    private func answer(_ request: HTTPRequest, _ route: inout String) throws(HubFault) -> HTTPResponse {
        let request = request.withEscapedPercent
        let parts: [String]
        do throws(HTTPFault) {
            guard try access.admits(hosts: request.headers.all("Host")) else {
                // RFC 9110, 15.5.20: this server does not serve that name.
                throw HTTPFault(
                    status: 421, reason: "this server does not serve that Host; --allow-host NAME adds one")
            }
            parts = try request.pathParts()
        } catch { throw .malformed(error) }
        switch parts {
        case ["health"]:
            route = "health"
            return .json(.object(["status": "ok"]))
        case ["metrics"]:
            route = "metrics"
            if let tokens {
                guard let token = request.bearerToken else { throw .login }
                guard tokens.admits(token) else { throw .credentials }
            }
            return HTTPResponse(
                200, headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8"],
                body: .bytes(Array(metrics.text().utf8)))
        default: break
        }
        guard let room = rooms.first(where: { $0.claims(parts, of: request) }) else { throw .page }
        route = room.route(parts)
        return room.respond(to: request)
    }
}

extension HTTPRequest {
    /// The request with `%25` for each percent sign of the path that begins no escape: llama.cpp sends file names as they
    /// are.
    fileprivate var withEscapedPercent: HTTPRequest {
        let path = Array(rawPath.utf8)
        func isHex(_ index: Int) -> Bool {
            index < path.count && UInt8(ascii: "0") <= path[index]
                && Character(UnicodeScalar(path[index])).isHexDigit
        }
        var fixed: [UInt8] = []
        for (index, byte) in path.enumerated() {
            fixed.append(byte)
            if byte == UInt8(ascii: "%"), !isHex(index + 1) || !isHex(index + 2) { fixed += Array("25".utf8) }
        }
        guard fixed.count != path.count else { return self }
        var request = self
        request.target = String(decoding: fixed, as: UTF8.self) + target.dropFirst(rawPath.count)
        return request
    }

    /// The token of `Authorization: Bearer`; nil without one.
    package var bearerToken: String? {
        guard let parts = headers["Authorization"]?.split(separator: " "), parts.count == 2,
            parts[0].lowercased() == "bearer"
        else { return nil }
        return String(parts[1])
    }
}
