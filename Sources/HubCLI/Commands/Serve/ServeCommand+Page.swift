import Fetcher
import HubAPI
import HubCore
import HubServer

extension ServeCommand {
    /// Who may use the page; nil without one.
    static func pageSession(_ context: Context, _ request: Request) throws(AIError) -> PageSession? {
        guard request.hasPage else { return nil }
        guard !HubAccess.isLoopback(request.host.lowercased()) else { return PageSession(tokens: nil) }
        var tokens = try request.authFile.map { file throws(AIError) in
            try TokenList(file: context.environment.expand(file))
        }
        if let token = context.environment["HUB_SERVE_TOKEN"], !token.isEmpty {
            if tokens == nil { tokens = TokenList(token) } else { tokens?.add(TokenList(token)) }
        }
        guard let tokens else {
            throw AIError(
                .invalidInput, "\(request.host.printable) can be reached by others, and the page has no token",
                advice: "set HUB_SERVE_TOKEN, or serve on 127.0.0.1")
        }
        return PageSession(tokens: tokens)
    }

    /// The page beside what else is served; nil without a session.
    ///
    /// - Parameter api: what answers in its chat; nil without.
    static func pageRoom(
        _ context: Context, _ request: Request, _ session: PageSession?, _ api: APIRoom?, _ metrics: ServerMetrics
    ) async throws -> PageRoom? {
        guard let session else { return nil }
        let endpoint =
            try request.upstream.map { text throws(AIError) in try Endpoint(text) } ?? context.hubEndpoint()
        if !context.isOffline { try refuseItself(endpoint, request, context.environment) }
        let token = context.environment["HUB_SERVE_TOKEN"].flatMap { AccessToken($0) }
        let place = PagePlace(
            context: context, workspace: try await context.workspace(endpoint: endpoint),
            downloads: PageDownloads(), log: PageLog(hiding: token), metrics: metrics,
            talk: try await pageTalk(context, request.chat, api))
        return PageRoom(place: place, session: session)
    }
}
