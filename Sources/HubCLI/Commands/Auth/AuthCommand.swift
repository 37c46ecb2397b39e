import HubCore

/// `hub auth`
enum AuthCommand {
    /// A token in an argument is already exposed: it is rejected, to discourage the habit.
    private static let refusal = AIError(
        .invalidInput, "a token is not taken from the command line, where others on this machine can read it",
        advice: """
            if it was a token, others could see it: make a new one on the Hub; hub auth login asks for it, or reads it from stdin
            """)

    /// How the Python client takes a token; known here so that the reason can be given, and in no help.
    private static let token: Flag = {
        var flag = Option<Never>("token", "TOKEN", .text, "not taken") { _ throws(AIError) in throw refusal }.flag
        flag.isHidden = true
        return flag
    }()

    static let device = Switch("device", "sign in with a code that you type on any device")
    static let browser = Switch("browser", "sign in with the browser of this machine")
    static let tokenStdin = Switch("token-stdin", "read the token from stdin, and ask for nothing")
    static let all = Switch("all", "everything: not only the token in use")
    static let provider = Option<String>(
        "provider", "URL", .text, "who answers: the server at this address; its key is saved"
    ) { text throws(AIError) in text }
    static let forgotten = Option<String>(
        "provider", "URL|hf", .text,
        "who answers: the server whose key is removed; with hf, hub asks again before texts go to the Hub"
    ) { text throws(AIError) in text }

    static let command: Command = {
        var command = Command.family(
            "auth",
            doc: "sign in to the Hub, switch tokens, or show whose is in use",
            detail: """
                login asks for a token, or reads it from stdin, and checks it with the Hub. It saves the token in the file \
                that every Hugging Face program reads (HF_TOKEN_PATH, HF_HOME/token), and under its name in stored_tokens \
                beside it; only you can read them. ls shows the saved tokens, a star marks the one in use, and switch NAME \
                uses another. logout removes the one in use, logout NAME another, logout --all every one. whoami shows whose \
                token is in use, where it comes from, and what it cannot be used for.

                login --device and login --browser need no token: you allow hub on the Hub's pages. Both need an OAuth app, \
                by its client id in HF_DEVICE_CODE_OAUTH_CLIENT_ID or in HUB_HOME/oauth-client-id; without one, hub says how \
                to make it. Such a token ends after some hours or days, and hub renews it before. The refresh token is kept in \
                the desktop's keyring, or in HUB_HOME/sign-ins.json.

                login --provider URL asks for the key of a server that speaks OpenAI's protocol, checks it there, and keeps \
                it by the server's origin in HUB_HOME/provider-keys.json; hub chat --provider URL and its like use it. \
                HUB_PROVIDER_KEY overrides it. ls shows these keys too, and logout --provider URL removes one.

                Without --provider, hub chat and its like ask once, on a terminal, before they send texts to the Hub's inference \
                providers. logout --provider hf takes a yes back, and ls shows when you gave it.

                HF_TOKEN overrides the file, and is never renewed. You make tokens on the Hub's pages, under Settings, Access \
                Tokens; hub needs no more than a read token. hub does not take a token as an argument, where other users \
                could see it.
                """,
            [
                Command(
                    name: "login", purpose: .changes, doc: "sign in with a token, a code or a browser",
                    detail: """
                        Asks for a token, or reads it from stdin, checks it with the Hub, and saves it where every Hugging Face \
                        program reads it (HF_TOKEN_PATH, HF_HOME/token). You make tokens on the Hub's pages, under Settings, \
                        Access Tokens; hub needs no more than a read token. hub does not take a token as an argument, where \
                        other users could see it.

                        --device and --browser need no token: you allow hub on the Hub's pages. Both need an OAuth app of \
                        your own, by its client id in HF_DEVICE_CODE_OAUTH_CLIENT_ID or in HUB_HOME/oauth-client-id; without \
                        one, hub says how to make it. hub renews such a token before it ends.

                        --provider URL asks for the key of a server that speaks OpenAI's protocol, checks it there, and saves \
                        it for hub chat --provider URL and its like.
                        """,
                    flags: [device.flag, browser.flag, tokenStdin.flag, provider.flag, token],
                    exclusive: [
                        ["device", "browser", "token-stdin"], ["device", "provider"], ["browser", "provider"],
                    ], refusalOfMore: refusal,
                    examples: [
                        .init("hub auth login", "Asks for a token."),
                        .init("pass huggingface | hub auth login", "From a password manager."),
                        .init("hub auth login --device", "Shows a code, which you type in a browser anywhere."),
                        .init("hub auth login --provider https://host/v1", "The key of a server."),
                    ],
                    run: { try await run($0, Request(.login, $1)) }),
                Command(
                    name: "logout", purpose: .changes, doc: "remove a saved token, or a server's key",
                    detail: """
                        Removes the token in use, the saved token of NAME, or with --all every one. --provider URL removes the \
                        key of a server; --provider hf takes back your yes to the Hub's inference providers.
                        """,
                    operands: [Operand("NAME", .optional, .storedToken)], flags: [all.flag, forgotten.flag],
                    exclusive: [["all", "provider"]], refusalOfMore: refusal,
                    examples: [
                        .init("hub auth logout", "The token in use."),
                        .init("hub auth logout work", "The saved token of that name."),
                    ],
                    run: { try await run($0, Request(.logout, $1)) }),
                Command(
                    name: "ls", doc: "list the saved tokens and keys; a star marks the token in use",
                    detail: """
                        Lists the saved tokens by name, the keys of servers, and when you agreed to send texts to the Hub's \
                        inference providers. Tokens and keys are masked.
                        """,
                    refusalOfMore: refusal, listKey: "tokens",
                    examples: [.init("hub auth ls", "Which token is in use?")],
                    run: { try await run($0, Request(.list, $1)) }),
                Command(
                    name: "switch", purpose: .changes, doc: "use another saved token",
                    detail:
                        "Writes the saved token of NAME to the token file, which every Hugging Face program reads.",
                    operands: [Operand("NAME", .one, .storedToken)], refusalOfMore: refusal,
                    examples: [.init("hub auth switch work", "Use the saved token of that name.")],
                    run: { try await run($0, Request(.choose, $1)) }),
                Command(
                    name: "whoami", doc: "show whose token is in use, and where it comes from",
                    detail: """
                        Asks the Hub whose token is in use, and says where it comes from and what it cannot be used for. HF_TOKEN \
                        overrides the token file.
                        """,
                    refusalOfMore: refusal, examples: [.init("hub auth whoami", "Who am I on the Hub?")],
                    run: { try await run($0, Request(.whoami, $1)) }),
            ],
            examples: [
                .init(
                    "pass huggingface | hub auth login", "From a password manager; without a pipe it is asked for."),
                .init("hub auth login --device", "Shows a code, which you type in a browser anywhere."),
                .init("hub auth switch work", "Uses the saved token of that name."),
                .init("hub auth whoami", "Whose token is in use, and where it comes from."),
            ])
        command.refusalOfMore = refusal
        return command
    }()

    enum Action: Sendable { case login, logout, list, choose, whoami }

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

        init(_ action: Action, _ arguments: ParsedArguments) throws(AIError) {
            self.action = action
            name = arguments.operand
            all = arguments[AuthCommand.all]
            provider = arguments[AuthCommand.provider]
            if arguments[device] { method = .device }
            if arguments[browser] { method = .browser }
            if arguments[tokenStdin] { method = .stdin }
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
