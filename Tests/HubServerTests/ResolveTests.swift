import HubCore
import HubServer
import Support
import Testing

/// `/{id}/resolve/{revision}/{path}` as `hub serve` answers it.
@Suite struct ResolveTests {
    private func hub() throws -> ServedFolderHub {
        let folder = try TemporaryFolder()
        let repository = try ModelRepository.tiny("org/tiny", in: folder)
        try repository.write("a b/ç#%.txt", "odd name")
        return try ServedFolderHub(folder)
    }
    private let weights = ModelRepository.randomBytes(300_000, seed: 1)

    @Test func regularFile() throws {
        let hub = try hub()
        let reply = try hub.get("/org/tiny/resolve/main/config.json")
        #expect(reply.status == 200)
        #expect(reply.text == "{\"model_type\":\"tiny\"}\n")
        #expect(reply.headers["ETag"] == "\"9ad7b74e4cba7355811a595a2e179963435b6384\"")
        #expect(reply.headers["Accept-Ranges"] == "bytes")
        #expect(reply.headers["X-Repo-Commit"] == (try hub.get("/api/models/org/tiny").json()["sha"]?.string))
        #expect(reply.headers["X-Linked-Etag"] == nil)
    }

    @Test func fileInLFS() throws {
        let reply = try hub().get("/org/tiny/resolve/main/model.safetensors")
        let sha256 = ContentHasher.digest(of: weights, like: .sha256("")).hex
        #expect(reply.status == 200)
        #expect(reply.body == weights)
        #expect(reply.headers["ETag"] == "\"\(sha256)\"")
        #expect(reply.headers["X-Linked-Etag"] == "\"\(sha256)\"")
        #expect(reply.headers["X-Linked-Size"] == "300000")
        #expect(reply.headers["X-Repo-Commit"]?.count == 40)
    }

    @Test func ranges() throws {
        let hub = try hub()
        func ask(_ range: String) throws -> HTTPReply {
            try hub.get("/org/tiny/resolve/main/model.safetensors", headers: ["Range": range])
        }
        let middle = try ask("bytes=1000-1999")
        #expect(middle.status == 206)
        #expect(middle.headers["Content-Range"] == "bytes 1000-1999/300000")
        #expect(middle.body == Array(weights[1000..<2000]))
        let tail = try ask("bytes=-10")
        #expect(tail.headers["Content-Range"] == "bytes 299990-299999/300000")
        #expect(tail.body == Array(weights.suffix(10)))
        let beyond = try ask("bytes=299999-400000")
        #expect(beyond.headers["Content-Range"] == "bytes 299999-299999/300000")
        let none = try ask("bytes=300000-")
        #expect(none.status == 416)
        #expect(none.headers["Content-Range"] == "bytes */300000")
        #expect(none.body.isEmpty)
        #expect(try ask("bytes=x").status == 200)
        let empty = try hub.get("/org/tiny/resolve/main/empty.txt", headers: ["Range": "bytes=0-"])
        #expect(empty.status == 416)
        #expect(empty.headers["Content-Range"] == "bytes */0")
    }

    /// RFC 9110, 13.1.5: a range of other content than the client has begun would be garbage.
    @Test func ifRange() throws {
        let hub = try hub()
        let etag = try #require(try hub.get("/org/tiny/resolve/main/model.safetensors").headers["ETag"])
        func ask(_ tag: String) throws -> Int {
            try hub.get(
                "/org/tiny/resolve/main/model.safetensors", headers: ["Range": "bytes=5-9", "If-Range": tag]
            ).status
        }
        #expect(try ask(etag) == 206)
        #expect(try ask("\"other\"") == 200)
    }

    @Test(arguments: ["a%20b/%C3%A7%23%25.txt", "a%20b%2F%C3%A7%23%25.txt", "a%20b/%c3%a7%23%25.txt"])
    func namesAreDecoded(_ path: String) throws {
        #expect(try hub().get("/org/tiny/resolve/main/\(path)").text == "odd name")
    }

    /// NFC and NFD are two names, as they are to git.
    @Test func unicodeSpellingsAreDifferentNames() throws {
        #expect(try hub().get("/org/tiny/resolve/main/a%20b/c%CC%A7%23%25.txt").status == 404)
    }

    @Test func theQueryDoesNotMatter() throws {
        #expect(try hub().get("/org/tiny/resolve/main/config.json?download=true").status == 200)
    }

    @Test func resolveCacheIsTheSameByCommit() throws {
        let hub = try hub()
        let sha = try #require(try hub.get("/api/models/org/tiny").json()["sha"]?.string)
        let reply = try hub.get("/api/resolve-cache/models/org/tiny/\(sha)/sub%2Fdir%2Fvocab.txt?etag=x")
        #expect(reply.text == "a\nb\n")
    }

    /// A file that was rewritten after it was listed must not go out under the old digest.
    @Test func aFileIsCheckedAgainWhenItIsOpened() throws {
        let hub = try hub()
        let source = try FolderSource(hub.folder.path) { Issue.record($0) }
        let served = try #require(try source.repository(Repository(.model, try RepositoryID("org/tiny"))))
        let file = try #require(try served.revision("main")?.file("config.json"))
        #expect(try file.open() != nil)
        try hub.folder.write("org/tiny/config.json", "{\"model_type\":\"TINY\"}\n")
        #expect(try file.open() == nil)
        try FileSystem.remove(hub.folder("org/tiny/config.json"))
        #expect(try file.open() == nil)
    }
}
