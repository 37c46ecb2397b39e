import HubCore
import Support
import Testing

@testable import HubCLI

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
            Array(lines[1...8].filter { !$0.hasPrefix("  updated") }) == [
                "  task        text-generation", "  library     transformers", "  license     mit",
                "  popularity  12.3k downloads a month, 7 likes", "  page        \(stage.hub.endpoint)/org/tiny",
                "  refs        main, v1.0", "  tags        tiny",
            ])
        #expect(Array(lines[9...10]) == ["  files       4, 300 kB", "  cached      nothing"])
        #expect(lines[11].hasPrefix("  to fetch    300 kB, fits on the disk: "))
        #expect(
            lines[12].wholeMatch(
                of: /\ \ memory      needs about 360 kB \(weights \+ 20%\); this machine has [\d.]+ GB/) != nil)
        #expect(lines[13] == "  runs        no: the architecture tiny is not supported yet")
        #expect(lines[14].hasPrefix("              instead, try: hub try ") && lines.count == 18)
        #expect(
            Array(lines[16...]) == ["WEIGHTS      FILES    SIZE  FITS", "safetensors      1  300 kB  yes"])
        #expect(!FileSystem.exists(stage.cache))
    }

    @Test func filesAreATreeWithWhatIsCached() async throws {
        #expect(try await stage.run("pull", "org/tiny:config.json").status == 0)
        let result = try await stage.run("info", "org/tiny", "--files")
        let table = result.output.components("\n\n").last ?? ""
        #expect(
            table == """
                FILE                 SIZE  KIND     CACHED
                config.json          22 B  regular  yes
                empty.txt             0 B  regular
                model.safetensors  300 kB  lfs
                sub/                  4 B
                  dir/                4 B
                    vocab.txt         4 B  regular

                """)
        #expect(result.output.contains("  cached      22 B\n"))
    }

    @Test func theDocumentKeepsToTheContract() async throws {
        let document = try await stage.run("info", "org/tiny", "--json").document()
        document.expectKeys(
            """
            id page commit refs task library license downloads likes gated private pinned created_at updated_at tags \
            size_bytes files cached_bytes variants inspection parameters runs
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

    /// A model that needs next to nothing was said to need all of it.
    @Test func whatOtherModelsHoldIsSaid() async throws {
        let copy = try ModelRepository("org/copy", in: stage.root)
        let weights = try #require(try FileSystem.contents(stage.root("org/tiny/model.safetensors")))
        try copy.write("model.safetensors", weights)
        try copy.write("config.json", "{ }")
        #expect(try await stage.run("pull", "org/tiny").status == 0)
        let result = try await stage.run("info", "org/copy")
        #expect(
            result.output.contains("  cached      nothing\n              300 kB of it are here, in other models\n"),
            "\(result.output)")
    }

    @Test func itsPageIsOpenedInTheBrowser() async throws {
        #if os(macOS)
        let name = "open"
        #else
        let name = "xdg-open"
        #endif
        let seen = stage.machine("seen")
        let program = try stage.machine.write(
            "bin/\(name)", "#!/bin/sh\necho \"$@\" > \(seen).new\nmv \(seen).new \(seen)\n")
        try FileSystem.setMode(program, 0o755)
        let variables = ["PATH": stage.machine("bin") + ":/usr/bin:/bin", "DISPLAY": ":0"]
        let page = "\(stage.hub.endpoint)/datasets/org/rows"
        let result = try await stage.run("info", "datasets/org/rows", "--open", with: variables)
        #expect(result.status == 0 && result.output == page + "\n")
        try await eventually("the browser") { FileSystem.exists(seen) }
        #expect(try FileSystem.text(seen) == page + "\n" && stage.hub.requests.isEmpty)
        #if !os(macOS)
        let none = try await stage.run("info", "org/tiny", "--open")
        #expect(none.output == "\(stage.hub.endpoint)/org/tiny\n")
        #expect(none.error.contains("no browser can be started"))
        #endif
        #expect(try await stage.run("info", "org/tiny", "--open", "--files").status == 2)
    }

    @Test func quietPrintsTheId() async throws {
        #expect(try await stage.run("info", "org/tiny@v1.0", "-q").output == "org/tiny\n")
    }

    @Test func anUnreachableHubIsExit5AndWhatIsKnownStillShows() async throws {
        #expect(try await stage.run("info", "org/tiny").status == 0)
        let away = Stage.away
        let result = try await stage.run("info", "org/tiny", with: away)
        #expect(result.status == 5 && result.error.hasPrefix("hub: \(ClosedPort.address) cannot be reached"))
        #expect(result.lines[1].hasPrefix("  as of       ") && result.lines[1].hasSuffix(" ago"))
        #expect(result.output.contains("  files       4, 300 kB\n"))
        let document = try await stage.run("info", "org/tiny", "--json", with: away)
        #expect(try document.errorCode() == "unreachable")
        #expect(try document.document()["size_bytes"]?.int == 300_026)
        let unknown = try await stage.run("info", "org/other", with: away)
        #expect(unknown.status == 5 && unknown.output.isEmpty)
    }

    /// Offline, a missing model cannot be confirmed: the same error as for an unreachable Hub.
    @Test func offlineWhatIsNotKnownIsExit5() async throws {
        let result = try await stage.run("info", "org/tiny", "--offline")
        #expect(result.status == 5 && result.output.isEmpty)
        #expect(
            result.error == """
                hub: org/tiny is not known here, and the network is switched off
                     leave out --offline, or unset HF_HUB_OFFLINE

                """)
        let refresh = try await stage.run("info", "org/tiny", "--refresh", with: ["HF_HUB_OFFLINE": "1"])
        #expect(refresh.status == 5)
        #expect(refresh.error.hasPrefix("hub: --refresh asks the Hub, and the network is switched off\n"))
        #expect(stage.hub.requests.isEmpty)
    }

    /// The files of a commit cannot change: after the first time only the branch is asked about.
    @Test func aTreeIsFetchedOnce() async throws {
        let first = try await stage.run("info", "org/tiny", "--json").document()
        for words in [
            ["info", "org/tiny"], ["info", "org/tiny", "--refresh"], ["pull", "org/tiny", "--estimate"],
        ] {
            let result = try await RunningProcess.run(BuiltProduct.path(), words, environment: stage.environment)
            #expect(result.status == 0)
        }
        let commit = try #require(first["commit"]?.string)
        #expect(try await stage.run("info", "org/tiny@\(commit)").status == 0)
        #expect(stage.hub.requests("/tree/").count == 1)
        let offline = try await stage.run("info", "org/tiny", "--offline", "--json").document()
        #expect(offline["files"] == first["files"] && offline["commit"] == first["commit"])
        #expect(first["as_of"] == nil && offline["as_of"]?.string?.hasSuffix("Z") == true)
    }

    @Test func branchesThatWereNotAskedForAgainSayHowOldTheyAre() async throws {
        let first = try await stage.run("info", "org/tiny")
        #expect(first.output.contains("  refs        main, v1.0\n"))
        try ModelRepository("org/tiny", in: stage.root, revision: "v2.0").write("config.json", "{ }")
        let second = try await stage.run("info", "org/tiny")
        #expect(settled(second.output).contains("  refs  main, v1.0 (as of AGE)\n"))
        #expect(stage.hub.requests("/refs$").count == 1)
        let third = try await stage.run("info", "org/tiny", "--refresh")
        #expect(third.output.contains("  refs        main, v1.0, v2.0\n"))
    }

    @Test func aGlobNarrowsTheFiles() async throws {
        let document = try await stage.run("info", "org/tiny:*.json", "--json").document()
        #expect(document.objects("files").map { $0["path"]?.string } == ["config.json"])
        #expect(document["size_bytes"]?.int == 22 && document.objects("variants").isEmpty)
        let nothing = try await stage.run("info", "org/tiny:*.gguf")
        #expect(nothing.status == 3 && nothing.error.hasPrefix("hub: no file of org/tiny matches \"*.gguf\"\n"))
    }

    @Test func datasetsAndSpaces() async throws {
        let data = try ModelRepository("org/data", in: stage.root, kind: .dataset)
        try data.write("README.md", "---\nlicense: mit\n---\n# Data\n\nSome rows of data.\n")
        try data.write("train/a.csv", "1,2\n")
        try ModelRepository("org/show", in: stage.root, kind: .space).write("app.py", "print()\n")
        let result = try await stage.run("info", "datasets/org/data", "--files")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(result.output.hasPrefix("datasets/org/data at "))
        #expect(result.lines[1] == "  Some rows of data.")
        #expect(!result.output.contains("memory") && !result.output.contains("weights"))
        #expect(
            result.output.hasSuffix(
                """

                FILE       SIZE  KIND     CACHED
                README.md  48 B  regular
                train/      4 B
                  a.csv     4 B  regular

                """))
        let space = try await stage.run("info", "spaces/org/show", "--json").document()
        #expect(space["id"]?.string == "org/show" && space["size_bytes"]?.int == 8)
        #expect(space.objects("variants").isEmpty)
    }

    /// Fetched by another tool, with an unknown file list.
    @Test func offlineWithoutAListOfFilesWhatIsCachedStillShows() async throws {
        try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa", "b.bin": "bb"])
        let result = try await stage.run("info", "org/one", "--offline")
        #expect(
            result.output == """
                org/one at 11111111
                  page        \(stage.hub.endpoint)/org/one
                  cached      2 files, 6 B; there may be more on the Hub

                """)
        let document = try await stage.run("info", "org/one", "--offline", "--json").document()
        #expect(document["cached_bytes"]?.int == 6 && document["files"] == nil && document["size_bytes"] == nil)
    }

    @Test func parametersAndTheirTypes() async throws {
        try ModelRepository("org/tiny", in: stage.root).card([
            "safetensors": .object([
                "parameters": .object(["F32": 1000, "BF16": 1_115_264, "\u{1B}[2J": 5]), "total": 1_116_269,
            ])
        ])
        let result = try await stage.run("info", "org/tiny")
        #expect(result.output.contains("  parameters  1.1M, BF16, F32, ␛[2J\n"))
    }

    @Test(arguments: [40, 80, 200])
    func noLineIsWiderThanTheTerminal(columns: Int) async throws {
        let wide = try ModelRepository("org/wide", in: stage.root)
        try wide.write("README.md", "这是一个用于测试的小型语言模型。" + String(repeating: "很长的说明，", count: 60) + "\n")
        try wide.write("数据/说明书/一个非常非常非常非常非常非常非常长的文件名.txt", "x")
        try wide.write("a/b/c/d/e/f/g/h/i/j/k/l/m/n/deep-\(String(repeating: "x", count: 100)).txt", "x")
        try wide.random("model-00001-of-00001.safetensors", size: 1000)
        try wide.card([
            "tags": .array((1...40).map { .string("tag-number-\($0)") }), "pipeline_tag": "一个很长的任务名称一个很长的任务名称一个很长",
            "library_name": .string(String(repeating: "x", count: 90)),
        ])
        let process = try stage.start(
            "info", "org/wide", "--files", "--color", "never", terminal: .init(columns: UInt16(columns), rows: 50))
        let result = try await process.wait()
        #expect(result.status == 0)
        let lines = result.terminal.split(whereSeparator: \.isNewline).map(String.init)
        #expect(lines.count > 20)
        for line in lines { #expect(DisplayWidth.of(line) <= columns, "\(line)") }
        #expect(lines.contains { $0.hasPrefix("数据/") } && lines.contains { $0.hasPrefix("  说明书/") })
        // Long text wraps; nothing is lost.
        let library = lines.filter { $0.contains("xx") && !$0.contains("deep") && !$0.contains("…") }.joined()
        #expect(library.count { $0 == "x" } == 90)
    }
}

extension String {
    /// Its parts between a separator.
    func components(_ separator: String) -> [String] { split(separator: separator).map(String.init) }
}
