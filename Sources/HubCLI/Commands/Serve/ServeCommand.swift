import HubCore
import HubServer

/// `hub serve`
enum ServeCommand {
    static let mirror = Switch("mirror", "fetch from the Hub what is not here, and keep it")
    static let upstream = Option.text(
        "upstream", "URL", kind: .address, "the Hub behind the mirror; by default HF_ENDPOINT")
    static let auth = Option<MirrorAuth>.choice(
        "auth", "who may use it, and whose token goes upstream",
        detail: """
            none: everyone, and upstream no token; only on the loopback. own: who has a token of HUB_SERVE_TOKEN or \
            --auth-file, and upstream this machine's token. forward: each client's own token, checked upstream. Off the \
            loopback one must be chosen.
            """)
    static let authFile = Option.text(
        "auth-file", "FILE", kind: .file, "tokens of --auth own, or their SHA-256, one a line")
    static let ttl = Option.age(
        "ttl", "how long answers about branches, lists and missing files are kept; the default is 60s")
    static let maxSize = Option.size(
        "max-size", "keep the cache within this size: the least recently used goes, pinned models stay",
        detail: "Such as 500GB. The limit is soft: it is checked after each download.")
    static let page = Switch(
        "page", "a page for browsers at the server's address: models, downloads, storage, chat",
        detail: "Where other machines can reach it, it asks visitors for the server's token.")
    static let host = Option.text("host", "ADDRESS", "where to listen; the default is 127.0.0.1")
    static let port = Option.whole("port", in: 0...65_535, "the port; the default, 0, takes a free one")
    static let allowHost = Option.text(
        "allow-host", "NAME", repeats: true, "another name under which clients reach this server",
        detail: "Requests under other names are refused, because a web page could point its own name here.")
    static let trustProxy = Option.text(
        "trust-proxy", "ADDRESS", repeats: true, "a proxy or network whose X-Forwarded-* headers count",
        detail: """
            Such as 127.0.0.1 or 10.0.0.0/8. From anyone else these headers are ignored. With it a token is needed as where \
            other machines can reach it.
            """)
    static let log = Option.text(
        "log", "FILE", kind: .file, "append a line for each request; - is stderr",
        detail: """
            A line has the time, the client's address, method, path, status and size. On a terminal, stderr is the \
            default.
            """)
    static let logFormat = Option<AnsweredRequest.Form>.choice("log-format", "the form of the log's lines")
    static let grace = Option.age(
        "grace", "time for answers after SIGTERM; the default is 60s")

    static let command = Command(
        name: "serve", isMinor: true, doc: "a Hub on this machine: the cache, a folder, or a mirror of the Hub",
        detail: """
            Serves the cache over the Hub's own protocol, for hub and for every other Hugging Face client whose HF_ENDPOINT \
            is its address; with FOLDER, a folder that holds org/name folders. The first line on stdout is that address, the \
            second a line for the shell of a client. Ctrl-C stops it.

            With --mirror, what is not in the cache comes from the Hub while it is served, once for all clients, and is \
            verified. --offline serves only what is known. With --page, a browser shows the models here and on the Hub, downloads, \
            the disk and the machine.

            With --api, programs that speak OpenAI's protocol (OPENAI_BASE_URL) or Ollama's (OLLAMA_HOST) get answers from the \
            models of the cache that run here. They are loaded when they are asked for. --all is --mirror, --api and --page on one port.

            Where other machines can reach it, HUB_SERVE_TOKEN must be set, or for a mirror --auth, for the API HUB_API_KEY or \
            --api-key-file. Then every request needs that token or key; HF_TOKEN is never asked for.

            hub serve status [URL] asks a running server how it is.
            """,
        operands: [Operand("FOLDER", .optional, .folder), Operand("URL", .optional, .text)],
        flags: [
            mirror.flag, upstream.flag, auth.flag, authFile.flag, ttl.flag, maxSize.flag, page.flag, host.flag,
            port.flag, allowHost.flag, trustProxy.flag, log.flag, logFormat.flag, grace.flag,
        ] + apiFlags,
        exclusive: [["exact", "fast"]],
        examples: [
            .init("hub serve ./models", "A folder, on a free port of this machine."),
            .init("hub serve --mirror --port 8080", "A mirror of the Hub, over the shared cache."),
            .init("hub serve --all --port 8080", "The mirror, answers for programs, and a page for browsers."),
            .init("hub serve status http://127.0.0.1:8080", "Is it well? What has it done?"),
        ],
        run: { context, arguments in
            if arguments.operands.first == "status" {
                return try await status(context, arguments.operands.dropFirst().first)
            }
            try await run(context, try Request(arguments))
        })

