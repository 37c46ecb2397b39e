package import HubCore
package import HubServer
package import InferenceKit

/// The API: models of the cache, by the protocols of OpenAI and Ollama. A room behind the server's front door.
package struct APIRoom: ServerRoom {
    package struct Settings: Sendable {
        package var access: APIAccess
        /// How models are opened.
        package var options: ModelOptions
        /// How long a model stays open when nobody uses it.
        package var idle: KeepAlive
        /// Texts generated at once.
        package var parallel: Int
        /// Requests that may wait.
        package var queue: Int

        package init(access: APIAccess, options: ModelOptions, idle: KeepAlive, parallel: Int, queue: Int) {
            self.access = access
            self.options = options
            self.idle = idle
            self.parallel = parallel
            self.queue = queue
        }
    }

    private let access: APIAccess
    private let routes: APIRoutes
    let calls: OpenAICalls

    package init(_ shelf: Shelf, _ settings: Settings, metrics: ServerMetrics) throws(AIError) {
        access = settings.access
        let runner = TurnRunner(
            pool: try ModelPool(options: settings.options, idle: settings.idle),
            slots: Slots(parallel: settings.parallel, queue: settings.queue, metrics: metrics),
            counters: TurnCounters(metrics))
        routes = APIRoutes(shelf, runner)
        calls = OpenAICalls(shelf: shelf, runner: runner)
    }

    package func claims(_ parts: [String]) -> Bool { routes.knows(parts) }

    /// `/` is a page for who reads HTML; Ollama's clients ask whether somebody is there.
    package func claims(_ parts: [String], of request: HTTPRequest) -> Bool {
        if parts == [""] { return !request.isForReading }
        return claims(parts)
    }

    package func route(_ parts: [String]) -> String { routes.name(parts) }

    package func respond(to request: HTTPRequest) -> HTTPResponse {
        let dialect = request.rawPath.hasPrefix("/api/") ? Dialect.ollama : .openAI
        var response: HTTPResponse
        do throws(APIFault) { response = try answer(request) } catch { response = dialect.response(error) }
        response.headers.merge(access.sharing(request))
        return response
    }

    private func answer(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let parts: [String]
        do throws(HTTPFault) { parts = try request.pathParts() } catch { throw .invalid(error.reason) }
        if parts == [""] {
            return HTTPResponse(
                200, headers: ["Content-Type": "text/plain; charset=utf-8"],
                body: .bytes(Array("Ollama is running".utf8)))
        }
        // A browser asks before a page may; whether it may is in the headers that are added to every answer.
        if request.method == "OPTIONS" {
            return HTTPResponse(
                204,
                headers: [
                    "Access-Control-Allow-Methods": "GET, POST, DELETE",
                    "Access-Control-Allow-Headers": request.headers["Access-Control-Request-Headers"] ?? "*",
                    "Access-Control-Max-Age": "600",
                ])
        }
        guard let route = routes.route(parts) else {
            try access.admit(request, needsKey: false)
            throw .noPage
        }
        try access.admit(request, needsKey: route.changes)
        let method = request.method == "HEAD" ? "GET" : request.method
        guard method == route.method else {
            var fault = APIFault.invalid("this address answers \(route.method) only")
            (fault.status, fault.headers["Allow"]) = (405, route.method)
            throw fault
        }
        return try route.answer(request)
    }
}
