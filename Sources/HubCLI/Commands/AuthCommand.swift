import HubCore

/// `hub auth`
enum AuthCommand {
    enum Action: String, Sendable, CaseIterable { case login, logout, whoami }

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

    static let command = Command(
        name: "auth", isMinor: true, purpose: .changes,
        doc: "log in to the Hub, log out, or show whose token is in use",
        detail: """
            login asks for a token, or reads it from stdin, and checks it with the Hub. It saves the token in the file \
            that every Hugging Face program reads (HF_TOKEN_PATH, HF_HOME/token); only you can read it. logout deletes \
            that file. whoami shows whose token is in use and where it comes from.

            HF_TOKEN overrides the file. You make tokens on the Hub's pages, under Settings, Access Tokens; hub needs \
            no more than a read token. hub does not take a token as an argument, where \
            other users could see it.
            """,
        operands: [Operand("login|logout|whoami", .one, .choice(Action.allCases.map(\.rawValue)))],
        flags: [token], refusalOfMore: refusal,
        examples: [
            .init("hub auth login", "Asks for the token; the input is hidden."),
            .init("pass huggingface | hub auth login", "From a password manager."),
            .init("hub auth whoami", "Whose token is in use, and where it comes from."),
            .init("hub auth logout", "Deletes the token's file."),
        ],
        run: { try await run($0, Request($1)) })

    /// What is to be done.
    struct Request {
        var action: Action

        /// - Throws: ``ErrorCode/invalidInput`` for another word. It may be a token, so it is not repeated.
        init(_ arguments: ParsedArguments) throws(AIError) {
            let word = arguments.operands[0]
            guard let action = Action(rawValue: word) else {
                let near = NearestName.of(word, among: Action.allCases.map(\.rawValue))
                throw AIError(
                    .invalidInput, "hub auth takes login, logout or whoami",
                    advice: near.map { "did you mean: hub auth \($0)" }
                        ?? "usage: hub auth login|logout|whoami; login asks for the token, or reads it from stdin")
            }
            self.action = action
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        switch request.action {
        case .login: try await login(context)
        case .logout: try await logout(context)
        case .whoami: try await whoami(context)
        }
    }
}
