package import HubCore

/// The Hub's protocol over a source of repositories: a request in, a response out, no socket.
/// https://huggingface.co/docs/hub/api
package struct HubService: HTTPHandler {
    let source: any RepositorySource
    let access: HubAccess
    let delivery: any FileDelivery
    let pages: PageSizes
    let report: @Sendable (AIError) -> Void

    /// Maximum number of items in a page of a list.
    package struct PageSizes: Sendable {
        package var models = 1000
        package var tree = 1000
        /// For a tree with `expand`, whose items are expensive on the real Hub.
        package var expandedTree = 50

        package init() {}
    }

    /// - Parameters:
    /// - delivery: how a file's bytes are delivered; the default sends them without a redirect.
    /// - report: called for every error that the client sees only as status 500.
    package init(
        _ source: any RepositorySource, access: HubAccess, delivery: any FileDelivery = DirectDelivery(),
        pages: PageSizes = PageSizes(), report: @escaping @Sendable (AIError) -> Void
    ) {
        self.source = source
        self.access = access
        self.delivery = delivery
        self.pages = pages
        self.report = report
    }

    package func respond(to request: HTTPRequest) -> HTTPResponse {
        do throws(HubFault) { return try answer(request) } catch { return error.response }
    }

    private func answer(_ request: HTTPRequest) throws(HubFault) -> HTTPResponse {
        let parts: [String]
        let query: HTTPQuery
        do throws(HTTPFault) {
            guard try access.admits(hosts: request.headers.all("Host")) else {
                // RFC 9110, 15.5.20: this server does not serve that name.
                throw HTTPFault(status: 421, reason: "this server does not serve that Host")
            }
            parts = try request.pathParts()
            query = try request.query()
        } catch { throw .malformed(error) }

        let identity = access.identity(request.headers)
        if access.policy == .token, identity != .owner { throw identity == .anonymous ? .login : .credentials }
        let readings = HubRoute.readings(parts)
        guard let first = readings.first else { throw .page }
        guard readings.contains(where: { $0.methods.contains(request.method) }) else {
            throw .method(allowed: first.methods.joined(separator: ", "))
        }
        let call = HubCall(service: self, request: request, query: query, identity: identity)
        switch first {
        case .whoami: return try call.whoami()
        case .agentHarnesses: return .json(.object(["standardEnvVars": .array([]), "harnesses": .object([:])]))
        case .list(let kind): return try call.list(kind)
        default: return try call.answer(readings)
        }
    }

    /// Reads from the source; an error becomes status 500 and is reported.
    func reading<Value>(_ body: () throws(AIError) -> Value) throws(HubFault) -> Value {
        do throws(AIError) { return try body() } catch {
            report(error)
            throw .machine(error)
        }
    }
}

/// One request in the service.
struct HubCall {
    let service: HubService
    let request: HTTPRequest
    let query: HTTPQuery
    let identity: HubIdentity

    func whoami() throws(HubFault) -> HTTPResponse {
        guard identity == .owner else { throw identity == .anonymous ? .login : .credentials }
        return .json(
            .object([
                "type": "user", "id": .string(String(repeating: "0", count: 24)), "name": "local",
                "fullname": "The owner of this Hub", "email": nil, "orgs": .array([]),
                "auth": .object([
                    "type": "access_token",
                    "accessToken": .object(["displayName": "hub serve", "role": "read"]),
                ]),
            ]))
    }

    /// Serves the first reading whose repository exists and is visible to the client.
    func answer(_ readings: [HubRoute]) throws(HubFault) -> HTTPResponse {
        for route in readings where route.methods.contains(request.method) {
            guard let repository = route.repository,
                let served = try service.reading({ () throws(AIError) in try service.source.repository(repository) }
                )
            else { continue }
            let card = try service.reading { () throws(AIError) in try served.card() }
            if card.isPrivate, identity != .owner { continue }
            return try RepositoryCall(call: self, repository: repository, served: served, card: card).answer(route)
        }
        throw .repository(identity)
    }
}
