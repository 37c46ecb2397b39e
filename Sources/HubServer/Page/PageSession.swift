import HubCore

/// Who may use the page, and which requests come from it.
///
/// A browser that has opened the page holds a cookie, which no other site can send (SameSite=Strict) and no script can
/// read (HttpOnly). What changes something also has to show the token of that cookie in a header. Only the page can ask
/// for it, for no answer says that another origin may read it.
package struct PageSession: Sendable {
    /// The header with the token.
    package static let header = "X-Hub-Session"

    private let secret = FileSystem.randomHex(32)
    /// The tokens that open the page; nil lets everyone in who reaches it.
    private let tokens: TokenList?

    /// A server's sessions; they end with it.
    ///
    /// - Parameter tokens: nil only on the loopback.
    package init(tokens: TokenList?) { self.tokens = tokens }

    /// Whether a visitor has to show a token first.
    package var needsLogin: Bool { tokens != nil }

    /// Whether the request's cookie is one of this server's.
    package func isOpen(_ request: HTTPRequest) -> Bool { session(of: request) != nil }

    /// Whether the request may change something: it has the cookie and its token, and no other page sent it.
    package func mayChange(_ request: HTTPRequest) -> Bool {
        guard let session = session(of: request), let shown = request.headers[Self.header] else { return false }
        return Self.isOwnOrigin(request) && TokenList(token(of: session)).admits(shown)
    }

    /// The token that the request's cookie needs beside it; nil without a valid cookie.
    package func token(for request: HTTPRequest) -> String? { session(of: request).map(token) }

    /// The `Set-Cookie` of a new session.
    ///
    /// - Parameter shown: the token that the visitor typed.
    /// - Returns: nil if a token is needed and this is none of them.
    package func open(_ request: HTTPRequest, showing shown: String? = nil) -> String? {
        if let tokens {
            guard let shown, tokens.admits(shown) else { return nil }
        }
        let name = FileSystem.randomHex(16)
        return "\(cookieName(request))=\(name).\(proof(of: name)); Path=/; HttpOnly; SameSite=Strict"
            + (request.scheme == "https" ? "; Secure" : "")
    }

    /// Whether no page sent the request, or this server's own. A page's `fetch` names its origin in every POST.
    package static func isOwnOrigin(_ request: HTTPRequest) -> Bool {
        guard let origin = request.headers["Origin"] else {
            return !["cross-site", "same-site"].contains(request.headers["Sec-Fetch-Site"] ?? "none")
        }
        // TLS may end at a proxy in front.
        guard let host = request.headers["Host"] else { return false }
        return ["http://\(host)", "https://\(host)"].contains(origin)
    }

    /// Cookies do not know ports: two servers of one machine must not overwrite each other's.
    private func cookieName(_ request: HTTPRequest) -> String {
        let port = request.headers["Host"]?.split(separator: ":").last.flatMap { UInt16($0) }
        return "hub_session" + (port.map { "_\($0)" } ?? "")
    }

    private func session(of request: HTTPRequest) -> String? {
        let wanted = cookieName(request) + "="
        for header in request.headers.all("Cookie") {
            for pair in header.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                guard pair.hasPrefix(wanted) else { continue }
                let parts = pair.dropFirst(wanted.count).split(separator: ".")
                guard parts.count == 2, parts[0].utf8.count == 32 else { continue }
                let name = String(parts[0])
                if TokenList(proof(of: name)).admits(String(parts[1])) { return name }
            }
        }
        return nil
    }

    private func proof(of session: String) -> String { digest("cookie \(session)") }
    private func token(of session: String) -> String { digest("token \(session)") }

    private func digest(_ text: String) -> String {
        ContentHasher.digest(of: Array("\(secret) \(text)".utf8), like: .sha256("")).hex
    }
}
