import Fetcher
import HubAPI
import HubCore
import HubServer
import InferenceKit

extension ServeCommand {
    static let apiKeyFile = Option.text(
        "api-key-file", "FILE", kind: .file, "with api: its keys, one a line, or the SHA-256 of one",
        detail: "HUB_API_KEY is a key as well, HUB_API_KEYS several. Without any, everyone on this machine may ask."
    )
    static let models = Option.text(
        "models", "REF", repeats: true,
        "with api: a model that it may load and pull; all that are cached if none is named")
    static let idle = Option.time("idle", "with api: close models unused for so long; the default is 5m")
    static let parallel = Option.whole(
        "parallel", in: 1...256, "with api: texts generated at once; the default is 8")
    static let queue = Option.whole(
        "queue", in: 0...100_000, "with api: requests that may wait; the default is 512")

    static let apiFlags =
        [apiKeyFile.flag, models.flag, idle.flag, parallel.flag, queue.flag] + GenerationFlags.computing
        + [GenerationFlags.cache.minor.flag]

    /// What is asked of the API.
    struct APIRequest: Sendable {
        var keyFile: String?
        var models: [String]
        /// Seconds.
        var idle: Int64
        var parallel: Int
        var queue: Int
        var options: ModelOptions

        /// nil where no API is asked for.
        init?(_ parts: Set<Part>, _ arguments: ParsedArguments) throws(AIError) {
            guard parts.contains(.api) else {
                if let flag = apiFlags.map(\.name).first(where: arguments.has) {
                    throw AIError(
                        .invalidInput, "--\(flag) is about the API",
                        advice: "hub serve api takes it, and hub serve \(Request.together(parts, .api))")
                }
                return nil
            }
            keyFile = arguments[apiKeyFile]
            models = arguments.all(ServeCommand.models)
            idle = arguments[ServeCommand.idle]?.seconds ?? 300
            parallel = arguments[ServeCommand.parallel] ?? 8
            queue = arguments[ServeCommand.queue] ?? 512
            options = GenerationFlags.options(arguments)
            // Several conversations go on in turns.
            options.keptTexts = min(parallel, 4)
            options.isShared = true
        }
    }

    static func apiSetup(
        _ context: Context, _ request: Request, _ asked: APIRequest, _ session: PageSession?,
        _ metrics: ServerMetrics
    ) async throws -> Setup {
        let output = context.output
        let isLoopback = HubAccess.isLoopback(request.host.lowercased())
        let keys = try keys(asked, context.environment)
        guard isLoopback || keys != nil else {
            throw AIError(
                .invalidInput, "\(request.host.printable) can be reached by others, and the API has no key",
                advice: "set HUB_API_KEY, give --api-key-file FILE, or serve on 127.0.0.1")
        }
        let endpoint =
            try request.upstream.map { text throws(AIError) in try Endpoint(text) } ?? context.hubEndpoint()
        let workspace = try await context.workspace(endpoint: endpoint)
        let reference: @Sendable (String) async throws -> ModelReference = { name in
            try await context.resolvingAliases([name]).reference(name)
        }
        var allowed: [ModelReference]?
        if !asked.models.isEmpty {
            allowed = []
            for name in asked.models { allowed?.append(try await reference(name)) }
        }
        let settings = APIRoom.Settings(
            access: APIAccess(keys: keys) { session?.mayChange($0) ?? false }, options: asked.options,
            idle: KeepAlive(seconds: Double(asked.idle)),
            parallel: asked.parallel, queue: asked.queue)
        let shelf = Shelf(workspace, allowed: allowed, reference: reference)
        let room = try APIRoom(shelf, settings, metrics: metrics)
        return Setup(
            rooms: [room], api: room, access: doorAccess(request),
            metricsTokens: isLoopback ? nil : keys,
            document: ["cache": .string(workspace.layout.root), "needs_key": .bool(keys != nil)],
            variables: { ["OPENAI_BASE_URL=\($0)/v1"] }
        ) { _ in
            let root = workspace.layout.root
            output.note("answering with the models of \(root); Ctrl-C stops it")
            if keys == nil { output.note("no key is needed: everyone on this machine may ask") }
        }
    }

    /// The keys of the API: a file's, and those of HUB_API_KEY and HUB_API_KEYS; nil without any.
    private static func keys(_ asked: APIRequest, _ environment: HubEnvironment) throws(AIError) -> TokenList? {
        var list = try asked.keyFile.map { file throws(AIError) in try TokenList(file: environment.expand(file)) }
        let several = environment["HUB_API_KEYS"]?.split { $0 == "," || $0.isWhitespace }.map(String.init) ?? []
        for key in [environment["HUB_API_KEY"] ?? ""] + several where !key.isEmpty {
            if list == nil { list = TokenList(key) } else { list?.add(TokenList(key)) }
        }
        return list
    }

    /// The names under which this machine is reached.
    static func doorAccess(_ request: Request) -> HubAccess {
        HubAccess(
            HubAccess.isLoopback(request.host.lowercased()) ? .loopback : .token,
            names: request.names.union([request.host, Machine.hostName]),
            // Anyone in the same network can answer for `.local`, and a page on the loopback asks for no token.
            allowsPrivateNames: request.api != nil && !request.hasPage)
    }
}
