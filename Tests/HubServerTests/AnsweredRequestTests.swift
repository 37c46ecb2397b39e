import HubCore
@testable import HubServer
import Testing

@Suite struct AnsweredRequestTests {
    /// The server's own token, and whatever else looks like one.
    @Test func noLineHoldsAToken() throws {
        let own = try #require(AccessToken("my-own-token-of-serve"))
        let other = "hf_abcdefghijklmnopqrstuvwxyz12345678"
        let request = AnsweredRequest(
            client: "127.0.0.1", method: "GET", target: "/api/models?a=my-own-token-of-serve&b=\(other)",
            status: 200, length: 5)
        let line = request.line(at: 0, hiding: own)
        #expect(line == "1970-01-01T00:00:00Z 127.0.0.1 GET /api/models?a=(token)&b=(token) 200 5")
        #expect(!request.line(at: 0, hiding: nil).contains(other))
    }
}
