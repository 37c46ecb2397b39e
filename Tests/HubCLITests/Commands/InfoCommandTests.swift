import HubCore
import Support
import Testing

@Suite struct InfoCommandTests {
    let stage: Stage

    init() throws {
        stage = try Stage { root in
            let tiny = try ModelRepository.tiny("org/tiny", in: root)
            try tiny.card([
                "downloads": 12345, "likes": 7, "pipeline_tag": "text-generation", "library_name": "transformers",
                "tags": .array(["tiny", "license:mit"]), "lastModified": "2026-01-02T03:04:05.000Z",
                "createdAt": "2025-01-02T03:04:05.000Z",
            ])
            try ModelRepository("org/tiny", in: root, revision: "v1.0").write("config.json", "{}")
        }
    }

    @Test func aModelAtAGlance() async throws {
        let result = try await stage.run("info", "org/tiny")
        #expect(result.status == 0 && result.error.isEmpty)
        let lines = result.lines
        #expect(lines[0].wholeMatch(of: /org\/tiny at [0-9a-f]{8}/) != nil)
        #expect(
            Array(lines[1...7].filter { !$0.hasPrefix("  updated") }) == [
                "  task        text-generation", "  library     transformers", "  license     mit",
                "  popularity  12.3k downloads a month, 7 likes", "  refs        main, v1.0", "  tags        tiny",
            ])
        #expect(
            Array(lines[8...10]) == [
                "  files       4, 300 kB", "  weights     safetensors, 1 file, 300 kB", "  cached      nothing",
            ])
        #expect(lines[11].hasPrefix("  to fetch    300 kB, fits on the disk: "))
        #expect(lines[12].hasPrefix("  memory      300 kB for the weights, of ") && lines.count == 13)
        #expect(!FileSystem.exists(stage.cache))
    }

    @Test func filesAreListedWithWhatIsCached() async throws {
        #expect(try await stage.run("pull", "org/tiny:config.json").status == 0)
        let result = try await stage.run("info", "org/tiny", "--files")
        let table = result.output.components("\n\n").last ?? ""
        #expect(
            table == """
                FILE                 SIZE  KIND     CACHED
                config.json          22 B  regular  yes
                empty.txt             0 B  regular
                model.safetensors  300 kB  lfs
                sub/dir/vocab.txt     4 B  regular

                """)
        #expect(result.output.contains("  cached      22 B\n"))
    }

    @Test func theDocumentKeepsToTheContract() async throws {
        let document = try await stage.run("info", "org/tiny", "--json").document()
        document.expectKeys(
            """
            id commit refs task library license downloads likes gated private created_at updated_at tags size_bytes \
            files cached_bytes variants inspection parameters
            """)
        #expect(document["id"]?.string == "org/tiny" && document["commit"]?.string?.utf8.count == 40)
        #expect(document["size_bytes"]?.int == 300_026 && document["cached_bytes"]?.int == 0)
        #expect(document.objects("refs").map { $0["name"]?.string } == ["main", "v1.0"])
        #expect(document["created_at"]?.string == "2025-01-02T03:04:05Z" && document["private"]?.bool == false)
        let files = document.objects("files")
        for file in files { file.expectKeys("path size_bytes kind digest cached") }
        #expect(files.map { $0["kind"]?.string } == ["regular", "regular", "lfs", "regular"])
        #expect(files[2]["digest"]?.string?.utf8.count == 64 && files[0]["digest"]?.string?.utf8.count == 40)
        let variant = try #require(document.objects("variants").first)
        variant.expectKeys("name format quantization files size_bytes")
        #expect(variant.strings("files") == ["model.safetensors"] && variant["size_bytes"]?.int == 300_000)
    }

    @Test func quietPrintsTheId() async throws {
        #expect(try await stage.run("info", "org/tiny@v1.0", "-q").output == "org/tiny\n")
    }

    @Test func anUnreachableHubIsExit5AndWhatIsKnownStillShows() async throws {
        #expect(try await stage.run("info", "org/tiny").status == 0)
        let closed = ClosedPort()
        let away = ["HF_ENDPOINT": closed.address]
        let result = try await stage.run("info", "org/tiny", with: away)
        #expect(result.status == 5 && result.error.hasPrefix("hub: \(closed.address) cannot be reached"))
        #expect(result.lines[1].hasPrefix("  as of       ") && result.lines[1].hasSuffix(" ago"))
        #expect(result.output.contains("  files       4, 300 kB\n"))
        let document = try await stage.run("info", "org/tiny", "--json", with: away)
        #expect(try document.errorCode() == "unreachable")
        #expect(try document.document()["size_bytes"]?.int == 300_026)
        let unknown = try await stage.run("info", "org/other", with: away)
        #expect(unknown.status == 5 && unknown.output.isEmpty)
    }

    /// "hub pull fetches it" is no advice to someone who switched the network off.
    @Test func offlineWhatIsNotKnownIsNotFound() async throws {
        let result = try await stage.run("info", "org/tiny", "--offline")
        #expect(result.status == 3 && result.output.isEmpty)
        #expect(
            result.error == """
                hub: nothing is known of org/tiny without the network
                     without --offline and HF_HUB_OFFLINE hub info asks the Hub

                """)
        #expect(stage.hub.requests.isEmpty)
    }
}

extension String {
    /// Its parts between a separator.
    func components(_ separator: String) -> [String] { split(separator: separator).map(String.init) }
}
