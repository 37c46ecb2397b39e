import HubCore
import HubServer
import Support
import Testing

@testable import Fetcher

/// The part of the browser's sign-in that is not the browser; the real program's is in HubCLITests.
@Suite struct BrowserSignInTests {
    /// https://www.rfc-editor.org/rfc/rfc7636#appendix-A
    @Test func theAlphabetIsThatOfAddresses() {
        let bytes: [UInt8] = [3, 236, 255, 224, 193]
        #expect(BrowserSignIn.base64URL(bytes) == "A-z_4ME")
    }

    private func query(of address: String) throws -> HTTPQuery {
        try HTTPQuery(String(address.drop { $0 != "?" }.dropFirst()))
    }

    @Test func theAddressHasNoSecretAndIsNeverTheSame() throws {
        let bench = try SignInBench()
        let signIns = try (0..<2).map { _ in BrowserSignIn(try bench.client(), port: 4711) }
        let queries = try signIns.map { try query(of: $0.address) }
        #expect(signIns[0].address.hasPrefix("\(bench.server.endpoint)/oauth/authorize?"))
        #expect(
            queries[0].items.map(\.key) == [
                "client_id", "response_type", "redirect_uri", "scope", "state", "code_challenge",
                "code_challenge_method",
            ])
        #expect(queries[0]["redirect_uri"] == "http://127.0.0.1:4711/callback")
        #expect(queries[0]["code_challenge_method"] == "S256" && queries[0]["code_challenge"]?.count == 43)
        #expect(queries[0]["state"]?.count == 43 && queries[0]["state"] != queries[1]["state"])
        #expect(queries[0]["code_challenge"] != queries[1]["code_challenge"])
    }

    /// Trap 24.
    @Test func onlyTheAnswerWithTheStateCounts() throws {
        let signIn = BrowserSignIn(try SignInBench().client(), port: 4711)
        let state = try #require(try query(of: signIn.address)["state"])
        func answer(_ items: (String, String)...) -> BrowserSignIn.Answer {
            signIn.answer(items.map { (key: $0.0, value: $0.1) })
        }
        #expect(answer(("code", "c"), ("state", state)) == .code("c"))
        #expect(answer(("code", "c")) == .foreign)
        #expect(answer(("code", "c"), ("state", state + "x")) == .foreign)
        #expect(answer(("code", "c"), ("state", "")) == .foreign)
        #expect(answer(("code", "c"), ("state", state), ("state", state)) == .foreign)
        #expect(answer(("code", "c"), ("code", "d"), ("state", state)) == .foreign)
        #expect(answer(("state", state)) == .foreign)
        #expect(answer(("error", "access_denied"), ("state", "wrong")) == .foreign)
        #expect(
            answer(("error", "access_denied"), ("error_description", "no\u{1B}"), ("state", state))
                == .refused("access_denied", "no\u{1B}".printable))
        #expect(signIn.error("access_denied", nil).exitStatus == 4)
        #expect(signIn.error("invalid_scope", "too much").message.hasSuffix("invalid_scope: too much"))
    }

    @Test func aCodeIsRedeemedWithItsVerifier() async throws {
        let bench = try SignInBench()
        let signIn = BrowserSignIn(try bench.client(), port: 4711)
        let reply = try await Support.HTTPClient.get(signIn.address)
        let back = try query(of: try #require(reply.headers["Location"]))
        guard case .code(let code) = signIn.answer(back.items) else {
            Issue.record("\(back.items)")
            return
        }
        // Another sign-in has another verifier.
        let other = BrowserSignIn(try bench.client(), port: 4711)
        let error = await AIError.of { _ = try await other.redeem(code) }
        #expect(error?.exitStatus == 4 && error?.message.contains("does not accept the code") == true)
        let again = try await Support.HTTPClient.get(signIn.address)
        guard case .code(let second) = signIn.answer(try query(of: again.headers["Location"] ?? "").items) else {
            Issue.record("no second code")
            return
        }
        #expect(try await signIn.redeem(second).refreshToken != nil)
        #expect(bench.server.log.allSatisfy { $0.path != "/oauth/token" || $0.query.isEmpty })
    }
}
