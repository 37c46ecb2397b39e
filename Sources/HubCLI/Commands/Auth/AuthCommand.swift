import HubCore

/// `hub auth`
enum AuthCommand {
    enum Action: String, Sendable, CaseIterable {
        case login, logout, list
        case choose = "switch"
        case whoami

        /// The flags that belong to it.
        var flags: [Flag] {
            switch self {
            case .login: [device.flag, browser.flag, tokenStdin.flag, provider.flag]
            case .logout: [all.flag, provider.flag]
            case .list, .choose, .whoami: []
            }
        }

        /// How many words follow it.
        var words: ClosedRange<Int> {
            switch self {
            case .login, .list, .whoami: 0...0
            case .logout: 0...1
            case .choose: 1...1
            }
        }
    }

    /// A token in an argument is already exposed: it is rejected, to discourage the habit.
    private static let refusal = AIError(
        .invalidInput, "a token is not taken from the command line, where others on this machine can read it",
        advice: "hub auth login asks for it, or reads it from stdin; make a new one if this one was real")

    /// How the Python client takes a token; known here so that the reason can be given, and in no help.
    private static let token: Flag = {
        var flag = Option<Never>("token", "TOKEN", .text, "not taken") { _ throws(AIError) in throw refusal }.flag
        flag.isHidden = true
        return flag
    }()

    static let device = Switch("device", "login: sign in with a code that you type on any device")
    static let browser = Switch("browser", "login: sign in with the browser of this machine")
    static let tokenStdin = Switch("token-stdin", "login: read the token from stdin, and ask for nothing")
    static let all = Switch("all", "logout: remove every stored token")
    static let provider = Option<String>(
        "provider", "URL|hf", .text, "login, logout: the key of a server that speaks OpenAI's protocol"
    ) { text throws(AIError) in text }

    private static let names = Action.allCases.map(\.rawValue)

    static let command = Command(
        name: "auth", isMinor: true, purpose: .changes,
        doc: "sign in to the Hub, switch between tokens, or show whose token is in use",
        detail: """
            login asks for a token, or reads it from stdin, and checks it with the Hub. It saves the token in the file \
            that every Hugging Face program reads (HF_TOKEN_PATH, HF_HOME/token), and under its name in stored_tokens \
            beside it; only you can read them. list shows the stored tokens, a star marks the one in use, and switch NAME \
            uses another. logout removes the one in use, logout NAME another, logout --all every one. whoami shows whose \
            token is in use, where it comes from, and what it cannot be used for.

            login --device and login --browser need no token: you allow hub on the Hub's pages. Both need an OAuth app, \
            by its client id in HF_DEVICE_CODE_OAUTH_CLIENT_ID or in HUB_HOME/oauth-client-id; without one, hub says how \
            to make it. Such a token ends after some hours or days, and hub renews it before. What renews it is kept in \
            the desktop's keyring, or in HUB_HOME/sign-ins.json.

            login --provider URL asks for the key of a server that speaks OpenAI's protocol, checks it there, and keeps \
            it by the server's origin in HUB_HOME/provider-keys.json; hub chat --provider URL and its like use it. \
            HUB_PROVIDER_KEY overrides it. list shows these keys too, and logout --provider URL forgets one.

            Without --provider, hub chat and its like ask once, on a terminal, before they send texts to the Hub's inference \
            providers. logout --provider hf takes a yes back, and list shows when you gave it.

            HF_TOKEN overrides the file, and is never renewed. You make tokens on the Hub's pages, under Settings, Access \
            Tokens; hub needs no more than a read token. hub does not take a token as an argument, where other users \
            could see it.
            """,
        operands: [
            Operand(names.joined(separator: "|"), .one, .choice(names)), Operand("NAME", .optional, .storedToken),
        ],
        flags: [device.flag, browser.flag, tokenStdin.flag, all.flag, provider.flag, token],
        exclusive: [
            ["device", "browser", "token-stdin"], ["device", "provider"], ["browser", "provider"],
            ["all", "provider"],
        ], refusalOfMore: refusal, listKey: "tokens",
        examples: [
            .init("pass huggingface | hub auth login", "From a password manager; without a pipe it is asked for."),
            .init("hub auth login --device", "Shows a code, which you type in a browser anywhere."),
            .init("hub auth switch work", "Uses the stored token of that name."),
            .init("hub auth whoami", "Whose token is in use, and where it comes from."),
        ],
        run: { try await run($0, Request($1)) })

