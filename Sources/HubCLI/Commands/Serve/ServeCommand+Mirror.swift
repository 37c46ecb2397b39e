import Fetcher
import HubCore
import HubMirror
import HubServer

extension ServeCommand {
    /// The mirror, or the cache alone: a mirror without an upstream.
    static func mirrorSetup(_ context: Context, _ request: Request, _ metrics: ServerMetrics) async throws -> Setup
    {
        let output = context.output
        let isOffline = context.isOffline || !request.isMirror
        let endpoint =
            try request.upstream.map { text throws(AIError) in try Endpoint(text) } ?? context.hubEndpoint()
        if !isOffline { try refuseItself(endpoint, request, context.environment) }
        let isLoopback = request.isLocal
        let authorisation = try authorisation(context, request, isLoopback: isLoopback, isOffline: isOffline)
        let workspace = try await context.workspace(endpoint: endpoint, isOffline: isOffline)
        let environment = context.environment
        let answers = Path.join(environment.expand(environment["XDG_CACHE_HOME"] ?? "~/.cache"), "hub/mirror")
        var settings = MirrorSettings(answers: answers)
        settings.authorisation = authorisation
        settings.ttl = request.ttl
        settings.maxSize = request.maxSize
        let mirror = await Blocking.run { [settings] in
            Mirror(
                workspace, settings: settings, metrics: metrics, report: { output.failure($0) },
                notice: { output.warning($0) })
        }
        // Off the loopback nobody reads the metrics without a token.
        var tokens: TokenList?
        if !isLoopback {
            if case .own(let list) = authorisation {
                tokens = list
            } else {
                tokens = environment["HUB_SERVE_TOKEN"].map { TokenList($0) } ?? TokenList()
            }
        }
        let root = workspace.layout.root
        return Setup(
            rooms: [mirror], access: doorAccess(request),
            metricsTokens: tokens,
            document: ["cache": .string(root), "upstream": isOffline ? .null : .string(endpoint.address)],
            announce: { _ in
                output.note(
                    isOffline
                        ? "serving the cache \(root); Ctrl-C stops it"
                        : "mirroring \(endpoint) into \(root); Ctrl-C stops it")
            },
            began: { server, log in
                // The port after the first if it is free, so that a firewall can let both through.
                let next = server.port == .max ? 0 : server.port + 1
                func start(_ port: UInt16) throws(AIError) -> HubServer {
                    try HubServer(
                        host: request.host, port: port, proxies: request.proxies, log: log?.write,
                        handler: mirror.largeFiles)
                }
                let second = try (try? start(next)) ?? start(0)
                mirror.serveLargeFiles(onPort: second.port)
                return second
            }, stop: { mirror.stop() })
    }

    private static func authorisation(
        _ context: Context, _ request: Request, isLoopback: Bool, isOffline: Bool
    ) throws -> ClientAuthorisation {
        let token = context.environment["HUB_SERVE_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
        if case .cache = request.subject {
            if isLoopback { return .none }
            guard let token else {
                throw AIError(
                    .invalidInput, "\(request.reachable), and no token is set",
                    advice: "set HUB_SERVE_TOKEN, or serve on 127.0.0.1")
            }
            return .own(TokenList(token))
        }
        switch request.auth {
        case nil where isLoopback: return .none
        case nil:
            throw AIError(
                .invalidInput, "\(request.reachable), and --auth is missing",
                advice: "give --auth own or --auth forward, or serve on 127.0.0.1")
        case .none?:
            guard isLoopback else {
                throw AIError(
                    .invalidInput, "--auth none: \(request.reachable)",
                    advice: "give --auth own or --auth forward, or serve on 127.0.0.1")
            }
            return .none
        case .own?:
            var list = try request.authFile.map { file throws(AIError) in
                try TokenList(file: context.environment.expand(file))
            }
            if let token {
                if list == nil { list = TokenList(token) } else { list?.add(TokenList(token)) }
            }
            guard let list else {
                throw AIError(
                    .invalidInput, "--auth own needs a token",
                    advice: "set HUB_SERVE_TOKEN, or give --auth-file FILE")
            }
            return .own(list)
        case .forward?:
            guard !isOffline else {
                throw AIError(
                    .invalidInput, "--auth forward asks the Hub about each client, and the network is switched off",
                    advice: "leave out --offline, or use --auth own")
            }
            return .forward
        }
    }

    /// A mirror of itself would ask itself for ever.
    static func refuseItself(_ endpoint: Endpoint, _ request: Request, _ environment: HubEnvironment)
        throws(AIError)
    {
        let usual = try usualPort(environment)
        let port = request.port ?? usual
        guard port != 0, endpoint.origin.port == Int(port) else { return }
        let host = endpoint.origin.host.lowercased()
        let own = [request.host.lowercased(), Machine.hostName.lowercased()]
        guard
            own.contains(host) || (HubAccess.isLoopback(host) && HubAccess.isLoopback(own[0]))
                || (HubAccess.isLoopback(host) && ["0.0.0.0", "::"].contains(own[0]))
        else { return }
        throw AIError(
            .invalidInput, "\(endpoint) is this mirror itself",
            advice: "give the Hub's address with --upstream, such as https://huggingface.co")
    }
}
