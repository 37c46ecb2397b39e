package import HubServer

/// Who may use the API.
///
/// A program in a browser can send requests to every address of this machine. Host was checked by the front door; `Origin`
/// says which page asks: this server's own, or an application's, unless a key proves that the page may.
package struct APIAccess: Sendable {
    /// The keys; nil if none is needed.
    private let keys: TokenList?
    /// Whether a request comes from this server's own page, which has a session.
    private let isOwnPage: @Sendable (HTTPRequest) -> Bool

    package init(keys: TokenList?, isOwnPage: @escaping @Sendable (HTTPRequest) -> Bool = { _ in false }) {
        (self.keys, self.isOwnPage) = (keys, isOwnPage)
    }

    /// - Parameter needsKey: whether the request changes what is on this machine, so that nobody may without a key.
    /// - Throws: 401 without a valid key, 403 for a page of another origin.
    func admit(_ request: HTTPRequest, needsKey: Bool) throws(APIFault) {
        if isOwnPage(request) { return }
        if let keys {
            guard let shown = Self.key(request) else {
                throw .refused(401, "this server needs an API key", code: "invalid_api_key")
            }
            guard keys.admits(shown) else {
                throw .refused(401, "the API key is not one of this server's", code: "invalid_api_key")
            }
            return
        }
        guard allows(origin: request) else {
            throw .refused(403, "pages of other origins may not use this server without a key")
        }
        if needsKey {
            throw .refused(
                403,
                "this changes what is on the server's machine and needs a key; start hub serve with HUB_API_KEY")
        }
    }

    /// The key that a request shows: as OpenAI's clients send it, or as others do.
    private static func key(_ request: HTTPRequest) -> String? {
        request.bearerToken ?? request.headers["api-key"] ?? request.headers["x-api-key"]
    }

    /// The headers that let a page of an allowed origin read an answer.
    func sharing(_ request: HTTPRequest) -> HTTPHeaders {
        guard let origin = request.headers["Origin"], keys != nil || allows(origin: request) else { return [:] }
        return ["Access-Control-Allow-Origin": origin, "Vary": "Origin"]
    }

    /// Whether no page asks, or this server's own, or an application's that is no page of the web.
    private func allows(origin request: HTTPRequest) -> Bool {
        guard let origin = request.headers["Origin"] else {
            // Browsers that send no Origin say this much.
            return !["cross-site", "same-site"].contains(request.headers["Sec-Fetch-Site"] ?? "none")
        }
        if let host = request.headers["Host"], ["http://\(host)", "https://\(host)"].contains(origin) {
            return true
        }
        return ["app://", "tauri://", "vscode-webview://"].contains { origin.hasPrefix($0) }
    }
}
