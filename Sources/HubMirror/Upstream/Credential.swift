import HubCore
package import HubServer

/// Who may use a mirror, and whose token goes upstream.
package enum ClientAuthorisation: Sendable {
    /// Everyone; upstream without a token.
    case none
    /// Who has one of these tokens; upstream with this machine's.
    case own(TokenList)
    /// Everyone, with what the client's own token may see; that token goes upstream.
    case forward
}

/// The token for upstream.
enum Credential: Sendable, Hashable {
    case anonymous
    /// This machine's.
    case machine
    case client(AccessToken)

    /// - Throws: ``HubFault`` (401) for a client without a token where one is needed.
    init(_ request: ServedRequest, _ authorisation: ClientAuthorisation) throws(HubFault) {
        switch authorisation {
        case .none: self = .anonymous
        case .own(let tokens):
            guard let token = request.bearerToken else { throw .login }
            guard tokens.admits(token) else { throw .credentials }
            self = .machine
        case .forward:
            guard let shown = request.bearerToken else {
                self = .anonymous
                return
            }
            guard let token = AccessToken(shown) else { throw .credentials }
            self = .client(token)
        }
    }

    var provider: HFTokenProvider {
        switch self {
        case .anonymous: .none
        case .machine: .auto
        case .client(let token): .static(token)
        }
    }

    /// A name that does not give the token away.
    var digest: String {
        switch self {
        case .anonymous: "-"
        case .machine: "machine"
        case .client(let token): ContentHasher.digest(of: Array(token.secret.utf8), like: .sha256("")).hex
        }
    }
}
