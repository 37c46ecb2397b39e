import Fetcher
import HubCore

extension AuthCommand {
    static func whoami(_ context: Context) async throws {
        let client = try await context.workspace(opensCatalog: false).client()
        guard let source = client.tokenSource else { throw absence(context) }
        guard !context.isOffline else {
            throw AIError(.offline, "only the Hub knows whose token it is, and the network is switched off")
        }
        try check(client.endpoint)
        var owner: TokenOwner
        do { owner = try await client.whoami() } catch let error as AIError where error.code == .unauthorized {
            var told = error
            told.specificAdvice = advice(on: source)
            throw told
        }
        let signIn = try await signIn(of: source, context)
        owner.scopes = owner.scopes ?? signIn?.scope.map { $0.split(separator: " ").map(String.init).sorted() }
        var document = json(owner, client.endpoint, source)
        document["scopes"] = owner.scopes.map { .array($0.map(JSON.string)) }
        document["cannot"] = .array(owner.refusals.map(JSON.string))
        document["expires_at"] = signIn?.expiresAt.map { .string(Timestamp.iso8601($0)) }
        context.output.render(json: document, quiet: [owner.name]) {
            func line(_ name: String, _ text: String?) {
                guard let text, !text.isEmpty else { return }
                let padding = String(repeating: " ", count: 12 - name.count)
                context.output.line(Styled("  \(name)\(padding)", .faint) + Styled(text))
            }
            context.output.line(Styled(owner.name, .name) + Styled(owner.fullName.map { " (\($0))" } ?? ""))
            line("orgs", owner.organizations.joined(separator: ", "))
            line("token", [owner.tokenName, owner.role.map { "(\($0))" }].compactMap { $0 }.joined(separator: " "))
            line("scopes", owner.scopes?.joined(separator: ", "))
            line("cannot", owner.refusals.joined(separator: "; "))
            line("until", signIn?.expiresAt.map(Timestamp.iso8601))
            line("from", describe(source))
            line("endpoint", client.endpoint.address)
        }
    }

    /// What hub knows of the sign-in that the token is of.
    private static func signIn(of source: TokenSource, _ context: Context) async throws -> SignIn? {
        guard case .file = source else { return nil }
        let accounts = context.accounts
        return try await Blocking.run { () throws(AIError) in
            guard let token = try accounts.file.token() else { return nil }
            do throws(AIError) { return try accounts.signIns.signIn(of: token) } catch {
                context.output.debug(error.message)
                return nil
            }
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
            "not signed in: HF_TOKEN is not set and \(environment.tokenPath) \(FileSystem.exists(environment.tokenPath) ? "has no token" : "does not exist")",
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

    static func json(_ owner: TokenOwner, _ endpoint: Endpoint, _ source: TokenSource) -> JSONObject {
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
