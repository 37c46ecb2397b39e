import Fetcher
import HubCore

extension AuthCommand {
    static func login(_ context: Context, _ method: Method) async throws {
        let endpoint = try context.hubEndpoint()
        guard !context.isOffline else {
            throw AIError(.offline, "hub auth login checks the token with the Hub, and the network is switched off")
        }
        try check(endpoint)
        context.interruption.kept = "no token was saved"
        var signIn: SignIn?
        let token: AccessToken
        switch method {
        case .prompt: token = try await readToken(context, endpoint)
        case .stdin: token = try await readStdin(context, endpoint)
        case .device, .browser:
            let made = try await Self.signIn(context, method)
            (token, signIn) = (made.token, made.signIn)
        }
        let owner: TokenOwner
        do {
            owner = try await context.workspace(opensCatalog: false, token: .static(token)).client().whoami()
        } catch let error as AIError where error.code == .unauthorized {
            throw AIError(
                .unauthorized, "\(error.message); it was not saved",
                advice: signIn == nil
                    ? "did you paste all of it? tokens are made at \(endpoint)/settings/tokens" : "sign in again",
                context: error.context)
        }
        let accounts = context.accounts
        try await accounts.keep(token, name: owner.tokenName ?? "oauth-\(owner.name)", signIn: signIn)
        context.interruption.kept = nil
        tell(context, owner, endpoint, signIn)
        warnOfVariables(context)
    }

    private static func tell(_ context: Context, _ owner: TokenOwner, _ endpoint: Endpoint, _ signIn: SignIn?) {
        let path = context.accounts.file.path
        var document = json(owner, endpoint, .file(path))
        document["environment_variable"] = context.environment.tokenVariable.map(JSON.string)
        document["expires_at"] = signIn?.expiresAt.map { .string(Timestamp.iso8601($0)) }
        context.output.render(json: document, quiet: [owner.name]) {
            context.output.line("Logged in as " + Styled(owner.name, .name) + "; the token is in \(path)")
        }
        guard let signIn, let end = signIn.expiresAt else { return }
        let time = Timestamp.iso8601(end)
        context.output.note(
            signIn.isRenewable
                ? "the token is good until \(time); hub renews it before"
                : "the token is good until \(time), and then you have to sign in again")
    }

    // MARK: A token that the person has

    private static func readToken(_ context: Context, _ endpoint: Endpoint) async throws -> AccessToken {
        // It has to fit on a line of 80 columns.
        let more = await canSignIn(context) ? "; --browser needs none" : ""
        let prompt = "Token for \(endpoint) (input hidden\(more)): "
        return try await token(in: try await context.readSecret(prompt), endpoint, context)
    }

    private static func readStdin(_ context: Context, _ endpoint: Endpoint) async throws -> AccessToken {
        try await token(in: try await piped(), endpoint, context)
    }

    /// What comes from stdin, which is not a terminal.
    static func piped() async throws -> String {
        guard !Terminal.isTerminal(0) else {
            throw AIError(
                .invalidInput, "--token-stdin reads from a pipe or a file, and stdin is a terminal",
                advice: "hub auth login asks for the token")
        }
        return try await StandardInput.text(limit: 1 << 16)
    }

    private static func token(in text: String, _ endpoint: Endpoint, _ context: Context) async throws
        -> AccessToken
    {
        let others = "; hub auth login --browser and --device sign in without one"
        return try token(
            in: text, advice: "tokens start with hf_ and are made at \(endpoint)/settings/tokens",
            otherwise: await canSignIn(context) ? others : "")
    }

    /// The one token of a text.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` with the advice, for a text without any also `otherwise`.
    static func token(in text: String, advice: String, otherwise: String = "") throws(AIError) -> AccessToken {
        let lines = text.split(separator: "\n").filter { $0.contains { !$0.isWhitespace } }
        guard !lines.isEmpty else {
            throw AIError(.invalidInput, "no token was given", advice: advice + otherwise)
        }
        guard lines.count == 1 else {
            throw AIError(
                .invalidInput, "stdin has \(lines.count) lines, and a token is one line",
                advice: "head -n 1 takes the first: ... | head -n 1 | hub auth login")
        }
        guard let token = AccessToken(String(lines[0])) else {
            throw AIError(
                .invalidInput,
                "not a valid token: it contains \(lines[0].contains { $0.isWhitespace } ? "spaces" : "characters that no token has")",
                advice: advice)
        }
        return token
    }
}
