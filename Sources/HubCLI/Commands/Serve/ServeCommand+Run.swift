import HubAPI
import HubCore
import HubServer
import Libc

extension ServeCommand {
    /// What is behind the front door, and what is said about it.
    struct Setup: Sendable {
        var rooms: [any ServerRoom]
        /// The room of models among them; nil without.
        var api: APIRoom?
        var access: HubAccess
        /// The tokens that open `/metrics`; nil leaves it open.
        var metricsTokens: TokenList?
        /// Members of the document besides the address.
        var document: JSONObject
        /// Variables that point clients at an address.
        var variables: @Sendable (_ address: String) -> [String] = { ["HF_ENDPOINT=\($0)"] }
        /// Called with the address, once it serves.
        var announce: @Sendable (_ address: String) throws -> Void
        /// Starts what goes with the server.
        var began: @Sendable (HubServer, RequestLog?) throws -> HubServer? = { _, _ in nil }
        var stop: @Sendable () -> Void = {}

        /// Both, on one port; of the rooms the other's come first, for a Hub claims every address.
        func with(_ other: Setup) -> Setup {
            var both = self
            both.rooms = other.rooms + rooms
            both.api = other.api ?? api
            for (key, value) in other.document.members { both.document[key] = value }
            if var tokens = metricsTokens, let more = other.metricsTokens {
                tokens.add(more)
                both.metricsTokens = tokens
            }
            both.variables = { [variables] in variables($0) + other.variables($0) }
            both.announce = { [announce] address in
                try announce(address)
                try other.announce(address)
            }
            return both
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        // Two for each connection: itself and a file.
        Machine.raiseOpenFileLimit(to: 10_000)
        let output = context.output
        let metrics = ServerMetrics()
        // A token of the server's own: asking others for this user's Hub token would hand it to them.
        let token = context.environment["HUB_SERVE_TOKEN"]
        let log = try RequestLog(
            output, file: request.log, form: request.logForm, hiding: token.flatMap { AccessToken($0) })
        let session = try pageSession(context, request)
        let setup = try await setup(context, request, session, metrics)
        let page = try await pageRoom(context, request, session, setup.api, metrics)
        let left = ServerRevival.socket
        let inherited = left ?? inheritedSocket(context.environment)
        let (server, second) = try await Blocking.run {
            let door = FrontDoor(
                rooms: [page].compactMap { $0 } + setup.rooms, access: setup.access, metrics: metrics,
                metricsTokens: setup.metricsTokens)
            var limits = ServerLimits()
            // Long conversations.
            if request.api != nil { limits.requestBody = 16 << 20 }
            func listen(_ port: UInt16) throws -> HubServer {
                try HubServer(
                    host: request.host, port: port, inherited: inherited, limits: limits, proxies: request.proxies,
                    log: { answered in
                        log?.write(answered)
                        page?.place.log.add(answered)
                    }, handler: door)
            }
            let server = try onPort(request.port, context, listen)
            let second = try setup.began(server, log)
            try ServerRevival.prepare(server.descriptor)
            return (server, second)
        }
        if left == nil {
            try say(server, setup, hasPage: page != nil, output)
            if request.opensPage { openPage(server, context) }
        } else {
            // The address was said before.
            output.note("serving again (crash \(ServerRevival.crashes) within a minute; the sixth ends the server)")
        }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            context.interruption.onRequest { continuation.resume() }
        }
        await Blocking.run {
            let grace = Duration.seconds(request.grace)
            server.stop(grace: grace)
            second?.stop(grace: .zero)
            page?.place.downloads.stop()
            setup.stop()
        }
    }

    private static func openPage(_ server: HubServer, _ context: Context) {
        guard !Browser.open("\(clientAddress(server))/", context.environment) else { return }
        context.output.warning("no browser can be opened from here")
    }

    /// Listens on the port that was asked for; else on the usual one, or where it is taken on one that is free.
    private static func onPort(
        _ asked: UInt16?, _ context: Context, _ listen: (UInt16) throws -> HubServer
    ) throws -> HubServer {
        if let asked {
            return try advising("--port 0 takes a port that is free", where: asked == 0 ? nil : .ioError) {
                try listen(asked)
            }
        }
        let port = try usualPort(context.environment)
        do { return try listen(port) } catch let error as AIError where error.code == .ioError && port != 0 {
            let server = try listen(0)
            context.output.note("port \(port) is taken; this server has port \(server.port)")
            return server
        }
    }

    /// The port of who says nothing else.
    static func usualPort(_ environment: HubEnvironment) throws(AIError) -> UInt16 {
        guard let text = environment["HUB_SERVE_PORT"] else { return usualPort }
        guard let port = UInt16(text) else {
            throw AIError(.invalidInput, "HUB_SERVE_PORT is \"\(text.printable)\", which is no port")
        }
        return port
    }

    /// What is on stdout, and on stderr what is served.
    private static func say(_ server: HubServer, _ setup: Setup, hasPage: Bool, _ output: Output) throws {
        var document: JSONObject = ["address": .string(server.address)]
        for (key, value) in setup.document.members { document[key] = value }
        if hasPage { document["page"] = .string("\(clientAddress(server))/") }
        output.document(document)
        output.value(server.address)
        output.value("export " + setup.variables(clientAddress(server)).joined(separator: " "))
        if hasPage { output.value("\(clientAddress(server))/") }
        // The caller waits for the address, in either format.
        output.publish()
        try setup.announce(server.address)
        if hasPage { output.note("open \(clientAddress(server))/ in a browser") }
    }

    private static func setup(
        _ context: Context, _ request: Request, _ session: PageSession?, _ metrics: ServerMetrics
    ) async throws -> Setup {
        let hub: Setup? =
            switch request.subject {
            case .folder(let folder): try await folderSetup(context, request, folder)
            case .cache, .mirror: try await mirrorSetup(context, request, metrics)
            case nil: nil
            }
        guard let asked = request.api else {
            guard let hub else { preconditionFailure("something is served") }
            return hub
        }
        let api = try await apiSetup(context, request, asked, session, metrics)
        return hub?.with(api) ?? api
    }

    /// The address by which clients reach a server that listens on every address of this machine.
    private static func clientAddress(_ server: HubServer) -> String {
        ["0.0.0.0", "::"].contains(server.host) ? "http://\(Machine.hostName):\(server.port)" : server.address
    }

    /// The socket that systemd hands over; nil without one. sd_listen_fds(3)
    private static func inheritedSocket(_ environment: HubEnvironment) -> Int32? {
        guard environment["LISTEN_PID"].flatMap(Int32.init) == getpid(),
            let count = environment["LISTEN_FDS"].flatMap(Int.init), count > 0
        else { return nil }
        return 3
    }

    /// Errors of the library know nothing of flags and variables.
    static func advising<Value>(_ advice: String, where code: ErrorCode?, _ body: () throws -> Value) throws
        -> Value
    {
        do { return try body() } catch let error as AIError where error.code == code {
            var told = error
            told.specificAdvice = advice
            throw told
        }
    }
}
