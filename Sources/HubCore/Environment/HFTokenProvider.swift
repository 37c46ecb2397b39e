/// The source of the token in use.
package enum TokenSource: Sendable, Hashable {
    /// An environment variable, by its name.
    case variable(String)
    /// The token file, by its path.
    case file(String)
    case keychain
    /// Passed by the caller.
    case caller
}

/// The configured source of the token, shared by all Hub clients.
public enum HFTokenProvider: Sendable, Hashable, CustomStringConvertible {
    /// `HF_TOKEN`, else `HUGGING_FACE_HUB_TOKEN`, else the token file; none if `HF_HUB_DISABLE_IMPLICIT_TOKEN`.
    case auto
    /// This one.
    case `static`(AccessToken)
    /// An item of the macOS keychain.
    case keychain(service: String, account: String)
    /// None: anonymous.
    case none

    /// The token in use; nil means anonymous.
    ///
    /// - Throws: ``ErrorCode/permissionDenied`` if the token file cannot be read; ``ErrorCode/invalidInput`` for
    ///   invalid characters, or a keychain on a system without one.
    public func token(in environment: HubEnvironment = .process) throws(AIError) -> AccessToken? {
        try find(in: environment)?.token
    }

    /// The token in use and its source.
    package func find(in environment: HubEnvironment) throws(AIError) -> (token: AccessToken, source: TokenSource)?
    {
        switch self {
        case .none: return nil
        case .static(let token): return (token, .caller)
        case .keychain(let service, let account):
            let password = try Keychain.password(service: service, account: account)
            return password.flatMap { AccessToken($0) }.map { ($0, .keychain) }
        case .auto:
            if environment.isTrue("HF_HUB_DISABLE_IMPLICIT_TOKEN") { return nil }
            if let name = environment.tokenVariable {
                return try Self.clean(environment[name], from: name).map { ($0, .variable(name)) }
            }
            let file = TokenFile(environment.tokenPath)
            return try file.token().map { ($0, .file(file.path)) }
        }
    }

    /// Blank text means no token; invalid characters are an error and must not count as anonymous.
    static func clean(_ text: String?, from source: String) throws(AIError) -> AccessToken? {
        guard let text, text.contains(where: { !$0.isWhitespace }) else { return nil }
        guard let token = AccessToken(text) else {
            throw AIError(.invalidInput, "the token in \(source) has characters that no token has")
        }
        return token
    }

    /// Names the source, never the token.
    public var description: String {
        switch self {
        case .auto: "token from the environment or the token file"
        case .static: "a given token"
        case .keychain(let service, let account): "keychain item \(service)/\(account)"
        case .none: "no token"
        }
    }
}
