@testable import Fetcher
import HubCore
import Support
import Testing

/// Every refusal of the Hub becomes the error that says what to do.
@Suite struct HubFaultTests {
    private struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var answer: ScriptedServer.Answer
        var hasToken = false
        var code: ErrorCode
        var says: String
        var testDescription: String { name }
    }

    private static let rows: [Row] = [
        Row(
            name: "missing or private, no token",
            answer: .status(401, headers: [("X-Error-Code", "RepoNotFound")]), code: .repositoryNotFound,
            says: "without a token"),
        Row(
            name: "missing or private, with a token",
            answer: .status(404, headers: [("X-Error-Code", "RepoNotFound")]), hasToken: true,
            code: .repositoryNotFound, says: "the token in use has no access"),
        Row(name: "401 without a code", answer: .status(401), code: .repositoryNotFound, says: "set HF_TOKEN"),
        Row(name: "404 without a code", answer: .status(404), code: .repositoryNotFound, says: "spelling"),
        Row(
            name: "bad token",
            answer: .status(
                401, headers: [("X-Error-Message", "Invalid credentials in Authorization header")]),
            hasToken: true, code: .unauthorized, says: "check HF_TOKEN"),
        Row(
            name: "gated, no token", answer: .status(401, headers: [("X-Error-Code", "GatedRepo")]), code: .gated,
            says: "/org/m, and give hub a token: hub auth login"),
        Row(
            name: "gated, with a token", answer: .status(403, headers: [("X-Error-Code", "GatedRepo")]),
            hasToken: true, code: .gated, says: "ask for access at"),
        Row(
            name: "revision", answer: .status(404, headers: [("X-Error-Code", "RevisionNotFound")]),
            code: .revisionNotFound, says: "nightly"),
        Row(
            name: "entry",
            answer: .status(404, headers: [("X-Error-Code", "EntryNotFound"), ("X-Repo-Commit", "a")]),
            code: .fileNotFound, says: "no file"),
        Row(
            name: "disabled",
            answer: .status(403, headers: [("X-Error-Message", "Access to this resource is disabled.")]),
            code: .disabled, says: "disabled"),
        Row(
            name: "forbidden", answer: .status(403, #"{"error":"Your plan has no \u001b[31maccess"}"#),
            code: .unauthorized, says: #"Your plan has no \u{1B}[31maccess"#),
        Row(
            name: "forbidden without a token", answer: .status(403, "no"), code: .unauthorized,
            says: "give hub a token: hub auth login"),
        Row(
            name: "bad request", answer: .status(400, "no such key"), code: .protocolViolation, says: "no such key"),
        Row(
            name: "a page of a proxy", answer: .status(407, "<html>secret page</html>"), code: .unreachable,
            says: "a proxy on the way to http://127.0.0.1:"),
        Row(
            name: "a page of nobody", answer: .status(418, "<html>secret page</html>"), code: .protocolViolation,
            says: "answers 418"),
    ]

    /// Trap 23: 401 may mean missing, private or gated.
    @Test(arguments: rows)
    private func aRefusalIsToldApart(row: Row) async throws {
        let server = try ScriptedServer { _ in row.answer }
        let test = try TestClient(server.address, token: row.hasToken ? TestClient.secret : nil)
        let error = try #require(await test.error { try await $0.info(.model("org/m"), revision: "nightly") })
        #expect(error.code == row.code)
        let text = "\(error.message). \(error.recoverySuggestion ?? "")"
        #expect(text.contains(row.says), "\(text)")
        #expect(!text.contains("<html>"))
        #expect(error.context.status == row.answer.status)
        #expect(error.context.repository == "org/m")
        #expect(server.requests.count == 1, "what will not change is not asked twice")
    }

    @Test func aPrivateRepositoryLooksMissingWithoutItsToken() async throws {
        let folder = try TemporaryFolder()
        let hidden = try ModelRepository("org/hidden", in: folder)
        try hidden.write("config.json", "{}")
        try hidden.card(["private": true])
        let hub = try LoopbackHub(folder)
        func code(_ name: String, _ token: String?) async throws -> ErrorCode? {
            await (try TestClient(hub.endpoint, token: token)).error { try await $0.info(.model(name)) }?.code
        }
        #expect(try await code("org/hidden", nil) == .repositoryNotFound)
        #expect(try await code("org/missing", nil) == .repositoryNotFound)
        #expect(try await code("org/hidden", TestClient.secret) == .repositoryNotFound)
        #expect(try await code("org/missing", "hf_loopback") == .repositoryNotFound)
        #expect(try await code("org/hidden", "hf_loopback") == nil)
    }

    @Test(arguments: [
        (#"{"error":"one"}"#, "one"), (#"{"error":["one","two"]}"#, "one; two"),
        (#"{"error_description":"three"}"#, "three"),
        (#"{"errors":[{"message":"four"},{"message":"five"}]}"#, "four; five"),
        ("plain words", "plain words"),
    ])
    func theServersOwnWordsAreShown(body: String, words: String) async throws {
        let server = try ScriptedServer { _ in .status(403, body) }
        let test = try TestClient(server.address)
        let error = await test.error { try await $0.info(.model("org/m")) }
        #expect(error?.message.hasSuffix(": \(words)") == true)
    }

    // MARK: Limits of the rate

    /// Trap 24: they come with every response, and count only if nothing remains.
    @Test func rateLimitHeadersAreReadAsTheHubWritesThem() {
        let limit = RateLimit(
            HTTPFields([
                ("RateLimit", "\"resolvers\";r=0;t=123"),
                ("RateLimit-Policy", "\"fixed window\";\"resolvers\";q=3000;w=300"),
            ]))
        #expect(limit?.kind == "resolvers")
        #expect(limit?.remaining == 0)
        #expect(limit?.reset == 123)
        #expect(limit?.limit == 3000)
        #expect(limit?.window == 300)
        #expect(limit?.secondsToWait == 124)
    }

    @Test(
        arguments: [
            (["RateLimit": "\"api\";r=5;t=60"], nil), (["Retry-After": "7"], 8),
            (["RateLimit": "\"api\";r=5;t=60", "Retry-After": "7"], 8),
            (["RateLimit": "\"api\";r=0;t=60", "Retry-After": "7"], 61),
            (["Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"], nil), ([:], nil),
            (["Retry-After": "-100"], nil), (["RateLimit": "\"api\";r=0;t=-5"], nil),
            (["RateLimit": "\"api\";r=0;t=9223372036854775807"], Int.max),
            (["Retry-After": "9223372036854775807"], Int.max),
        ] as [([String: String], Int?)])
    func theWaitIsWhatTheServerSaysAndNothingItMakesUp(fields: [String: String], wait: Int?) {
        #expect(RateLimit(HTTPFields(fields.map { ($0.key, $0.value) }))?.secondsToWait == wait)
    }
}
