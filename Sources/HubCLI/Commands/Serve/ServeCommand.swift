import HubCore
import HubServer

/// `hub serve`
enum ServeCommand {
    static let upstream = Option.text(
        "upstream", "URL", kind: .address, "with mirror or page: the Hub behind it; by default HF_ENDPOINT")
    static let auth = Option<MirrorAuth>.choice(
        "auth", "who may use a mirror, and whose token goes upstream",
        detail: """
            none: everyone, and upstream no token; only on the loopback. own: who has a token of HUB_SERVE_TOKEN or \
            --auth-file, and upstream this machine's token. forward: each client's own token, checked upstream. Off the \
            loopback one must be chosen.
            """)
    static let authFile = Option.text(
        "auth-file", "FILE", kind: .file, "with --auth own: its tokens, or their SHA-256, one a line")
    static let ttl = Option.time(
        "ttl", "how long a mirror keeps answers about branches, lists and missing files; the default is 60s")
    static let maxSize = Option.size(
        "max-size", "the size of the cache: of a mirror, the least recently used goes, pinned models stay",
        detail: "Such as 500GB. The limit is soft: it is checked after each download.")
    static let host = Option.text("host", "ADDRESS", "where to listen; the default is 127.0.0.1")
    /// Where clients find hub without being told: 482 is hub on a telephone's keys, and IANA has given the port to
    /// nobody. https://www.iana.org/assignments/service-names-port-numbers
    static let usualPort: UInt16 = 4820
    static let port = Option.whole(
        "port", in: 0...65_535, "the port; the default is \(usualPort), or another if that is taken",
        detail: "0 takes a free one. HUB_SERVE_PORT sets another default.")
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
    static let grace = Option.time(
        "grace", "time for answers after SIGTERM; the default is 60s")

    /// What is served. Several go together on one port.
    enum Part: String, Sendable, CaseIterable { case mirror, api, page }

    private static let listening = [
        host.flag, port.flag, allowHost.flag, trustProxy.flag, log.flag, logFormat.flag, grace.flag,
    ]

    private static let words = Part.allCases.map(\.rawValue) + ["all"]

    /// What the words behind `hub serve` mean, however often each is said.
    static func parts(_ words: [String]) throws(AIError) -> Set<Part> {
        var parts: Set<Part> = []
        for word in words {
            if word == "all" {
                parts.formUnion(Part.allCases)
            } else if let part = Part(rawValue: word) {
                parts.insert(part)
            } else {
                throw AIError(
                    .invalidInput, "hub serve \(words[0]) does not know \"\(word.printable)\"",
                    advice: "it takes \(Self.words.joined(separator: ", ")); hub serve hub FOLDER serves a folder")
            }
        }
        return parts
    }

    /// A server of parts, to which further words add others.
    private static func server(_ name: String, _ doc: String) -> Command {
        Command(
            name: name, doc: doc, operands: [Operand("PART", .any, .choice(words))],
            flags: listening + [
                SharedFlags.open.flag, upstream.flag, auth.flag, authFile.flag, ttl.flag, maxSize.flag,
            ]
                + apiFlags + chatFlags,
            borrowed: .init(flags: chatFlags, from: "chat", purpose: "for the chat of the page"),
            exclusive: [["exact", "fast"]],
            run: { context, arguments in
                try await run(context, try Request(try parts([name] + arguments.operands), nil, arguments))
            })
    }