    /// How a login gets its token.
    enum Method: Sendable { case prompt, stdin, device, browser }

    /// What is to be done.
    struct Request {
        var action: Action
        var method = Method.prompt
        /// The name of a stored token.
        var name: String?
        var all: Bool
        /// The address of a server whose key it is about; nil for the Hub.
        var provider: String?

        /// - Throws: ``ErrorCode/invalidInput`` for another word. It may be a token, so it is not repeated.
        init(_ arguments: ParsedArguments) throws(AIError) {
            let word = arguments.operands[0]
            guard let action = Action(rawValue: word) else {
                let near = NearestName.of(word, among: names)
                throw AIError(
                    .invalidInput, "hub auth takes login, logout, list, switch or whoami",
                    advice: near.map { "did you mean: hub auth \($0)" }
                        ?? "usage: \(command.usage); login asks for the token, or reads it from stdin")
            }
            self.action = action
            name = arguments.operands.dropFirst().first
            all = arguments[AuthCommand.all]
            provider = arguments[AuthCommand.provider]
            if arguments[device] { method = .device }
            if arguments[browser] { method = .browser }
            if arguments[tokenStdin] { method = .stdin }
            guard arguments.operands.count - 1 <= action.words.upperBound else { throw refusal }
            guard arguments.operands.count - 1 >= action.words.lowerBound else {
                throw AIError(
                    .invalidInput, "missing NAME",
                    advice: "usage: hub auth switch NAME; hub auth list shows the names")
            }
            let known = Set(action.flags.map(\.name))
            if let foreign = command.visibleFlags.first(where: {
                arguments.has($0.name) && !known.contains($0.name)
            }) {
                let owner = Action.allCases.first { $0.flags.contains { $0.name == foreign.name } }
                throw AIError(
                    .invalidInput, "--\(foreign.name) is not a flag of hub auth \(action.rawValue)",
                    advice: "it belongs to hub auth \(owner?.rawValue ?? "")")
            }
            if name != nil, all { throw AIError(.invalidInput, "NAME and --all cannot be used together") }
            if name != nil, provider != nil {
                throw AIError(.invalidInput, "NAME and --provider cannot be used together")
            }
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        if let address = request.provider {
            return request.action == .login
                ? try await login(context, to: address, request.method) : try await logout(context, of: address)
        }
        switch request.action {
        case .login: try await login(context, request.method)
        case .logout: try await logout(context, request)
        case .list: try await list(context)
        case .choose: try await choose(context, request.name ?? "")
        case .whoami: try await whoami(context)
        }
    }

    // MARK: Several

    /// Asks for no token where it could not be sent.
    static func check(_ endpoint: Endpoint) throws(AIError) {
        guard endpoint.origin.isSafeForCredentials else {
            throw AIError(
                .invalidInput, "the token is not sent to \(endpoint): it is plain http and not this machine",
                advice: "give the https address with --endpoint or HF_ENDPOINT")
        }
    }

    static func warnOfVariables(_ context: Context) {
        if let name = context.environment.tokenVariable {
            context.output.warning("\(name) is set and overrides the token file", advice: "unset \(name)")
        }
        if context.environment.isTrue("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
            context.output.warning(
                "HF_HUB_DISABLE_IMPLICIT_TOKEN is set: no token is sent",
                advice: "unset HF_HUB_DISABLE_IMPLICIT_TOKEN")
        }
    }
}
