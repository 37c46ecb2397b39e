package import HubCore

/// The Hub's OAuth endpoints. Each request is sent once, and no redirect is followed: the bodies hold secrets.
/// https://huggingface.co/docs/hub/oauth
package struct OAuthClient: Sendable {
    let engine: HTTPEngine
    package let endpoint: Endpoint
    package let clientID: String
    /// Called for each request; for `--verbose`. Never contains a secret.
    let log: @Sendable (String) -> Void

    package let tokenEndpoint: String
    var deviceEndpoint: String { "\(endpoint)/oauth/device" }
    var authorizeEndpoint: String { "\(endpoint)/oauth/authorize" }

    package init(
        engine: HTTPEngine, endpoint: Endpoint, clientID: String,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.engine = engine
        self.endpoint = endpoint
        tokenEndpoint = "\(endpoint)/oauth/token"
        self.clientID = clientID
        self.log = log
    }

    /// The same app at the same place as when the sign-in began.
    init(engine: HTTPEngine, _ signIn: SignIn, log: @escaping @Sendable (String) -> Void) throws(AIError) {
        self.engine = engine
        tokenEndpoint = signIn.tokenEndpoint
        endpoint = try Endpoint(Origin(tokenEndpoint)?.description ?? tokenEndpoint)
        clientID = signIn.clientID
        self.log = log
    }

    /// A refusal as the endpoint words it. https://www.rfc-editor.org/rfc/rfc6749#section-5.2
    struct Refusal: Error, Sendable, Hashable {
        /// `authorization_pending`, `invalid_grant`, ...
        var code: String
        var description: String?
        var status: Int
    }

    /// The JSON of a successful answer, within `HF_HUB_DOWNLOAD_TIMEOUT`.
    ///
    /// - Parameters:
    ///   - form: the fields, to which the client's id is added.
    ///   - secrets: what is masked in the texts of the answer.
    /// - Throws: ``Refusal`` where the endpoint says why; ``AIError`` for anything else that is no success.
    func post(_ address: String, _ form: [(String, String)], hiding secrets: [String] = []) async throws -> JSON {
        guard let origin = Origin(address), origin.isSafeForCredentials else {
            throw AIError(
                .invalidInput, "nothing secret is sent to \(SafeAddress.shown(address)): it is plain http",
                advice: "give the https address with --endpoint or HF_ENDPOINT")
        }
        log("POST \(SafeAddress.shown(address))")
        let fields = (form + [("client_id", clientID)]).map {
            "\(PercentEncoding.encode($0.0))=\(PercentEncoding.encode($0.1))"
        }
        var request = HTTPRequest(
            .post, address,
            fields: HTTPFields([
                ("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"),
            ]), body: Array(fields.joined(separator: "&").utf8), deadline: engine.settings.stallTimeout)
        // What is good once must not be sent again, which libcurl does where an open connection turns out to be closed.
        request.reusesConnection = false
        let answer = try await OneExchange.answer(to: request, by: engine)
        let json = try? JSON.parse(answer.body, mostWords: 1 << 14)
        if answer.head.isSuccess, let json, json.object != nil { return json }
        if answer.status < 500, let code = json?["error"]?.string, !code.isEmpty {
            func masked(_ text: String) -> String {
                String(
                    secrets.reduce(text) { $1.utf8.count < 8 ? $0 : $0.replacing($1, with: Secrets.tokenMark) }
                        .prefix(300)
                )
                .printable
            }
            throw Refusal(
                code: masked(code), description: json?["error_description"]?.string.map(masked),
                status: answer.status)
        }
        let place = AIError.Context(status: answer.status, address: SafeAddress.shown(address))
        switch answer.status {
        case 429: throw AIError(.rateLimited, "\(origin) limits the rate of requests", context: place)
        case 500...: throw AIError(.serverError, "\(origin) returned HTTP \(answer.status)", context: place)
        case 404:
            throw AIError(.protocolViolation, "\(origin) does not offer this sign-in (404)", context: place)
        default:
            throw AIError(
                .protocolViolation, "\(SafeAddress.shown(address)) answers \(answer.status) and no JSON of OAuth",
                context: place)
        }
    }

    /// A token for a code or a refresh token.
    func grant(_ form: [(String, String)], hiding secrets: [String]) async throws -> TokenGrant {
        guard let grant = TokenGrant(try await post(tokenEndpoint, form, hiding: secrets)) else {
            throw AIError(.protocolViolation, "\(endpoint.origin) grants no token that can be used")
        }
        return grant
    }

    /// What a refusal means to a person who signs in.
    func error(_ refusal: Refusal) -> AIError {
        let tail = refusal.description.map { ": \($0)" } ?? ""
        let context = AIError.Context(status: refusal.status)
        switch refusal.code {
        case "access_denied":
            return AIError(
                .unauthorized, "the sign-in was denied on the Hub's page", advice: "sign in again to allow it",
                context: context)
        case "expired_token":
            return .codeExpired
        case "invalid_grant":
            return AIError(
                .unauthorized, "\(endpoint.origin) does not accept the code of this sign-in\(tail)",
                advice: "sign in again", context: context)
        case "invalid_client", "unauthorized_client":
            return AIError(
                .unauthorized, "\(endpoint.origin) refuses the OAuth app \(clientID.printable)\(tail)",
                advice: "check the client id; it must be that of a public app, which has no secret",
                context: context)
        default:
            return AIError(
                .protocolViolation, "\(endpoint.origin) refuses the sign-in: \(refusal.code)\(tail)",
                advice: "check the OAuth app \(clientID.printable): its redirect address, its scopes and its kind",
                context: context)
        }
    }
}

extension AIError {
    /// Nobody confirmed the code in time.
    static var codeExpired: AIError {
        AIError(
            .timedOut, "the code has expired before anyone confirmed it",
            advice: "hub auth login --device gives a new one")
    }
}
