import HubCore

extension HTTPResponse {
    /// A fault of the Hub's protocol in words, where a person opened the address in a browser; else unchanged. What is
    /// below `/api/` stays JSON, as on the Hub.
    package func readable(to request: HTTPRequest) -> HTTPResponse {
        guard let message = headers["X-Error-Message"], request.isForReading, !request.rawPath.hasPrefix("/api/")
        else { return self }
        // Without a token a repository that does not exist is one that may not be seen.
        let isMissing = status == 404 || headers["X-Error-Code"] == "RepoNotFound"
        let title = isMissing ? "Not found" : "That did not work"
        let text = isMissing ? "There is nothing at \(request.rawPath.printable)." : message
        var page = self
        page.headers.merge([
            "Content-Type": "text/html; charset=utf-8", "Vary": "Accept", "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
        ])
        page.body = .bytes(Array(Self.document(title, text).utf8))
        return page
    }

    private static func document(_ title: String, _ text: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
        <meta name="viewport" content="width=device-width, initial-scale=1"><title>\(title) – hub</title></head>
        <body><main><h1>\(title)</h1><p>\(escaped(text))</p>
        <p>This is a Hub for programs such as <code>hub</code> and <code>hf</code>.
        <code>hub serve page</code> shows models in a browser.</p></main></body></html>

        """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}
