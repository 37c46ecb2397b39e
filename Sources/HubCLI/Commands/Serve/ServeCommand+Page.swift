import Fetcher
import HubCore
import HubServer

extension ServeCommand {
    /// The web page beside what else is served; nil without `--page`.
    static func pageRoom(_ context: Context, _ request: Request, _ setup: Setup, _ metrics: ServerMetrics) async throws
        -> PageRoom?
    {
        guard request.hasPage else { return nil }
        let endpoint =
            try request.upstream.map { text throws(AIError) in try Endpoint(text) } ?? context.hubEndpoint()
        if !context.isOffline { try refuseItself(endpoint, request) }
        let token = context.environment["HUB_SERVE_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
        let place = PagePlace(
            context: context, workspace: try await context.workspace(endpoint: endpoint),
            downloads: PageDownloads(), log: PageLog(hiding: token.flatMap { AccessToken($0) }), metrics: metrics,
            hasAPI: false)
        return PageRoom(place: place, session: PageSession(tokens: try visitors(request, setup, token)))
    }

    /// The tokens that open the page where others can reach it; nil on the loopback.
    private static func visitors(_ request: Request, _ setup: Setup, _ token: String?) throws(AIError) -> TokenList? {
        guard !HubAccess.isLoopback(request.host.lowercased()) else { return nil }
        if request.auth == .own, let tokens = setup.metricsTokens { return tokens }
        guard let token else {
            throw AIError(
                .invalidInput, "\(request.host.printable) can be reached by others, and --page has no token",
                advice: "set HUB_SERVE_TOKEN, or serve on 127.0.0.1")
        }
        return TokenList(token)
    }
}
