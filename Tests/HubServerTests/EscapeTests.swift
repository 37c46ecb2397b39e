import HubCore
import HubServer
import Support
import Testing

/// Attacks that try to read what is not in a repository.
@Suite struct EscapeTests {
    /// `outside/secret.txt` is beside the served folder.
    private func hub() throws -> (hub: ServedFolderHub, outside: TemporaryFolder) {
        let outside = try TemporaryFolder("outside")
        try outside.write("secret.txt", "SECRET")
        try outside.write("repo/config.json", "SECRET")
        let folder = try TemporaryFolder()
        try ModelRepository.tiny("org/tiny", in: folder, weights: 100)
        return (try ServedFolderHub(folder), outside)
    }

    @Test(arguments: [
        "..", "../x", "%2e%2e/x", "%2e%2e%2fx", "..%2fx", "%2E%2E%2Fx", "sub/../config.json",
        "sub/%2e%2e/config.json",
        "./config.json", "%2e/config.json", "config.json%00", "%00", "sub%2f..%2fconfig.json", "a%0ab", "a%7f",
        "%zz",
        "%", "%4", "%ff", "%c0%ae%c0%ae/x", "sub//dir/vocab.txt", "/etc/passwd",
        "%2E%2E%2F%CC%81x",
    ])
    func malformedPaths(_ path: String) throws {
        let hub = try hub().hub
        for target in ["/org/tiny/resolve/main/\(path)", "/api/models/org/tiny/tree/main/\(path)"] {
            #expect(try hub.get(target).status == 400, "\(target)")
        }
    }

    /// Well formed, but no such file: only the file list is used, never the file system.
    @Test(arguments: [
        "%2Fetc%2Fpasswd", "..%5C..%5Cx", "sub%2F%2Fdir%2Fvocab.txt", "C:%5Cx", "....//", "...",
        "sub/dir/vocab.txt%20",
    ])
    func absentPaths(_ path: String) throws {
        let status = try hub().hub.get("/org/tiny/resolve/main/\(path)").status
        #expect(status == 404 || status == 400)
        #expect(status != 200)
    }

    @Test(arguments: [
        "/%2e%2e/tiny/resolve/main/config.json", "/org/%2e%2e/resolve/main/x", "/../../etc/passwd",
        "/api/models/%2e%2e/outside", "/org%2Ftiny/resolve/main/config.json", "//org/tiny/resolve/main/config.json",
        "/org/tiny/resolve/..%2f..%2fx/config.json", "/api/models/org/tiny/revision/..%2f..",
        "/datasets/..%2f../resolve/main/x", "/-org/tiny/resolve/main/config.json", "org/tiny", "", "*",
        "http://127.0.0.1/org/tiny/resolve/main/config.json",
    ])
    func badNames(_ target: String) throws {
        let status = try hub().hub.get(target).status
        #expect((400..<500).contains(status), "\(target)")
    }

    @Test func linksOutOfTheFolderAreNoFiles() throws {
        let (hub, outside) = try hub()
        let links = [
            "absolute.txt": outside("secret.txt"),
            "relative.txt": "../../../\(Path.name(outside.path))/secret.txt",
            "folder": outside.path, "passwd": "/etc/passwd", "device": "/dev/zero", "broken": "nowhere",
            "loop": "loop",
        ]
        for (name, target) in links { try FileSystem.createSymlink(target, at: hub.folder("org/tiny/\(name)")) }
        let names = try hub.get("/api/models/org/tiny/tree/main?recursive=true").json().paths
        #expect(names == ["config.json", "empty.txt", "model.safetensors", "sub", "sub/dir", "sub/dir/vocab.txt"])
        for name in links.keys.map({ $0 == "folder" ? "folder/secret.txt" : $0 }) {
            let reply = try hub.get("/org/tiny/resolve/main/\(name)")
            #expect(reply.status == 404, "\(name)")
            #expect(!reply.text.contains("SECRET"))
        }
    }

    /// The way a cache lays out its snapshots: links to blobs elsewhere in the same folder.
    @Test func linksInsideTheFolderAreFiles() throws {
        let hub = try hub().hub
        try hub.folder.write("blobs/abc", "shared")
        try FileSystem.createSymlink("../../blobs/abc", at: hub.folder("org/tiny/link.txt"))
        try FileSystem.createSymlink(hub.folder("blobs/abc"), at: hub.folder("org/tiny/absolute.txt"))
        #expect(try hub.get("/org/tiny/resolve/main/link.txt").text == "shared")
        #expect(try hub.get("/org/tiny/resolve/main/absolute.txt").text == "shared")
    }

    @Test func repositoriesThatAreLinksOutsideAreNone() throws {
        let (hub, outside) = try hub()
        try FileSystem.createSymlink(outside("repo"), at: hub.folder("org/linked"))
        try FileSystem.createSymlink(outside.path, at: hub.folder("evil"))
        try FileSystem.createSymlink(outside("repo"), at: hub.folder("org/tiny@dev"))
        #expect(try hub.get("/org/linked/resolve/main/config.json", .good).status == 404)
        #expect(try hub.get("/evil/repo/resolve/main/config.json", .good).status == 404)
        #expect(try hub.get("/org/tiny/resolve/dev/config.json").headers["X-Error-Code"] == "RevisionNotFound")
        #expect(try hub.get("/api/models").json().ids == ["org/tiny"])
    }

    /// A link that is put in the place of a file between the list and the opening.
    @Test func aLinkPutInPlaceOfAFileIsNotFollowed() throws {
        let (hub, outside) = try hub()
        let source = try FolderSource(hub.folder.path) { Issue.record($0) }
        let served = try #require(try source.repository(Repository(.model, try RepositoryID("org/tiny"))))
        let file = try #require(try served.revision("main")?.file("config.json"))
        try FileSystem.remove(hub.folder("org/tiny/config.json"))
        try FileSystem.createSymlink(outside("secret.txt"), at: hub.folder("org/tiny/config.json"))
        #expect(try file.open() == nil)
    }

    @Test func whatIsHiddenIsNotServed() throws {
        let hub = try hub().hub
        try hub.folder.write("org/tiny/.git/config", "SECRET")
        try hub.folder.write("org/tiny/.cache/huggingface/x.metadata", "SECRET")
        try hub.folder.write("org/tiny/.gitattributes", "kept")
        for path in [".git/config", ".cache/huggingface/x.metadata", ".hub.json"] {
            #expect(try hub.get("/org/tiny/resolve/main/\(path)").status == 404)
        }
        #expect(try hub.get("/org/tiny/resolve/main/.gitattributes").text == "kept")
    }
}
