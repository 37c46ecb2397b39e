package import HubCore

/// Who may ask a Hub.
///
/// A program in a browser can reach every address of this machine, and by DNS rebinding it can even read the answers:
/// its own name is made to lead to 127.0.0.1. Its requests then carry that name as `Host`, so only names that no
/// stranger can own are served: `localhost`, addresses as such, and what ``names`` lists. No answer ever carries a
/// CORS header, which keeps other pages out.
package struct HubAccess: Sendable {
    /// What a client has to show.
    package enum Policy: Sendable, Hashable {
        /// Anybody on this machine may read what is neither private nor gated. Only names of the loopback are served.
        case loopback
        /// Every request needs the token.
        case token
    }

    package var policy: Policy
    /// The token that opens everything; nil where nobody can be authorised.
    package var token: String?
    /// Further names that `Host` may say, lower case.
    package var names: Set<String>

    package init(_ policy: Policy, token: String? = nil, names: Set<String> = []) {
        self.policy = policy
        self.token = token
        self.names = Set(names.map { $0.lowercased() })
    }

    /// The rule for a server bound to `host`.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` where others could reach it and no token is set: what is served can be
    ///   gated or private.
    package static func serving(on host: String, token: String?, names: Set<String> = []) throws(AIError)
        -> HubAccess
    {
        if isLoopback(host.lowercased()) { return HubAccess(.loopback, token: token) }
        guard token?.isEmpty == false else {
            throw AIError(
                .invalidInput, "\(host.printable) can be reached by others, and no token is set",
                advice: "set a token, or serve on 127.0.0.1")
        }
        return HubAccess(.token, token: token, names: names.union(isAddress(host) ? [] : [host]))
    }

    /// Whether the request's `Host` is one of ours. RFC 9112 wants a request without one, or with two, refused.
    func admits(hosts: [String]) throws(HTTPFault) -> Bool {
        guard hosts.count == 1, let name = Self.name(ofHost: hosts[0]) else {
            throw .malformed("the request needs one Host")
        }
        if policy == .loopback { return Self.isLoopback(name) || names.contains(name) }
        return name == "localhost" || Self.isAddress(name) || names.contains(name)
    }

    /// What the `Authorization` of a request is worth.
    func identity(_ headers: HTTPHeaders) -> HubIdentity {
        guard let shown = headers["Authorization"] else { return .anonymous }
        guard let token, let bearer = Self.bearer(shown), Self.equal(bearer, token) else { return .stranger }
        return .owner
    }

    private static func bearer(_ header: String) -> String? {
        let parts = header.split(separator: " ")
        return parts.count == 2 && parts[0].lowercased() == "bearer" ? String(parts[1]) : nil
    }

    /// Compares without telling by the time it takes how much was right.
    private static func equal(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        return left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The name of `name:port`, lower case, an IPv6 address without its brackets; nil where it is not one.
    /// Only IPv6 addresses have brackets.
    static func name(ofHost host: String) -> String? {
        let text = host.lowercased()
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]"), isPort(text[text.index(after: end)...]) else { return nil }
            let name = text[text.index(after: text.startIndex)..<end]
            return name.contains(":") ? String(name) : nil
        }
        let end = text.firstIndex(of: ":") ?? text.endIndex
        guard end > text.startIndex, isPort(text[end...]) else { return nil }
        return String(text[..<end])
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty || (text.first == ":" && text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber })
    }

    static func isLoopback(_ name: String) -> Bool {
        name == "localhost" || name == "::1" || (name.hasPrefix("127.") && isAddress(name))
    }

    /// Whether a name is an address, which no DNS server can redirect.
    static func isAddress(_ name: String) -> Bool {
        if name.contains(":") {
            return name.utf8.allSatisfy { $0.isLowercaseHex || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil && !$0.hasPrefix("+") }
    }
}

/// Who asks.
enum HubIdentity: Sendable, Hashable {
    /// No credential was shown.
    case anonymous
    /// A credential that is not ours: the client's own token for another Hub, as clients send it to every endpoint.
    case stranger
    /// Whoever holds the token.
    case owner
}
