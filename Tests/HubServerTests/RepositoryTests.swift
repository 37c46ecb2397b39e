import HubCore
import HubServer
import Support
import Testing

/// `/api/models/{id}`, its tree, refs and paths.
@Suite struct RepositoryTests {
    private func hub(treePage: Int = 1000) throws -> ServedFolderHub {
        let folder = try TemporaryFolder()
        try ModelRepository.tiny("org/tiny", in: folder)
        let branch = try ModelRepository("org/tiny", in: folder, revision: "feature/x")
        try branch.write("config.json", "{}\n")
        let request = try ModelRepository("org/tiny", in: folder, revision: "pr1")
        try request.write("config.json", "[]\n")
        try ModelRepository("gpt2", in: folder).write("config.json", "{}")
        try ModelRepository("refs/list", in: folder).write("a.txt", "a")
        var pages = HubService.PageSizes()
        pages.tree = treePage
        pages.expandedTree = 2
        return try ServedFolderHub(folder, pages: pages)
    }

    @Test func infoNamesCommitAndFiles() throws {
        let info = try hub().get("/api/models/org/tiny").json()
        #expect(info["id"] == "org/tiny")
        #expect(info["author"] == "org")
        #expect(info["private"] == false)
        #expect(info["gated"] == false)
        #expect(info["sha"]?.string.flatMap { Commit($0) } != nil)
        #expect(
            info["siblings"]?.array?.compactMap { $0["rfilename"]?.string } == [
                "config.json", "empty.txt", "model.safetensors", "sub/dir/vocab.txt",
            ])
        #expect(info["siblings"]?.array?.first?.keys == ["rfilename"])
        #expect(info["usedStorage"] == .int(300_026))
    }

    /// The digests are git's and sha256's own.
    @Test func blobsGiveDigests() throws {
        let siblings = try hub().get("/api/models/org/tiny?blobs=true").json()["siblings"]?.array ?? []
        #expect(
            siblings.first
                == .object([
                    "rfilename": "config.json", "size": 22, "blobId": "9ad7b74e4cba7355811a595a2e179963435b6384",
                ]))
        #expect(siblings[1]["blobId"] == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
        let weights = ModelRepository.randomBytes(300_000, seed: 1)
        let sha256 = ContentHasher.digest(of: weights, like: .sha256("")).hex
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:\(sha256)\nsize 300000\n"
        #expect(
            siblings[2]["lfs"]
                == .object([
                    "sha256": .string(sha256), "size": 300_000, "pointerSize": .int(Int64(pointer.utf8.count)),
                ]))
        #expect(
            siblings[2]["blobId"]?.string == ContentHasher.digest(of: Array(pointer.utf8), like: .gitSHA1("")).hex)
        #expect(siblings[3]["blobId"] == "422c2b7ab3b3c668038da977e4e93a5fc623169c")
    }

    @Test func expandNamesWhatComesBack() throws {
        #expect(
            try hub().get("/api/models/org/tiny?expand=sha&expand=downloads").json().keys == [
                "_id", "id", "sha", "downloads",
            ])
    }

    @Test func revisions() throws {
        let hub = try hub()
        func sha(_ revision: String) throws -> String? {
            try hub.get("/api/models/org/tiny/revision/\(revision)").json()["sha"]?.string
        }
        let main = try #require(try sha("main"))
        let pull = try #require(try sha("refs%2Fpr%2F1"))
        let branch = try #require(try sha("feature%2Fx"))
        #expect(Set([main, pull, branch]).count == 3)
        #expect(try sha("refs/pr/1") == pull)
        #expect(try sha("refs%2Fheads%2Fmain") == main)
        #expect(try sha("refs%2Fheads%2Ffeature%2Fx") == branch)
        #expect(try sha(main) == main)
        #expect(try sha(String(pull.prefix(7))) == pull)
        #expect(try hub.get("/api/models/org/tiny/revision/\(pull.prefix(6))").status == 404)
        #expect(try hub.get("/org/tiny/resolve/refs%2Fpr%2F1/config.json").text == "[]\n")
        #expect(try hub.get("/org/tiny/resolve/\(branch)/config.json").text == "{}\n")
    }

    @Test func refs() throws {
        let hub = try hub()
        let plain = try hub.get("/api/models/org/tiny/refs").json()
        #expect(plain.keys == ["branches", "converts", "tags"])
        #expect(plain["branches"]?.array?.map { $0["name"] } == ["main", "feature/x"])
        #expect(plain["branches"]?.array?.map { $0["ref"] } == ["refs/heads/main", "refs/heads/feature/x"])
        let main = try hub.get("/api/models/org/tiny").json()["sha"]
        #expect(plain["branches"]?.array?.first?["targetCommit"] == main)
        let all = try hub.get("/api/models/org/tiny/refs?include_prs=1").json()
        #expect(all["pullRequests"]?.array?.map { $0["ref"] } == ["refs/pr/1"])
    }

    @Test func treeListsOneLevelOrAll() throws {
        let hub = try hub()
        let top = try hub.get("/api/models/org/tiny/tree/main").json()
        #expect(top.paths == ["config.json", "empty.txt", "model.safetensors", "sub"])
        #expect(top.array?.last?["type"] == "directory")
        let all = try hub.get("/api/models/org/tiny/tree/main?recursive=true&expand=false").json()
        #expect(
            all.paths == ["config.json", "empty.txt", "model.safetensors", "sub", "sub/dir", "sub/dir/vocab.txt"])
        #expect(
            all.array?[0]
                == .object([
                    "type": "file", "oid": "9ad7b74e4cba7355811a595a2e179963435b6384", "size": 22,
                    "path": "config.json",
                ]))
        #expect(all.array?[2]["lfs"]?.keys == ["oid", "size", "pointerSize"])
        for path in ["sub", "sub/", "sub/dir", "sub%2Fdir"] {
            let below = try hub.get("/api/models/org/tiny/tree/main/\(path)?recursive=true").json()
            #expect(below.paths.last == "sub/dir/vocab.txt")
        }
        let file = try hub.get("/api/models/org/tiny/tree/main/config.json")
        #expect(file.status == 404)
        #expect(file.headers["X-Error-Code"] == "EntryNotFound")
    }

    /// The folders' hashes are those that git itself writes for these files (`git write-tree`, `git ls-tree -rt`).
    @Test func foldersHaveGitsHashes() throws {
        let folder = try TemporaryFolder()
        let repository = try ModelRepository("org/tree", in: folder)
        try repository.write("a/b", "hello\n")
        try repository.write("a-b/deep/x", "x\n")
        try repository.write("a.b", "dot\n")
        try repository.write("config.json", "{\"model_type\":\"tiny\"}\n")
        let source = try FolderSource(folder.path) { Issue.record($0) }
        let served = try #require(try source.repository(Repository(.model, try RepositoryID("org/tree"))))
        let revision = try #require(try served.revision("main"))
        #expect(
            Dictionary(uniqueKeysWithValues: revision.folders.map { ($0.path, $0.oid) }) == [
                "a-b": "a2afe3aac56c5d646b70aba82c4ae1e809baa491",
                "a-b/deep": "ab69b4abf3bb84d4e268bd42d84e4a9a5e242bd3",
                "a": "f09792be40f18f537c28b624b7bc7771f25082e1",
            ])
        let text = "tree 67ca07a62932d0cccbfe95104c8dc4aac07e360b\nrepository org/tree\n"
        let hasher = ContentHasher(gitSize: Int64(text.utf8.count), type: "commit")
        hasher.update(Array(text.utf8))
        #expect(revision.commit == hasher.finish().hex)
    }

    @Test func treePages() throws {
        let hub = try hub(treePage: 4)
        let first = try hub.get("/api/models/org/tiny/tree/refs%2Fheads%2Fmain?recursive=true&expand=false")
        #expect(try first.json().paths.count == 4)
        let second = try hub.get(try #require(first.nextTarget))
        #expect(try second.json().paths == ["sub/dir", "sub/dir/vocab.txt"])
        #expect(second.next == nil)
        let expanded = try hub.get("/api/models/org/tiny/tree/main?recursive=true&expand=true")
        #expect(try expanded.json().paths.count == 2)
        #expect(try expanded.json().array?[0]["lastCommit"]?["id"] != nil)
    }

    @Test func pathsInfo() throws {
        let hub = try hub()
        let form = try hub.ask(
            "POST", "/api/models/org/tiny/paths-info/main",
            headers: ["Content-Type": "application/x-www-form-urlencoded"],
            body: "paths=config.json&paths=nope&paths=sub%2Fdir&expand=false")
        #expect(try form.json().paths == ["config.json", "sub/dir"])
        let json = try hub.ask(
            "POST", "/api/models/org/tiny/paths-info/main", headers: ["Content-Type": "application/json"],
            body: "{\"paths\":[\"model.safetensors\"],\"expand\":true}")
        #expect(try json.json().array?.first?["lfs"] != nil)
        #expect(try json.json().array?.first?["lastCommit"] != nil)
        for bad in ["{", "[]", "{\"paths\":[1]}", "{}"] {
            let reply = try hub.ask(
                "POST", "/api/models/org/tiny/paths-info/main", headers: ["Content-Type": "application/json"],
                body: bad)
            #expect(reply.status == 400)
        }
        #expect(try hub.get("/api/models/org/tiny/paths-info/main").status == 405)
    }

    @Test func canonicalNames() throws {
        let hub = try hub()
        #expect(try hub.get("/api/models/gpt2").json()["id"] == "gpt2")
        #expect(try hub.get("/api/models/gpt2").json()["author"] == nil)
        #expect(try hub.get("/gpt2/resolve/main/config.json").text == "{}")
        #expect(try hub.get("/api/models/gpt2/tree/main").json().paths == ["config.json"])
        #expect(try hub.get("/api/models/gpt2/revision/main").json()["id"] == "gpt2")
        #expect(try hub.get("/api/models/gpt2/refs").json()["branches"]?.array?.count == 1)
        // The same form with two parts: an organisation that is called refs.
        #expect(try hub.get("/api/models/refs/list").json()["id"] == "refs/list")
        #expect(try hub.get("/api/models/refs/list/refs").json()["branches"]?.array?.count == 1)
    }

    @Test func changedFilesAreSeen() throws {
        let hub = try hub()
        let before = try hub.get("/api/models/org/tiny").json()["sha"]
        #expect(try hub.get("/api/models/org/tiny").json()["sha"] == before)
        try hub.folder.write("org/tiny/config.json", "{\"model_type\":\"TINY\"}\n")
        let after = try hub.get("/api/models/org/tiny").json()["sha"]
        #expect(after != before)
        let reply = try hub.get("/org/tiny/resolve/main/config.json")
        #expect(reply.text == "{\"model_type\":\"TINY\"}\n")
        #expect(reply.headers["ETag"] == "\"\(ContentHasher.digest(of: reply.body, like: .gitSHA1("")).hex)\"")
        // What the old commit named is gone, and is not answered with other bytes.
        let gone = try hub.get("/org/tiny/resolve/\(before?.string ?? "")/config.json")
        #expect(gone.status == 404)
        #expect(gone.headers["X-Error-Code"] == "RevisionNotFound")
        // The same content again is the same commit.
        try hub.folder.write("org/tiny/config.json", "{\"model_type\":\"tiny\"}\n")
        #expect(try hub.get("/api/models/org/tiny").json()["sha"] == before)
    }

    @Test func metadataComesFromTheCard() throws {
        let hub = try hub()
        try hub.folder.write(
            "org/tiny/README.md",
            """
            ---
            license: mit
            pipeline_tag: text-generation
            library_name: transformers
            tags:
            - tiny
            base_model: org/base
            ---
            # Tiny
            """)
        let fromReadme = try hub.get("/api/models/org/tiny").json()
        #expect(fromReadme["pipeline_tag"] == "text-generation")
        #expect(fromReadme["library_name"] == "transformers")
        #expect(fromReadme["cardData"]?["license"] == "mit")
        #expect(
            fromReadme["tags"]
                == .array([
                    "transformers", "safetensors", "tiny", "text-generation", "base_model:org/base", "license:mit",
                ]))
        try hub.folder.write(
            "org/tiny/.hub.json", "{\"pipeline_tag\":\"fill-mask\",\"id\":\"evil/name\",\"downloads\":5}")
        let fromSide = try hub.get("/api/models/org/tiny").json()
        #expect(fromSide["pipeline_tag"] == "fill-mask")
        #expect(fromSide["library_name"] == "transformers")
        #expect(fromSide["downloads"] == 5)
        #expect(fromSide["id"] == "org/tiny")
        // The side file is ours, not the repository's.
        #expect(try hub.get("/org/tiny/resolve/main/.hub.json").status == 404)
    }
}
