import Fetcher
import HubCore

extension AuthCommand {
    // MARK: login

    static func login(_ context: Context) async throws {
        let endpoint = try context.hubEndpoint()
        guard !context.isOffline else {
            throw AIError(.offline, "hub auth login checks the token with the Hub, and the network is switched off")
        }
        try check(endpoint)
        context.interruption.kept = "no token was saved"
        let token = try await readToken(context, endpoint)
        let owner: TokenOwner
        do {
            owner = try await context.workspace(opensCatalog: false, token: .static(token)).client().whoami()
        } catch let error as AIError where error.code == .unauthorized {
            throw AIError(
                .unauthorized, "\(error.message); it was not saved",
                advice: "did you paste all of it? tokens are made at \(endpoint)/settings/tokens",
                context: error.context)
        }
        let file = TokenFile(context.environment.tokenPath)
        try await Blocking.run { try file.save(token) }
        context.interruption.kept = nil
        var document = json(owner, endpoint, .file(file.path))
        document["environment_variable"] = context.environment.tokenVariable.map(JSON.string)
        context.output.render(json: document, quiet: [owner.name]) {
            context.output.line("Logged in as " + Styled(owner.name, .name) + "; the token is in \(file.path)")
        }
        warnOfVariables(context)
    }

    private static func readToken(_ context: Context, _ endpoint: Endpoint) async throws -> AccessToken {
        let text = try await context.readSecret("Token for \(endpoint) (input hidden): ")
        let lines = text.split(separator: "\n").filter { $0.contains { !$0.isWhitespace } }
        let advice = "tokens start with hf_ and are made at \(endpoint)/settings/tokens"
        guard !lines.isEmpty else {
            throw AIError(.invalidInput, "no token was given", advice: advice)
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

    // MARK: logout

    static func logout(_ context: Context) async throws {
        let file = TokenFile(context.environment.tokenPath)
        let removal = try await Blocking.run { try file.remove() }
        let collection = FileSystem.exists(file.collection) ? file.collection : nil
        let document: JSONObject = [
            "removed": .bool(removal != .nothing), "token_path": .string(file.path),
            "stored_tokens_path": collection.map { .string($0) },
            "environment_variable": context.environment.tokenVariable.map { .string($0) },
        ]
        context.output.render(json: document, quiet: []) {
            context.output.line(
                Styled(
                    removal == .nothing
                        ? "Not logged in: there is no token in \(file.path)" : "Logged out: \(file.path) is deleted"
                )
            )
        }
        if case .link(let target) = removal {
            context.output.warning(
                "\(file.path) was a link; the token is still in \(target)",
                advice: "delete that file if it should go")
        }
        if let collection {
            context.output.note(
                "\(collection) stays: hf keeps tokens there, and hf auth logout removes them")
        }
        warnOfVariables(context)
    }

    // MARK: whoami

    static func whoami(_ context: Context) async throws {
        let client = try await context.workspace(opensCatalog: false).client()
        guard let source = client.tokenSource else { throw absence(context) }
        guard !context.isOffline else {
            throw AIError(.offline, "only the Hub knows whose token it is, and the network is switched off")
        }
        try check(client.endpoint)
        let owner: TokenOwner
        do { owner = try await client.whoami() } catch let error as AIError where error.code == .unauthorized {
            var told = error
            told.specificAdvice = advice(on: source)
            throw told
        }
        context.output.render(json: json(owner, client.endpoint, source), quiet: [owner.name]) {
            func line(_ name: String, _ text: String?) {
                guard let text, !text.isEmpty else { return }
                let padding = String(repeating: " ", count: 12 - name.count)
                context.output.line(Styled("  \(name)\(padding)", .faint) + Styled(text))
            }
            context.output.line(Styled(owner.name, .name) + Styled(owner.fullName.map { " (\($0))" } ?? ""))
            line("orgs", owner.organizations.joined(separator: ", "))
            line("token", [owner.tokenName, owner.role.map { "(\($0))" }].compactMap { $0 }.joined(separator: " "))
            line("from", describe(source))
            line("endpoint", client.endpoint.address)
        }
    }

    private static func absence(_ context: Context) -> AIError {
        let environment = context.environment
        if environment.isTrue("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
            return AIError(
                .unauthorized, "no token is sent: HF_HUB_DISABLE_IMPLICIT_TOKEN is set",
                advice: "unset HF_HUB_DISABLE_IMPLICIT_TOKEN")
        }
        return AIError(
            .unauthorized,
            "not logged in: HF_TOKEN is not set and \(environment.tokenPath) \(FileSystem.exists(environment.tokenPath) ? "has no token" : "does not exist")",
            advice: "hub auth login saves one")
    }

    /// What to do about a token that the Hub refuses.
    static func advice(on source: TokenSource) -> String {
        switch source {
        case .variable(let name):
            "\(name) overrides the token file: unset or correct it"
        case .file(let path): "it comes from \(path): hub auth login saves another there"
        case .keychain, .caller: "hub auth login saves another"
        }
    }

    private static func describe(_ source: TokenSource) -> String? {
        switch source {
        case .variable(let name): name
        case .file(let path): path
        case .keychain, .caller: nil
        }
    }

    // MARK: Both

    /// Asks for no token where it could not be sent.
    private static func check(_ endpoint: Endpoint) throws(AIError) {
        guard endpoint.origin.isSafeForCredentials else {
            throw AIError(
                .invalidInput, "the token is not sent to \(endpoint): it is plain http and not this machine",
                advice: "give the https address with --endpoint or HF_ENDPOINT")
        }
    }

    private static func warnOfVariables(_ context: Context) {
        if let name = context.environment.tokenVariable {
            context.output.warning("\(name) is set and overrides the token file", advice: "unset \(name)")
        }
        if context.environment.isTrue("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
            context.output.warning(
                "HF_HUB_DISABLE_IMPLICIT_TOKEN is set: no token is sent",
                advice: "unset HF_HUB_DISABLE_IMPLICIT_TOKEN")
        }
    }

    private static func json(_ owner: TokenOwner, _ endpoint: Endpoint, _ source: TokenSource) -> JSONObject {
        var document: JSONObject = [
            "user": .string(owner.name), "full_name": owner.fullName.map { .string($0) },
            "orgs": .array(owner.organizations.map { .string($0) }),
            "token_name": owner.tokenName.map { .string($0) }, "token_role": owner.role.map { .string($0) },
            "endpoint": .string(endpoint.address),
        ]
        switch source {
        case .variable(let name): document["token_source"] = .string(name)
        case .file(let path):
            document["token_source"] = "file"
            document["token_path"] = .string(path)
        case .keychain, .caller: break
        }
        return document
    }
}