    /// Who may use a mirror.
    enum MirrorAuth: String, Sendable, CaseIterable { case none, own, forward }

    /// What is served, and where.
    struct Request: Sendable {
        enum Subject: Sendable { case folder(String), cache, mirror }

        /// The Hub that is served; nil for none, beside the API.
        var subject: Subject?
        var api: APIRequest?
        var isMirror: Bool { if case .mirror = subject { true } else { false } }
        var upstream: String?
        var auth: MirrorAuth?
        var authFile: String?
        var ttl: Double
        var maxSize: Int64?
        var hasPage: Bool
        var host: String
        var port: UInt16
        var names: Set<String>
        var proxies: TrustedProxies
        /// Whether only programs of this machine are served. A proxy serves others.
        var isLocal: Bool { HubAccess.isLoopback(host.lowercased()) && proxies.isEmpty }
        /// Why not, as an error begins.
        var reachable: String {
            proxies.isEmpty
                ? "\(host.printable) can be reached by others" : "by a proxy this server can be reached by others"
        }
        /// The file for the request log.
        var log: String?
        var logForm: AnsweredRequest.Form
        /// Seconds.
        var grace: Int64

        init(_ arguments: ParsedArguments) throws(AIError) {
            if let extra = arguments.operands.dropFirst().first {
                throw AIError(
                    .invalidInput, "unexpected \"\(extra.printable)\"", advice: "hub serve takes one folder")
            }
            let isMirror = arguments[ServeCommand.mirror] || arguments[all]
            api = try APIRequest(arguments)
            if api != nil, let folder = arguments.operands.first {
                throw AIError(
                    .invalidInput, "--api answers with the models of the cache, not of a folder",
                    advice: "leave out \"\(folder.printable)\"; --cache-dir chooses another cache")
            }
            switch (arguments.operands.first, isMirror) {
            case (_?, true):
                throw AIError(
                    .invalidInput, "--mirror serves the cache, not a folder",
                    advice: "leave out \"\(arguments.operands[0].printable)\"; --cache-dir chooses another cache")
            case (let folder?, false): subject = .folder(folder)
            case (nil, true): subject = .mirror
            case (nil, false): subject = api == nil ? .cache : nil
            }
            upstream = arguments[ServeCommand.upstream]
            auth = arguments[ServeCommand.auth]
            authFile = arguments[ServeCommand.authFile]
            maxSize = arguments[ServeCommand.maxSize]?.bytes
            let ttl = arguments[ServeCommand.ttl]
            self.ttl = Double(ttl?.seconds ?? 60)
            hasPage = arguments[ServeCommand.page] || arguments[all]
            if case .folder(let folder) = subject, hasPage {
                throw AIError(
                    .invalidInput, "--page shows the cache, not a folder",
                    advice: "leave out \"\(folder.printable)\"; --cache-dir chooses another cache")
            }
            host = arguments[ServeCommand.host] ?? "127.0.0.1"
            port = UInt16(arguments[ServeCommand.port] ?? 0)
            names = Set(arguments.all(ServeCommand.allowHost))
            proxies = try TrustedProxies(arguments.all(ServeCommand.trustProxy))
            log = arguments[ServeCommand.log]
            logForm = arguments[ServeCommand.logFormat] ?? .plain
            grace = arguments[ServeCommand.grace]?.seconds ?? 60
            let needMirror: [(String, Bool)] = [
                ("--upstream", upstream != nil && api == nil && !hasPage), ("--auth", auth != nil),
                ("--auth-file", authFile != nil),
                ("--ttl", ttl != nil), ("--max-size", maxSize != nil),
            ]
            if !isMirror, let flag = needMirror.first(where: \.1)?.0 {
                throw AIError(.invalidInput, "\(flag) needs --mirror")
            }
            if authFile != nil, auth != .own { throw AIError(.invalidInput, "--auth-file needs --auth own") }
        }
    }
}