    static let command = Command.family(
        "serve", doc: "serve a Hub, a mirror of it, an API or the page on this machine",
        detail: """
            hub serves the cache over the Hub's own protocol, for hub and for every other Hugging Face client whose \
            HF_ENDPOINT is its address; with FOLDER, a folder that holds org/name folders. The first line on stdout is that \
            address, the second a line for the shell of a client. Ctrl-C stops it.

            mirror also serves what is not in the cache: it comes from the Hub while it is served, once for all clients, and \
            is verified. --offline serves only what is known. page shows a browser the models here and on the Hub, downloads, the \
            disk and the machine; where other machines can reach it, it asks visitors for the server's token.

            api answers programs that speak OpenAI's protocol (OPENAI_BASE_URL) or Ollama's (OLLAMA_HOST) with the models \
            of the cache that run here. They are loaded when they are asked for. all is mirror, api and page on one port; PART is \
            mirror, api, page or all: hub serve api page is two of them, and gives the page a chat. What a model may use there \
            is named here: programs (--tool), the web (--web), documents (--with), and who else may answer (--provider). \
            Whoever uses the page is asked as hub chat asks. A flag works only with the parts that it is about; --exact, \
            --fast, --threads, --context and --kv are about the API.

            Where other machines can reach it, HUB_SERVE_TOKEN must be set, or for a mirror --auth, for the API HUB_API_KEY or \
            --api-key-file. Then every request needs that token or key; HF_TOKEN is never asked for.

            status asks a running server what it has done; -v shows every number.
            """,
        [
            Command(
                name: "hub", doc: "the cache, or a folder, as a Hub",
                operands: [Operand("FOLDER", .optional, .folder)],
                flags: listening,
                run: { context, arguments in
                    try await run(context, try Request([], arguments.operand, arguments))
                }
            ).asUsual,
            server("mirror", "the same, and what is not here comes from the Hub and is kept"),
            server("api", "answers with the models of the cache, as OpenAI's and Ollama's servers do"),
            server("page", "a page for browsers: models, downloads, storage, chat"),
            server("all", "the mirror, the API and the page"),
            Command(
                name: "status", doc: "whether a server answers, and what it has done",
                operands: [Operand("URL", .optional, .text)],
                run: { try await status($0, $1.operand) }),
        ],
        examples: [
            .init("hub serve ./models", "A folder, for the clients of this machine."),
            .init("hub serve mirror --port 8080", "A mirror of the Hub, over the shared cache."),
            .init("hub serve all", "The mirror, answers for programs, and a page for browsers."),
            .init("hub serve status", "Does it answer? What has it done?"),
        ])

    /// Who may use a mirror.
    enum MirrorAuth: String, Sendable, CaseIterable { case none, own, forward }

    /// What is served, and where.
    struct Request: Sendable {
        enum Subject: Sendable { case folder(String), cache, mirror }

        /// The Hub that is served; nil for none, beside the API.
        var subject: Subject?
        var api: APIRequest?
        var chat: ChatRequest?
        var isMirror: Bool { if case .mirror = subject { true } else { false } }
        var upstream: String?
        var auth: MirrorAuth?
        var authFile: String?
        var ttl: Double
        var maxSize: Int64?
        var hasPage: Bool
        var host: String
        /// nil for the usual one, or another where that is taken.
        var port: UInt16?
        var opensPage: Bool
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

        /// The words for parts and one more.
        static func together(_ parts: Set<Part>, _ other: Part) -> String {
            Part.allCases.filter { parts.contains($0) || $0 == other }.map(\.rawValue).joined(separator: " ")
        }

        /// - Parameter folder: what is served in place of the cache; only without parts.
        init(_ parts: Set<Part>, _ folder: String?, _ arguments: ParsedArguments) throws(AIError) {
            let isMirror = parts.contains(.mirror)
            api = try APIRequest(parts, arguments)
            chat = try ChatRequest(parts, arguments)
            if let folder {
                subject = .folder(folder)
            } else {
                subject = isMirror ? .mirror : api == nil ? .cache : nil
            }
            upstream = arguments[ServeCommand.upstream]
            auth = arguments[ServeCommand.auth]
            authFile = arguments[ServeCommand.authFile]
            maxSize = arguments[ServeCommand.maxSize]?.bytes
            let ttl = arguments[ServeCommand.ttl]
            self.ttl = Double(ttl?.seconds ?? 60)
            hasPage = parts.contains(.page)
            host = arguments[ServeCommand.host] ?? "127.0.0.1"
            port = arguments[ServeCommand.port].map { UInt16($0) }
            opensPage = arguments[SharedFlags.open]
            if opensPage, !hasPage {
                throw AIError(
                    .invalidInput, "--open is about the page", advice: "hub serve page takes it, and hub serve all")
            }
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
                throw AIError(
                    .invalidInput, "\(flag) is about the mirror",
                    advice: "hub serve mirror takes it, and hub serve \(Self.together(parts, .mirror))")
            }
            if authFile != nil, auth != .own { throw AIError(.invalidInput, "--auth-file needs --auth own") }
        }
    }
}
