import HubServer
import Testing

/// Who may change something through the page: the cookie, its token, and the origin.
@Suite struct PageSessionTests {
    private func request(_ headers: HTTPHeaders) -> HTTPRequest {
        var all: HTTPHeaders = ["Host": "127.0.0.1:8080"]
        all.merge(headers)
        return HTTPRequest("POST", "/-/x", headers: all)
    }

    /// The cookie of a new session as a browser sends it back, and its token.
    private func opened(_ session: PageSession) throws -> (cookie: String, token: String) {
        let set = try #require(session.open(request([:])))
        #expect(set.contains("; HttpOnly; SameSite=Strict") && !set.contains("Secure"))
        let cookie = String(set.prefix { $0 != ";" })
        #expect(cookie.hasPrefix("hub_session_8080="))
        return (cookie, try #require(session.token(for: request(["Cookie": "a=b; \(cookie)"]))))
    }

    @Test func aChangeNeedsAllThree() throws {
        let session = PageSession(tokens: nil)
        let (cookie, token) = try opened(session)
        let good: HTTPHeaders = [
            "Cookie": cookie, PageSession.header: token, "Origin": "http://127.0.0.1:8080",
        ]
        #expect(session.mayChange(request(good)))
        let wrong: [(String, String?)] = [
            ("Cookie", nil), ("Cookie", cookie + "0"), ("Cookie", "hub_session_8080=x.y"),
            (PageSession.header, nil), (PageSession.header, String(token.reversed())),
            ("Origin", "http://127.0.0.1:9090"), ("Origin", "null"), ("Origin", "http://evil.test"),
            ("Host", "127.0.0.1:9090"),
        ]
        for (name, value) in wrong {
            var headers = good
            headers[name] = value
            #expect(!session.mayChange(request(headers)), "\(name): \(value ?? "nothing")")
        }
    }

    @Test func aTokenOpensNoOtherSession() throws {
        let session = PageSession(tokens: nil)
        let (one, other) = (try opened(session), try opened(session))
        #expect(!session.mayChange(request(["Cookie": one.cookie, PageSession.header: other.token])))
        #expect(!PageSession(tokens: nil).isOpen(request(["Cookie": one.cookie])))
    }

    @Test func whereATokenIsNeededNothingElseOpens() throws {
        let session = PageSession(tokens: TokenList("sesame"))
        #expect(session.needsLogin)
        #expect(session.open(request([:])) == nil)
        #expect(session.open(request([:]), showing: "other") == nil)
        var secure = request([:])
        secure.scheme = "https"
        let set = try #require(session.open(secure, showing: "sesame"))
        #expect(set.hasSuffix("; Secure"))
        #expect(session.isOpen(request(["Cookie": String(set.prefix { $0 != ";" })])))
    }

    @Test func anotherSiteWithoutOriginIsKnownByWhatTheBrowserSays() {
        #expect(PageSession.isOwnOrigin(request([:])))
        #expect(PageSession.isOwnOrigin(request(["Sec-Fetch-Site": "same-origin"])))
        #expect(!PageSession.isOwnOrigin(request(["Sec-Fetch-Site": "cross-site"])))
        #expect(!PageSession.isOwnOrigin(request(["Sec-Fetch-Site": "same-site"])))
    }
}
