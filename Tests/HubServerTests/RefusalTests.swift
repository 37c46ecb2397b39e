import HubCore
import HubServer
import Support
import Testing

/// Every refusal in the Hub's own words: status, `X-Error-Code`, `X-Error-Message`, JSON body.
@Suite struct RefusalTests {
    private func hub() throws -> ServedFolderHub {
        let folder = try TemporaryFolder()
        try ModelRepository.tiny("org/tiny", in: folder, weights: 100)
        for (id, card) in [("org/gated", ["gated": "manual"]), ("org/private", ["private": true])]
            as [(String, JSONObject)]
        {
            let repository = try ModelRepository(id, in: folder)
            try repository.write("config.json", "{}")
            try repository.card(card)
        }
        return try ServedFolderHub(folder)
    }

    private func check(_ reply: HTTPReply, _ status: Int, _ code: String?) throws {
        #expect(reply.status == status)
        #expect(reply.headers["X-Error-Code"] == code)
        let message = try #require(reply.headers["X-Error-Message"])
        #expect(!message.isEmpty)
        #expect(try reply.json()["error"]?.string == message)
        #expect(reply.headers["Content-Type"] == "application/json; charset=utf-8")
    }

    /// Missing and private look the same, and 401 without a token so that a client thinks of logging in.
    @Test(arguments: [
        "/api/models/org/none", "/api/models/none", "/org/none/resolve/main/config.json",
        "/api/models/org/none/tree/main", "/api/models/org/none/refs", "/api/models/org/private",
        "/org/private/resolve/main/config.json", "/api/models/org/private/revision/main",
        "/none/resolve/main/x", "/datasets/org/tiny/resolve/main/config.json",
    ])
    func repositoryNotFound(_ target: String) throws {
        let hub = try hub()
        try check(try hub.get(target), 401, "RepoNotFound")
        try check(try hub.get(target, .bad), 404, "RepoNotFound")
        if !target.contains("private") { try check(try hub.get(target, .good), 404, "RepoNotFound") }
    }

    @Test func privateWithTheToken() throws {
        #expect(try hub().get("/org/private/resolve/main/config.json", .good).text == "{}")
    }

    /// What a gated repository is can be read by all, what is in it cannot.
    @Test func gated() throws {
        let hub = try hub()
        try check(try hub.get("/org/gated/resolve/main/config.json"), 401, "GatedRepo")
        try check(try hub.get("/org/gated/resolve/main/config.json", .bad), 403, "GatedRepo")
        try check(try hub.get("/org/gated/resolve/main/none.json"), 401, "GatedRepo")
        #expect(try hub.get("/org/gated/resolve/main/config.json", .good).status == 200)
        #expect(try hub.get("/api/models/org/gated").json()["gated"] == "manual")
        #expect(try hub.get("/api/models/org/gated/tree/main").json().paths == ["config.json"])
    }

    @Test(arguments: [
        "/org/tiny/resolve/none/config.json", "/api/models/org/tiny/revision/none",
        "/api/models/org/tiny/tree/none",
        "/org/tiny/resolve/0123456789012345678901234567890123456789/config.json",
        "/org/tiny/resolve/refs%2Fpr%2F9/config.json", "/org/tiny/resolve/refs/pr/9/config.json",
    ])
    func revisionNotFound(_ target: String) throws {
        try check(try hub().get(target), 404, "RevisionNotFound")
    }

    @Test(arguments: [
        "/org/tiny/resolve/main/none.txt", "/org/tiny/resolve/main/sub", "/api/models/org/tiny/tree/main/none",
    ])
    func entryNotFound(_ target: String) throws {
        let reply = try hub().get(target)
        try check(reply, 404, "EntryNotFound")
        #expect(reply.headers["X-Repo-Commit"]?.count == 40)
    }

    @Test(arguments: [
        "/", "/org", "/org/tiny", "/api", "/api/unknown", "/api/models/org/tiny/unknown", "/org/tiny/resolve/main",
    ])
    func pageNotFound(_ target: String) throws {
        try check(try hub().get(target), 404, nil)
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
    func methodNotAllowed(_ method: String) throws {
        let reply = try hub().ask(method, "/api/models/org/tiny")
        try check(reply, 405, nil)
        #expect(reply.headers["Allow"] == "GET, HEAD")
    }

    @Test func whoami() throws {
        let hub = try hub()
        try check(try hub.get("/api/whoami-v2"), 401, nil)
        let bad = try hub.get("/api/whoami-v2", .bad)
        try check(bad, 401, nil)
        #expect(bad.headers["X-Error-Message"] == "Invalid credentials in Authorization header")
        let good = try hub.get("/api/whoami-v2", .good).json()
        #expect(good["type"] == "user")
        #expect(good["auth"]?["accessToken"]?["role"] == "read")
        #expect(good["orgs"] == .array([]))
    }

    @Test func agentHarnessesAreEmpty() throws {
        #expect(
            try hub().get("/api/agent-harnesses").json()
                == .object([
                    "standardEnvVars": .array([]), "harnesses": .object([:]),
                ]))
    }

    /// What the client sent comes back in a header only as far as a header can hold it.
    @Test func messagesCannotForgeHeaders() throws {
        let reply = try hub().get("/org/tiny/resolve/no%C3%A9/config.json")
        #expect(reply.headers["X-Error-Message"] == "Invalid rev id: no??")
        #expect(try reply.json()["error"] == "Invalid rev id: noé")
        #expect(try hub().get("/org/tiny/resolve/a%0D%0AX-Evil:%201/config.json").status == 400)
    }
}
