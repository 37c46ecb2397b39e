@testable import Fetcher
import HubCore
import Testing

/// Addresses are written as the Hub reads them, and read as they are meant.
@Suite struct AddressTests {
    /// Trap 2: a revision is one segment, whatever slashes it has.
    @Test(arguments: [
        (
            "org/m", RepositoryKind.model, "refs/pr/1", "a b/ç#.txt",
            "/org/m/resolve/refs%2Fpr%2F1/a%20b/%C3%A7%23.txt"
        ),
        ("org/d", .dataset, "main", "x", "/datasets/org/d/resolve/main/x"),
        ("gpt2", .model, "main", "config.json", "/gpt2/resolve/main/config.json"),
        ("org/m", .model, "main", "a?b%2F&c=+.txt", "/org/m/resolve/main/a%3Fb%252F%26c%3D%2B.txt"),
    ])
    func aFileAddressKeepsSlashesOfThePathAlone(
        name: String, kind: RepositoryKind, revision: String, path: String, expected: String
    ) throws {
        let hub = try TestClient("https://hub.example")
        let repository = Repository(kind, try RepositoryID(name))
        #expect(
            hub.client.fileAddress(repository, revision: revision, path: path) == "https://hub.example" + expected)
    }

    @Test func aTreeIsAskedForRecursivelyAndTheRevisionIsOneSegment() async throws {
        let server = try ScriptedServer { asked in
            asked.target.contains("/tree/")
                ? .json("[]") : .status(404, headers: [("X-Error-Code", "RevisionNotFound")])
        }
        let hub = try TestClient(server.address)
        _ = try await hub.client.tree(.model("org/m"), at: .of("a"))
        _ = await hub.error { try await $0.info(.model("org/m"), revision: "refs/pr/1") }
        #expect(
            server.requests.map(\.target) == [
                "/api/models/org/m/tree/\(Commit.of("a"))?recursive=true&expand=false",
                "/api/models/org/m/revision/refs%2Fpr%2F1",
            ])
    }

    @Test(arguments: [
        ("https://a.example/x?Signature=s3cret#f", "https://a.example/x"),
        ("https://user:pa55@a.example/x", "https://a.example/x"),
        ("https://user:p@55@a.example:8443/x@y?z", "https://a.example:8443/x@y"),
        ("/relative?token=1", "/relative"),
    ])
    func anAddressIsShownWithoutWhatCouldBeACredential(address: String, shown: String) {
        #expect(SafeAddress.shown(address) == shown)
    }

    @Test(arguments: [
        ("https://a.example/v1/x%2Fy?z", "/v1/x%2Fy"), ("/v1/x", "/v1/x"), ("//a.example/x", nil), ("x", nil),
        ("/v1/%2e%2e/x", nil), ("/v1/..%2Fx", nil), ("/v1/%2E%2E%2F%CC%81x", nil),
    ])
    func aPathDoesNotClimb(address: String, path: String?) { #expect(SafeAddress.path(address) == path) }

    @Test(arguments: [
        ("https://hub.example/a/b", "/c?d=1", "https://hub.example/c?d=1"),
        ("https://hub.example/a/b", "c", "https://hub.example/a/c"),
        ("https://hub.example/a/b", "//cdn.example/x", "https://cdn.example/x"),
        ("https://hub.example/a/b", "https://cdn.example/x", "https://cdn.example/x"),
        ("http://hub.example/a", "https://hub.example/a", "https://hub.example/a"),
        ("https://hub.example/a/b", "?page=2", "https://hub.example/a/b?page=2"),
    ])
    func aRedirectIsResolvedAgainstWhatAnswered(base: String, location: String, target: String) throws {
        #expect(try head(base, location).redirectTarget() == target)
    }

    @Test(arguments: [
        ("https://hub.example/a", "http://hub.example/a"), ("https://hub.example/a", "file:///etc/passwd"),
        ("http://127.0.0.1:1/a", "file:///etc/passwd"), ("https://hub.example/a", "ftp://hub.example/a"),
        ("https://hub.example/a", "gopher://hub.example/a"), ("https://hub.example/a", "javascript:alert(1)"),
        ("https://hub.example/a", "data:text/plain,x"), ("https://hub.example/a", "https://"),
        ("https://hub.example/a", "HTTP://hub.example/a"),
    ])
    func aRedirectElsewhereThanToSafeHTTPIsRefused(base: String, location: String) {
        #expect(throws: AIError.self) { try head(base, location).redirectTarget() }
        do { _ = try head(base, location).redirectTarget() } catch { #expect(error.code == .protocolViolation) }
    }

    @Test(arguments: [
        ("<https://h/x?cursor=a,b>; rel=\"next\"", "https://h/x?cursor=a,b"),
        ("<https://h/1>; rel=\"prev\", <https://h/2>; rel=\"next\"", "https://h/2"),
        ("<https://h/2>; rel=next", "https://h/2"), ("<https://h/2>; title=\"x\"; rel=\"next\"", "https://h/2"),
        ("<https://h/1>; rel=\"prev\"", nil), ("https://h/2; rel=\"next\"", nil), ("<https://h/2", nil), ("", nil),
    ])
    func theNextPageIsReadFromALinkHeader(header: String, target: String?) {
        #expect(HTTPFields([("LINK", header)]).link("next") == target)
    }

    private func head(_ address: String, _ location: String) -> HTTPHead {
        HTTPHead(status: 302, fields: HTTPFields([("location", location)]), address: address)
    }
}
