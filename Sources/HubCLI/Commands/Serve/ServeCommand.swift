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
                let near = NearestName.of(word, among: Self.words).map { "; did you mean \($0)?" } ?? ""
                throw AIError(
                    .invalidInput, "hub serve \(words[0]) does not know \"\(word.printable)\"\(near)",
                    advice: "it takes \(Self.words.joined(separator: ", ")); hub serve hub FOLDER serves a folder")
            }
        }
        return parts
    }

    /// What each server's page says of others and of further parts.
    private static let reach = """
        PART adds mirror, api, page or all on the same port. A flag works only with the parts that it is about. Where other \
        machines can reach the server, it needs a token or a key: hub help serve says which. Ctrl-C stops it.
        """

    /// A server of parts, to which further words add others.
    private static func server(
        _ name: String, _ doc: String, _ detail: String, _ examples: [Command.Example]
    ) -> Command {
        Command(
            name: name, doc: doc, detail: "\(detail)\n\n\(reach)",
            operands: [Operand("PART", .any, .choice(words))],
            flags: listening + [
                SharedFlags.open.flag, upstream.flag, auth.flag, authFile.flag, ttl.flag, maxSize.flag,
            ]
                + apiFlags + chatFlags,
            borrowed: .init(flags: chatFlags, from: "chat", purpose: "for the chat of the page"),
            exclusive: [["exact", "fast"]], examples: examples,
            run: { context, arguments in
                try await run(context, try Request(try parts([name] + arguments.operands), nil, arguments))
            })
    }

    static let command = Command.family(
        "serve", doc: "serve a Hub, a mirror of it, an API or the page on this machine",
        detail: """
            hub serve hub serves the cache over the Hub's own protocol, for hub and for every other Hugging Face client whose \
            HF_ENDPOINT is its address; with FOLDER, a folder that holds org/name folders. The first line on stdout is the \
            address, the second a line for the shell of a client. Ctrl-C stops it.

            mirror also serves what is not in the cache: a file comes from the Hub while it is served, once for all clients, \
            and is verified. --offline serves only what is known.

            api answers programs that speak OpenAI's protocol (OPENAI_BASE_URL) or Ollama's (OLLAMA_HOST) with the models \
            of the cache that run here. A model is loaded when it is first asked for.

            page shows a browser the models here and on the Hub, downloads, the disk and the machine. Where other machines can \
            reach it, it asks visitors for the server's token.

            all is mirror, api and page on one port; hub serve api page is two of them, and gives the page a chat. Flags say \
            what a model may use there: programs (--tool), the web (--web), documents (--with), and who else may answer \
            (--provider). The page asks its user as hub chat asks. A flag works only with the parts that it is about; --exact, \
            --fast, --threads, --context and --kv are about the API.

            Where other machines can reach the server, it needs a token or a key: HUB_SERVE_TOKEN, for a mirror also --auth, \
            for the API HUB_API_KEY or --api-key-file. Then every request needs that token or key; HF_TOKEN is never asked for.

            status asks a running server what it has done; -v shows every number.
            """,
        [
            Command(
                name: "hub", doc: "serve the cache, or a folder, as a Hub",
                detail: """
                    Serves the cache over the Hub's own protocol; with FOLDER, a folder that holds org/name folders. Every \
                    Hugging Face client whose HF_ENDPOINT is its address can download from it. The first line on stdout is \
                    the address, the second a line for the shell of a client. Where other machines can reach it, \
                    HUB_SERVE_TOKEN must be set. Ctrl-C stops it.
                    """,
                operands: [Operand("FOLDER", .optional, .folder)],
                flags: listening,
                examples: [
                    .init("hub serve", "The cache, for the clients of this machine."),
                    .init("hub serve ./models", "A folder."),
                ],
                run: { context, arguments in
                    try await run(context, try Request([], arguments.operand, arguments))
                }
            ).asUsual,
            server(
                "mirror", "serve the cache as a Hub, and what is not cached from the Hub",
                """
                Serves every model of the Hub over the Hub's own protocol. A file that is not in the cache comes from the Hub \
                while it is served, once for all clients, and is verified and kept. --offline serves only what is known.
                """,
                [
                    .init("hub serve mirror --port 8080", "A mirror of the Hub, over the shared cache."),
                    .init("hub serve mirror --host 0.0.0.0 --auth own", "For a team, with HUB_SERVE_TOKEN set."),
                ]),
            server(
                "api", "answer programs, as OpenAI's and Ollama's servers do",
                """
                Answers programs that speak OpenAI's protocol (OPENAI_BASE_URL) or Ollama's (OLLAMA_HOST) with the models of \
                the cache that run here. A model is loaded when it is first asked for, and closed when it was idle for long.
                """,
                [
                    .init("hub serve api", "For the programs of this machine."),
                    .init("hub serve api page", "With a page for browsers, and a chat on it."),
                ]),
            server(
                "page", "serve a page for browsers: models, downloads, storage, chat",
                """
                Shows a browser the models here and on the Hub, downloads, the disk and the machine. The address of the page is \
                the last line on stdout. The chat needs the API: hub serve page api.
                """,
                [
                    .init("hub serve page --open", "The page, in the browser of this machine."),
                    .init("hub serve page api", "The page with a chat."),
                ]),
            server(
                "all", "serve the mirror, the API and the page on one port",
                "Serves what hub serve mirror, hub serve api and hub serve page do, on one port.",
                [.init("hub serve all", "The mirror, answers for programs, and a page for browsers.")]),
            Command(
                name: "status", doc: "ask a server whether it answers, and what it has done",
                detail: """
                    Asks the server at URL; without URL that of HF_ENDPOINT, else the one on this machine's usual port. -v shows \
                    every number.
                    """,
                operands: [Operand("URL", .optional, .text)],
                examples: [
                    .init("hub serve status", "Does it answer? What has it done?"),
                    .init("hub serve status http://mirror.example:8080", "That of a mirror."),
                ],
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
