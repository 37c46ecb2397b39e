package import HubCore

/// What the Hub's token endpoint grants. https://www.rfc-editor.org/rfc/rfc6749#section-5.1
package struct TokenGrant: Sendable, Hashable {
    package var accessToken: AccessToken
    package var refreshToken: AccessToken?
    /// In seconds.
    package var expiresIn: Double?
    /// Separated by spaces.
    package var scope: String?

    package init(
        accessToken: AccessToken, refreshToken: AccessToken? = nil, expiresIn: Double? = nil, scope: String? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresIn = expiresIn
        self.scope = scope
    }

    /// nil without a token that can be used.
    init?(_ json: JSON) {
        guard let token = json["access_token"]?.string.flatMap({ AccessToken($0) }) else { return nil }
        accessToken = token
        refreshToken = json["refresh_token"]?.string.flatMap { AccessToken($0) }
        expiresIn = json["expires_in"]?.double.flatMap { $0 > 0 ? min($0, Self.longestLife) : nil }
        scope = json["scope"]?.string.flatMap { $0.isEmpty ? nil : $0.printable }
    }

    /// A hundred years: more is a mistake, and a date that nobody can write.
    private static let longestLife = 3_155_760_000.0
}
