import HubCore

/// `hub auth`
enum AuthCommand {
    enum Action: String, Sendable, CaseIterable { case login, logout, whoami }

    /// A token among the words is out already: it is refused, so that nobody gets used to it.
    private static let refusal = AIError(
        .invalidInput, "a token cannot be passed on the command line: others on this machine could read it",
        advice: "hub auth login asks for it, or reads it from stdin; if this was a real token, revoke it")

    /// How the Python client takes a token; known here so that the reason can be given, and in no help.
    private static let token: Flag = {
        var flag = Option<Never>("token", "TOKEN", .text, "not taken") { _ throws(AIError) in throw refusal }.flag
        flag.isHidden = true
        return flag
    }()

    static let command = Command(
        name: "auth", isMinor: true, purpose: .changes,
        doc: "log in to the Hub, log out, or show the account in use",
        detail: """
            login reads a token from the terminal, without showing it, or from stdin, asks the Hub whose it is, and saves it \
            in the file that every Hugging Face program reads (HF_TOKEN_PATH, HF_HOME/token), readable only by you. logout \
            removes that file. whoami shows whose token is in use and where it comes from.

            HF_TOKEN overrides the file. Create tokens on the Hub under Settings, Access Tokens; read access is enough for \
            hub. A token cannot be passed on the command line.
            """,
        operands: [Operand("login|logout|whoami", .one, .choice(Action.allCases.map(\.rawValue)))],
        flags: [token], refusalOfMore: refusal,
        examples: [
            .init("hub auth login", "Ask for the token; the input is hidden."),
            .init("pass huggingface | hub auth login", "Read it from a password manager."),
            .init("hub auth whoami", "Show whose token is in use, and where it comes from."),
            .init("hub auth logout", "Remove the token file."),
        ],
        run: run)

    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        switch Action(rawValue: arguments.operand!) {
        case .login: try await login(context)
        case .logout: try await logout(context)
        case .whoami: try await whoami(context)
        case nil:
            // The word may be a token, so it is not repeated.
            let near = NearestName.of(arguments.operand!, among: Action.allCases.map(\.rawValue))
            throw AIError(
                .invalidInput, "hub auth takes login, logout or whoami",
                advice: near.map { "did you mean: hub auth \($0)" })
        }
    }
}
