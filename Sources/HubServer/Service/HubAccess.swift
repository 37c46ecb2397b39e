package import HubCore

/// Access control of a Hub.
///
/// A program in a browser can reach every address of this machine, and by DNS rebinding, which points an attacker's
/// name at 127.0.0.1, it can read the responses. Such requests carry that name as `Host`, so only safe names are
/// served: `localhost`, IP addresses and ``names``. No response carries a CORS header, which keeps other pages out.
package struct HubAccess: Sendable {
    /// What a client must present.
    package enum Policy: Sendable, Hashable {
        /// Anyone on this machine may read public repositories. Only loopback names are served.
        case loopback
        /// Every request needs the token.
        case token
        /// A ``FrontDoor`` has checked Host and sender: everything is served.
        case checked
    }

    package var policy: Policy
    /// The token that gives full access; nil if there is none.
    package var token: String?
    /// Further allowed `Host` names, lower case.
    package var names: Set<String>
    /// Whether names are allowed that no public name server answers for, such as a container's `host.docker.internal`.
    package var allowsPrivateNames: Bool

    package init(
        _ policy: Policy, token: String? = nil, names: Set<String> = [], allowsPrivateNames: Bool = false
    ) {
        self.policy = policy
        self.token = token
        self.allowsPrivateNames = allowsPrivateNames
        self.names = Set(names.map { $0.lowercased() })
    }

    /// The rule for a server bound to `host`.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` if other machines can reach it and no token is set: it may serve gated or
    ///   private repositories.
    ///
    /// - Parameter isLocal: whether only programs of this machine reach it; by default where `host` is the loopback.
    package static func serving(on host: String, isLocal: Bool? = nil, token: String?, names: Set<String> = [])
        throws(AIError) -> HubAccess
    {
        if isLocal ?? isLoopback(host.lowercased()) { return HubAccess(.loopback, token: token) }
        guard token?.isEmpty == false else {
            throw AIError(
                .invalidInput, "\(host.printable) can be reached by others, and no token is set",
                advice: "set a token, or serve on 127.0.0.1")
        }
        return HubAccess(.token, token: token, names: names.union(isAddress(host) ? [] : [host]))
    }

    /// Whether the request's `Host` is allowed. RFC 9112 requires exactly one.
    package func admits(hosts: [String]) throws(HTTPFault) -> Bool {
        guard hosts.count == 1, let name = Self.name(ofHost: hosts[0]) else {
            throw .malformed("the request needs one Host")
        }
        if policy == .checked { return true }
        if allowsPrivateNames, Self.privateEndings.contains(where: name.hasSuffix) { return true }
        if policy == .loopback { return Self.isLoopback(name) || names.contains(name) }
        return name == "localhost" || Self.isAddress(name) || names.contains(name)
    }

    /// RFC 6761, RFC 6762, and the top-level domain that ICANN reserved for private use in 2024. Ollama allows the same.
    private static let privateEndings = [".localhost", ".local", ".internal"]

    /// The identity that a request's `Authorization` proves.
    func identity(_ headers: HTTPHeaders) -> HubIdentity {
        if policy == .checked { return .owner }
        guard let shown = headers["Authorization"] else { return .anonymous }
        guard let token, let bearer = Self.bearer(shown), Self.equal(bearer, token) else { return .stranger }
        return .owner
    }

    private static func bearer(_ header: String) -> String? {
        let parts = header.split(separator: " ")
        return parts.count == 2 && parts[0].lowercased() == "bearer" ? String(parts[1]) : nil
    }

    /// Compares in constant time.
    private static func equal(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        return left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The name in `name:port`, lower case, an IPv6 address without brackets; nil if malformed. Only IPv6 addresses
    /// have brackets.
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

    package static func isLoopback(_ name: String) -> Bool {
        name == "localhost" || name == "::1" || (name.hasPrefix("127.") && isAddress(name))
    }

    /// Whether a name is an IP address, which DNS cannot redirect.
    static func isAddress(_ name: String) -> Bool {
        if name.contains(":") {
            return name.utf8.allSatisfy { $0.isLowercaseHex || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil && !$0.hasPrefix("+") }
    }
}

/// The sender of a request.
enum HubIdentity: Sendable, Hashable {
    /// No credential was shown.
    case anonymous
    /// An unknown credential: clients send their token for another Hub to every endpoint.
    case stranger
    /// A client with the server's token.
    case owner
}
