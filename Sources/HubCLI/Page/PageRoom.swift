import HubAPI
import HubCore
import HubServer

/// The web page, as a room behind the front door: `/`, what is below `/-/`, which no repository's name begins with, and
/// what people open in a browser that is no route of the Hub's.
struct PageRoom: ServerRoom {
    let place: PagePlace
    let session: PageSession
    private var frame: PageFrame { PageFrame(hasAPI: place.hasAPI) }

    func claims(_ parts: [String]) -> Bool { parts.first == "-" }

    func claims(_ parts: [String], of request: HTTPRequest) -> Bool {
        claims(parts) || (request.isForReading && (parts == [""] || Self.isLost(parts, request)))
    }

    /// Whether an address is none of the Hub's or the API's: that of one of the Hub's pages, or a wrong one.
    private static func isLost(_ parts: [String], _ request: HTTPRequest) -> Bool {
        ["GET", "HEAD"].contains(request.method) && !["api", "v1", "v2"].contains(parts[0])
            && HubRoute.readings(parts).isEmpty
    }

    func route(_ parts: [String]) -> String { "page" }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        var response: HTTPResponse
        do { response = try answer(request) } catch { response = failure(AIError.wrapping(error), request) }
        response.headers.merge(PageFrame.headers)
        return response
    }

    private func answer(_ request: HTTPRequest) throws -> HTTPResponse {
        guard PageSession.isOwnOrigin(request) || isNavigation(request) else {
            return refusal(403, "a page of another origin may not use this one", request)
        }
        let parts: [String]
        let query: HTTPQuery
        do throws(HTTPFault) { (parts, query) = (try request.pathParts(), try request.query()) } catch {
            return refusal(error.status, error.reason, request)
        }
        let rest = Array(parts.dropFirst())
        if rest.first == "assets", let asset = PageAssets.response(Array(rest.dropFirst())) { return asset }
        if rest == ["login"] { return login(request) }
        guard session.isOpen(request) || !session.needsLogin else { return loginForm(status: 401) }
        guard parts == [""] || claims(parts) else { return elsewhere(request) }
        switch request.method {
        case "GET", "HEAD":
            if rest == ["session"] { return tokenAnswer(request) }
            let asked = PageRequest(parts: rest, query: query, address: request.origin, body: nil)
            return try withSession(request, Blocking.wait { try await view(asked) })
        case "POST":
            guard session.mayChange(request) else {
                return refusal(403, "this session is over; load the page again", request)
            }
            if rest == ["chat", "turn"], let talk = place.talk {
                return talk.api.converse(request) { [place] asked, send in
                    try await ChatTurn(place, talk, asked, send).run()
                }
            }
            guard let body = try? JSON.parse(request.body) else {
                return refusal(400, "the body is not JSON", request)
            }
            let asked = PageRequest(parts: rest, query: query, address: request.origin, body: body)
            return try Blocking.wait { .json(try await change(asked)) }
        default: return HubFault.method(allowed: "GET, HEAD, POST").response
        }
    }

    /// A link on another site may lead here; what it leads to is only shown.
    private func isNavigation(_ request: HTTPRequest) -> Bool {
        request.method == "GET" && request.headers["Origin"] == nil
            && request.headers["Sec-Fetch-Mode"] == "navigate" && request.headers["Sec-Fetch-Dest"] == "document"
    }

    /// The page here of what a page of the Hub shows: `/org/name`, `/datasets/org/name/tree/main`.
    private func elsewhere(_ request: HTTPRequest) -> HTTPResponse {
        let address = place.endpoint.address + request.rawPath
        guard let reference = try? ModelReference(parsing: address, endpoint: place.endpoint) else {
            return refusal(404, "there is nothing at \(request.rawPath.printable)", request)
        }
        return HTTPResponse(303, headers: ["Location": PageAddress.repository(reference)])
    }

    // MARK: Sessions

    private func withSession(_ request: HTTPRequest, _ response: HTTPResponse) -> HTTPResponse {
        var response = response
        if !session.isOpen(request), let cookie = session.open(request) { response.headers["Set-Cookie"] = cookie }
        return response
    }

    private func tokenAnswer(_ request: HTTPRequest) -> HTTPResponse {
        guard let token = session.token(for: request) else {
            // The browser asks again with the cookie.
            return withSession(request, .json(.object(["token": .null])))
        }
        return .json(.object(["token": .string(token)]), headers: ["Cache-Control": "no-store"])
    }

    private func login(_ request: HTTPRequest) -> HTTPResponse {
        guard request.method == "POST" else { return loginForm(status: 200) }
        let form = try? HTTPQuery(String(decoding: request.body, as: UTF8.self))
        guard PageSession.isOwnOrigin(request), let cookie = session.open(request, showing: form?["token"]) else {
            return loginForm(status: 401, isWrong: true)
        }
        return HTTPResponse(303, headers: ["Location": "/", "Set-Cookie": cookie])
    }

    private func loginForm(status: Int, isWrong: Bool = false) -> HTTPResponse {
        frame.response(
            PageView(
                title: "Sign in", hasPlaces: false,
                content: [
                    .tag(
                        "form", ["class": "card login", "method": "post", "action": "/-/login"],
                        [
                            .tag("h1", [:], "Sign in"),
                            .tag(
                                "p", [:],
                                "This server is for people who have its token (HUB_SERVE_TOKEN). Who runs it has it."
                            ),
                            isWrong ? .tag("p", ["class": "bad", "role": "alert"], "That is not its token.") : [],
                            .tag("label", ["for": "token"], "Token"),
                            .tag(
                                "input",
                                [
                                    "id": "token", "name": "token", "type": "password", "required": "",
                                    "autocomplete": "current-password", "autofocus": "",
                                ]),
                            .tag("button", ["class": "primary"], "Sign in"),
                        ])
                ]), status: status)
    }

    // MARK: Failures

    private func failure(_ error: AIError, _ request: HTTPRequest) -> HTTPResponse {
        let status =
            switch error.code {
            case .repositoryNotFound, .revisionNotFound, .fileNotFound, .nothingMatches, .notCached: 404
            case .invalidInput: 400
            case .unauthorized, .gated, .forbidden: 403
            case .unreachable, .timedOut, .connectionLost, .serverError, .serviceUnavailable: 502
            case .offline: 503
            default: 500
            }
        return refusal(status, error.message, advice: error.recoverySuggestion, request)
    }

    private func refusal(_ status: Int, _ text: String, advice: String? = nil, _ request: HTTPRequest)
        -> HTTPResponse
    {
        let (text, advice) = (Secrets.masked(in: text).asSentence, advice.map { Secrets.masked(in: $0).asSentence })
        guard request.method == "GET", request.isForReading else {
            return .json(
                .object(["error": .object(["message": .string(text), "advice": advice.map { .string($0) }])]),
                status: status)
        }
        let title = status == 404 ? "Not found" : "That did not work"
        // What a wrong address names may be found under another name.
        let parts = status == 404 ? (try? request.pathParts()) ?? [] : []
        let name = parts.last ?? ""
        let view = PageView(
            title: title,
            content: [
                .box(
                    "section", "card",
                    [
                        .tag("h1", [:], title), .tag("p", [:], text),
                        advice.map { .tag("p", ["class": "faint"], $0) } ?? [],
                        .box(
                            "p", "row",
                            [
                                name.isEmpty
                                    ? []
                                    : .link(
                                        "/?q=\(PercentEncoding.encode(name))", "Search for \(name)",
                                        className: "button"),
                                parts.count == 1 && !name.isEmpty
                                    ? .link(
                                        "/?q=author:\(PercentEncoding.encode(name))", "Models by \(name)",
                                        className: "button") : [],
                                .link("/", "All models", className: "button"),
                            ]),
                    ])
            ])
        return frame.response(view, status: status)
    }
}

