import Fetcher
import HubCore
import HubServer

extension AuthCommand {
    /// Minutes that hub waits for the browser.
    private static let patience = 10.0

    /// A token that the person allows on the Hub's pages.
    static func signIn(_ context: Context, _ method: Method) async throws -> (token: AccessToken, signIn: SignIn) {
        let endpoint = try context.hubEndpoint()
        guard let clientID = try await clientID(context) else { throw missingApp(context, endpoint) }
        let engine = try await context.workspace(opensCatalog: false).engine()
        let output = context.output
        let client = OAuthClient(
            engine: engine, endpoint: endpoint, clientID: clientID, log: { output.debug($0) })
        let grant =
            if method == .device { try await grantByDevice(context, client) } else {
                try await grantByBrowser(context, client, engine)
            }
        let signIn = SignIn(grant, name: "", clientID: clientID, tokenEndpoint: client.tokenEndpoint)
        return (grant.accessToken, signIn)
    }

    /// Whether there is an app that could ask for permission.
    static func canSignIn(_ context: Context) async -> Bool {
        (try? await clientID(context)) != nil
    }

    private static func clientIDFile(_ context: Context) -> String {
        Path.join(context.environment.stateDirectory, "oauth-client-id")
    }

    /// The app that asks for permission: the environment's, or the one of this user; nil without one.
    private static func clientID(_ context: Context) async throws -> String? {
        let path = clientIDFile(context)
        let text = try await Blocking.run { try FileSystem.text(path, limit: 4096) }
        let words = (context.environment["HF_DEVICE_CODE_OAUTH_CLIENT_ID"] ?? text ?? "").split(
            whereSeparator: \.isWhitespace)
        if words.count == 1 { return String(words[0]) }
        guard words.isEmpty else {
            throw AIError(
                .invalidInput, "the client id of the OAuth app has spaces or several lines",
                advice: "it is in HF_DEVICE_CODE_OAUTH_CLIENT_ID, else in \(path)")
        }
        return nil
    }

    private static func missingApp(_ context: Context, _ endpoint: Endpoint) -> AIError {
        AIError(
            .invalidInput, "signing in without a token needs an OAuth app, and hub has none",
            advice: """
                make one at \(endpoint)/settings/applications/new: a public app (without a secret), redirect address \
                http://127.0.0.1\(BrowserSignIn.path), scopes \(BrowserSignIn.scope)
                then export HF_DEVICE_CODE_OAUTH_CLIENT_ID=(its client id), or write the id to \(clientIDFile(context))
                hub auth login alone takes a token instead
                """)
    }

    // MARK: Device

    private static func grantByDevice(_ context: Context, _ client: OAuthClient) async throws -> TokenGrant {
        let device = DeviceSignIn(client)
        let code = try await device.begin()
        context.ask(
            "Open \(code.address) and enter the code \(code.userCode)\nWaiting for it to be confirmed; Ctrl-C ends this.\n",
            [
                "address": .string(code.address), "complete_address": code.completeAddress.map(JSON.string),
                "code": .string(code.userCode), "expires_in": .int(Int64(code.expiresIn)),
            ])
        return try await device.token(for: code)
    }

    // MARK: Browser

    private static func grantByBrowser(_ context: Context, _ client: OAuthClient, _ engine: HTTPEngine) async throws
        -> TokenGrant
    {
        let page = CallbackPage(path: BrowserSignIn.path)
        let server = try await Blocking.run { try HubServer(handler: page) }
        do {
            let grant = try await grant(by: page, at: server.port, context, client, engine)
            await Blocking.run { server.stop() }
            return grant
        } catch {
            await Blocking.run { server.stop() }
            throw error
        }
    }

    private static func grant(
        by page: CallbackPage, at port: UInt16, _ context: Context, _ client: OAuthClient, _ engine: HTTPEngine
    ) async throws -> TokenGrant {
        let signIn = BrowserSignIn(client, port: port)
        page.expect(at: port) { query in
            switch signIn.answer(query) {
            case .code: "hub has the answer. You can close this page."
            case .refused: "The sign-in was refused. You can close this page."
            case .foreign: nil
            }
        }
        let opens = Browser.open(signIn.address, context.environment)
        context.ask(
            "\(opens ? "If no browser opens, open" : "Open") this address in a browser of this machine:\n\(signIn.address)\nWaiting for its answer; Ctrl-C ends this.\n",
            ["address": .string(signIn.address)])
        let limit = Task(executorPreference: TaskThreads.shared) {
            try await engine.sleep(patience * 60)
            page.close()
        }
        defer { limit.cancel() }
        switch try await page.answer().map(signIn.answer) {
        case .code(let code): return try await signIn.redeem(code)
        case .refused(let code, let description): throw signIn.error(code, description)
        case .foreign, nil:
            throw AIError(
                .timedOut, "the browser brought no answer in \(Int(patience)) minutes",
                advice: "sign in again; hub auth login --device works with a browser on another machine")
        }
    }
}

extension Context {
    /// Tells a person on stderr what to do, whatever stdout is for.
    fileprivate func ask(_ text: String, _ event: JSONObject) {
        if progressMode == .json { output.event("sign_in", event) } else { output.prompt(text) }
    }

    /// This user's tokens.
    var accounts: Accounts {
        Accounts(
            environment, log: { [output] in output.debug($0) }, notice: { [output] in output.warning($0) })
    }
}
