import Fetcher
import HubCore
import Support
import Testing

/// A user's folders, and a Hub to sign in to.
struct SignInBench {
    let server: OAuthServer
    let box: TemporaryFolder
    /// What was said, for people and for `--verbose`.
    let said = Monitor<[String]>([])

    init(_ options: OAuthServer.Options = .init()) throws {
        server = try OAuthServer(options)
        box = try TemporaryFolder("sign-in")
    }

    var variables: [String: String] {
        ["HOME": box.path, "HF_HOME": box("hf"), "HUB_HOME": box("state"), "HF_ENDPOINT": server.endpoint]
    }

    func environment(_ more: [String: String] = [:]) -> HubEnvironment {
        HubEnvironment.test(variables.merging(more) { $1 })
    }

    func client(id: String? = nil) throws -> OAuthClient {
        OAuthClient(
            engine: try HTTPEngine(HTTPEngine.Settings(environment())), endpoint: try Endpoint(server.endpoint),
            clientID: id ?? server.options.clientID, log: { [said] text in said.update { $0.append(text) } })
    }

    func workspace(_ more: [String: String] = [:], isOffline: Bool = false) throws -> Workspace {
        Workspace(
            environment: environment(more), configuration: .default, isOffline: isOffline, opensCatalog: false,
            log: { [said] text in said.update { $0.append(text) } },
            notice: { [said] text in said.update { $0.append("notice: " + text) } })
    }

    var accounts: Accounts { Accounts(environment()) }

    /// Signs in as if it had been so many seconds ago.
    ///
    /// - Parameter refresh: false if the Hub gave no refresh token.
    @discardableResult
    func signIn(secondsAgo: Double, lifetime: Double? = 28_800, refresh: Bool = true) async throws -> SignIn {
        let pair = server.grant()
        let grant = TokenGrant(
            accessToken: try #require(AccessToken(pair.access)),
            refreshToken: refresh ? AccessToken(pair.refresh) : nil, expiresIn: lifetime,
            scope: "openid")
        let signIn = SignIn(
            grant, name: "oauth-ada", clientID: server.options.clientID,
            tokenEndpoint: server.endpoint + "/oauth/token", now: Timestamp.now - secondsAgo)
        try await accounts.keep(grant.accessToken, name: "oauth-ada", signIn: signIn)
        return signIn
    }

    var tokenFile: String { get throws { try FileSystem.text(box("hf/token")) ?? "" } }
    var storedToken: String? { get throws { try accounts.stored().entry(named: "oauth-ada")?.token?.secret } }
}

extension AIError {
    /// The error of an operation that must fail.
    static func of(_ body: () async throws -> Void) async -> AIError? {
        do {
            try await body()
            return nil
        } catch { return AIError.wrapping(error) }
    }
}
