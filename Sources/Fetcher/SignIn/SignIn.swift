package import HubCore

/// A sign-in through an OAuth app: what hub must know to renew its token.
package struct SignIn: Sendable, Hashable {
    /// What only its owner may know.
    package struct Secrets: Sendable, Hashable {
        package var accessToken: AccessToken
        /// nil if the Hub gave none: then the sign-in ends with its token.
        package var refreshToken: AccessToken?
    }

    /// The name of its token among the stored ones.
    package var name: String
    package var clientID: String
    /// The address that renews the token: that of the Hub that gave it, whatever `HF_ENDPOINT` says later.
    package var tokenEndpoint: String
    /// What the token may be used for, separated by spaces; nil if the Hub did not say.
    package var scope: String?
    /// When the token ends, in seconds since 1970; nil if the Hub did not say.
    package var expiresAt: Double?
    /// How long the token was good when it was given, in seconds.
    package var lifetime: Double?
    /// Whether there is a refresh token, and the Hub has not refused it.
    package var isRenewable = false
    /// The SHA-256 of the access token.
    package var digest: String
    /// The SHA-256 of the access token before this one, until every place has the new one.
    package var replaced: String?
    /// The name of the item in the desktop's keyring, if its secrets are there.
    package var keyringItem: String?
    /// nil as long as they were not taken from the keyring.
    package var secrets: Secrets?

    /// A sign-in as the Hub has just granted it.
    package init(
        _ grant: TokenGrant, name: String, clientID: String, tokenEndpoint: String, now: Double = Timestamp.now
    ) {
        self.name = name
        self.clientID = clientID
        self.tokenEndpoint = tokenEndpoint
        digest = Self.digest(of: grant.accessToken)
        take(grant, now: now)
    }

    /// Puts what the Hub granted in place of what was granted before. A refresh token that it leaves out stays the same.
    package mutating func take(_ grant: TokenGrant, now: Double) {
        let refreshToken = grant.refreshToken ?? secrets?.refreshToken
        secrets = Secrets(accessToken: grant.accessToken, refreshToken: refreshToken)
        digest = Self.digest(of: grant.accessToken)
        scope = grant.scope ?? scope
        lifetime = grant.expiresIn
        expiresAt = grant.expiresIn.map { now + $0 }
        isRenewable = refreshToken != nil
    }

    /// Whether its token is stored under this name.
    func isNamed(_ name: String) -> Bool { ExactText(self.name) == ExactText(name) }

    /// Whether it is about this token: the one it has now, or the one before.
    func concerns(_ token: AccessToken) -> Bool {
        let digest = Self.digest(of: token)
        return digest == self.digest || digest == replaced
    }

    /// Whether the token should be renewed: less than ten minutes or a tenth of its life are left. A very short life is
    /// used to the half at least.
    func isDue(_ now: Double) -> Bool {
        guard let expiresAt, let lifetime else { return false }
        return expiresAt - now < min(max(600, lifetime / 10), lifetime / 2)
    }

    /// Whether the token is no longer good.
    package func hasExpired(_ now: Double) -> Bool { expiresAt.map { $0 <= now } ?? false }

    static func digest(of token: AccessToken) -> String {
        ContentHasher.digest(of: Array(token.secret.utf8), like: .sha256("")).hex
    }
}

extension SignIn {
    /// What is missing in the record of a sign-in.
    struct Fault: Error { var reason: String }

    init(_ json: JSON) throws(Fault) {
        func text(_ key: String) throws(Fault) -> String {
            guard let text = json[key]?.string, !text.isEmpty else { throw Fault(reason: "\(key) is missing") }
            return text
        }
        name = try text("name")
        clientID = try text("client_id")
        tokenEndpoint = try text("token_endpoint")
        digest = try text("token_sha256")
        replaced = json["replaced_sha256"]?.string
        scope = json["scope"]?.string
        expiresAt = json["expires_at"]?.double
        lifetime = json["lifetime"]?.double
        isRenewable = json["renewable"]?.bool ?? false
        keyringItem = json["keyring_item"]?.string
        guard let token = json["access_token"]?.string.flatMap({ AccessToken($0) }) else {
            guard keyringItem != nil else { throw Fault(reason: "access_token is missing") }
            return
        }
        secrets = Secrets(
            accessToken: token, refreshToken: json["refresh_token"]?.string.flatMap { AccessToken($0) })
    }

    /// - Parameter withSecrets: false for the file, where they are in the keyring.
    func json(withSecrets: Bool) -> JSONObject {
        var object: JSONObject = [
            "name": .string(name), "client_id": .string(clientID), "token_endpoint": .string(tokenEndpoint),
            "token_sha256": .string(digest), "replaced_sha256": replaced.map(JSON.string),
            "scope": scope.map(JSON.string), "expires_at": expiresAt.map(JSON.double),
            "lifetime": lifetime.map(JSON.double), "renewable": .bool(isRenewable),
            "keyring_item": keyringItem.map(JSON.string),
        ]
        if withSecrets, let secrets {
            object["access_token"] = .string(secrets.accessToken.secret)
            object["refresh_token"] = secrets.refreshToken.map { .string($0.secret) }
        }
        return object
    }
}