extension PageRoom {
    /// What is read.
    private func view(_ request: PageRequest) async throws -> HTTPResponse {
        let parts = request.parts
        switch parts.first {
        case nil: return try await models(request)
        case "models"?, "datasets"?, "spaces"?:
            return frame.response(try await ModelPage(place: place, request: request).view())
        case "storage"? where parts.count == 1:
            return frame.response(try await StoragePage(place: place, request: request).view())
        case "downloads"? where parts.count == 1:
            return frame.response(try await DownloadsPage(place: place).view())
        case "downloads"? where parts == ["downloads", "state"]: return .json(place.downloads.json)
        case "chat"? where parts.count == 1 && place.hasAPI:
            return frame.response(try await ChatPage(place: place, request: request).view())
        case "chat"? where parts == ["chat", "list"]: return .json(try await ChatPage.list(place, request))
        case "chat"? where parts.count == 3 && parts[1] == "one":
            return .json(try await ChatPage.one(place, parts[2]))
        case "pictures"? where parts.count == 1 && place.hasAPI:
            return frame.response(PicturesPage(place: place, request: request).view())
        case "machine"? where parts.count == 1:
            return frame.response(try await MachinePage(place: place, request: request).view())
        case "machine"? where parts == ["machine", "state"]: return .json(MachinePage.state(place))
        default: throw AIError(.fileNotFound, "there is no such page")
        }
    }

    /// The list, or for an address of the Hub the model that it names.
    private func models(_ request: PageRequest) async throws -> HTTPResponse {
        let page = ModelsPage(place: place, request: request)
        if let model = page.pastedModel {
            return HTTPResponse(303, headers: ["Location": PageAddress.repository(model)])
        }
        return frame.response(try await page.view())
    }

    /// What changes something; its answer is JSON.
    private func change(_ request: PageRequest) async throws -> JSON {
        let parts = request.parts
        switch parts.first {
        case "storage"? where parts.count == 2: return try await StorageChange(place: place).run(parts[1], request)
        case "chat"? where parts.count == 2: return try await ChatPage.change(parts[1], place, request)
        case "downloads"? where parts.count == 1: return try await place.downloads.start(request, place)
        case "downloads"? where parts.count == 3:
            return try await place.downloads.change(parts[1], verb: parts[2], place)
        default: throw AIError(.fileNotFound, "there is no such page")
        }
    }
}
