import HubCore

/// `hub auth`
enum AuthCommand {
    enum Action: String, Sendable, CaseIterable { case login, logout, whoami }

    /// A token among the words is out already: it is refused, so that nobody gets used to it.
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
            login reads a token, typed on a terminal where nothing shows or from stdin, asks the Hub whose it is, and \
            keeps it in the file that every Hugging Face program reads (HF_TOKEN_PATH, HF_HOME/token), readable by you \
            alone. logout removes that file. whoami says whose token is in force and where it comes from.

            A token in HF_TOKEN goes before the file. Tokens are made on the Hub's pages, under Settings, Access \
            Tokens; one that may read is enough for hub. It is never taken from the command line.
            """,
        operands: [Operand("login|logout|whoami", .one, .choice(Action.allCases.map(\.rawValue)))],
        flags: [token], refusalOfMore: refusal,
        examples: [
            .init("hub auth login", "Asks for the token; nothing shows while it is typed or pasted."),
            .init("pass huggingface | hub auth login", "From a store of passwords."),
            .init("hub auth whoami", "Whose token is in force, and where it comes from."),
            .init("hub auth logout", "Removes the token's file."),
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
                advice: near.map { "did you mean: hub auth \($0)" }
                    ?? "hub auth login asks for it, or reads it from stdin")
        }
    }
}
