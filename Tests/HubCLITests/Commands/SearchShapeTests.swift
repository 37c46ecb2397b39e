import HubCore
import HubServer
import Support
import Testing

@testable import HubCLI

/// What `hub search` shows, whatever the Hub sends and however wide the terminal is.
@Suite struct SearchShapeTests {
    private func stage(page: Int = 1000, _ models: [JSONObject]) throws -> Stage {
        var options = LoopbackHub.Options()
        options.listedModels = models
        options.pages.models = page
        return try Stage(options: options)
    }

    private static let wide: JSONObject = [
        "id": "organisation-of-many-letters/A-Model-With-A-Name-That-Takes-Half-A-Screen-And-More-Instruct-GGUF",
        "downloads": 1_234_567, "likes": 4321, "pipeline_tag": "日本語の長い課題の名前です-text-generation",
        "tags": .array(["license:ライセンス-very-long-licence-name"]), "lastModified": "2025-12-02T03:04:05.000Z",
        "createdAt": "2025-01-02T03:04:05.000Z", "safetensors": .object(["total": 7_000_000_000]),
        "usedStorage": 999_999_999_999,
    ]

    @Test func noLineIsWiderThanTheTerminal() async throws {
        let stage = try stage([Self.wide, ["id": "a", "downloads": 1], ["id": "org/name", "downloads": 12]])
        for columns in [40, 47, 59, 60, 79, 80, 99, 120, 160, 200] as [UInt16] {
            let result = try await stage.run(
                "search", "--fits", "--color", "never", terminal: .init(.output, columns: columns, rows: 24))
            let lines = result.terminal.split(whereSeparator: \.isNewline).map(String.init)
            #expect(lines.count == 2 && lines[0].contains("MODEL"), "\(columns)")
            for line in lines { #expect(DisplayWidth.of(line) <= Int(columns), "\(columns): \(line)") }
            #expect(lines.allSatisfy { !$0.hasSuffix(" ") })
            // Two fifths of the line are the name's before other columns stay.
            let name = lines[1].split(separator: " ")[0]
            #expect(DisplayWidth.of(String(name)) >= min(48, Int(columns) * 2 / 5), "\(columns): \(name)")
            // What a model is for says more than how many want it.
            #expect(!lines[0].contains("DOWNLOADS") || lines[0].contains("TASK"), "\(columns)")
            #expect(columns < 100 || lines[1].contains("1.2M"), "\(columns)")
        }
    }

    @Test func aUsualTableIsWholeOnEightyColumns() async throws {
        let stage = try stage([
            [
                "id": "Qwen/Qwen3-Coder-30B-A3B-Instruct", "downloads": 958_000, "likes": 1200,
                "pipeline_tag": "text-generation", "tags": .array(["license:apache-2.0"]),
            ]
        ])
        let result = try await stage.run(
            "search", "--color", "never", terminal: .init(.output, columns: 80, rows: 24))
        let lines = result.terminal.split(whereSeparator: \.isNewline)
        #expect(lines[0] == "  MODEL                              PARAMS     SIZE  TASK             DOWNLOADS")
        #expect(lines[1] == "  Qwen/Qwen3-Coder-30B-A3B-Instruct   30.0B  60.0 GB  text-generation       958k")
    }

    @Test func controlCharactersDoNotReachTheTerminal() async throws {
        let evil: JSON = "\u{1B}]0;owned\u{7}\u{1B}[2J\u{202E}\u{9B}x\r\ny"
        let stage = try stage([
            [
                "id": "org/evil", "downloads": 5, "pipeline_tag": evil, "library_name": evil,
                "tags": .array([evil, "license:\u{1B}[31mred"]),
            ]
        ])
        for words in [
            ["search"], ["search", "--offline"], ["search", "x\u{1B}[2Jx"], ["search", "author:\u{1B}[2J"],
        ] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), words + ["--color", "never"], environment: stage.environment,
                terminal: .init(columns: 200, rows: 24))
            #expect(!result.terminal.isEmpty)
            for scalar in result.terminal.unicodeScalars {
                #expect(
                    scalar == "\n" || scalar == "\r"
                        || scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value),
                    "\(words): \(scalar.value)")
                #expect(scalar != "\u{202E}")
            }
        }
        let rows = try await stage.run("search").lines
        #expect(rows.count == 2 && rows[1].contains("␛]0;owned␇␛[2J"))
        let document = try await stage.run("search", "--json")
        #expect(!document.output.contains("\u{1B}"))
        #expect(try document.document().objects("models").first?["task"] == evil)
    }

    /// The Hub has four such pairs; both are models of their own.
    @Test func idsThatDifferByCaseAreTwo() async throws {
        let stage = try stage([["id": "org/Name", "downloads": 3], ["id": "org/name", "downloads": 2]])
        try stage.plant("models--org--name", commit: commit("1"), files: ["a": "b"])
        for offline in [[], ["--offline"]] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), ["search", "org/name", "--json"] + offline, environment: stage.environment)
            let models = try result.document().objects("models")
            #expect(models.compactMap { $0["id"]?.string } == ["org/Name", "org/name"], "\(offline)")
            #expect(models.map { $0["cached"]?.bool } == [false, true])
        }
    }

    @Test func thousandsOfTagsAreKept() async throws {
        let tags = (0..<3000).map { "tag-\($0)" }
        let stage = try stage([["id": "org/tagged", "downloads": 3, "tags": .array(tags.map { .string($0) })]])
        #expect(try await stage.run("search", "-q", "tag:tag-2999", "tag:tag-0").lines == ["org/tagged"])
        #expect(try await stage.run("search", "-q", "tag:tag-2999", "--offline").lines == ["org/tagged"])
        #expect(try await stage.run("search", "-q", "tag:tag-3000").lines == [])
        let models = try await stage.run("search", "--json", "--offline").document().objects("models")
        #expect(models.first?.strings("tags") == tags)
    }

    @Test func aSearchThatGaveUpSaysSo() async throws {
        let models = (0..<30).map { number -> JSONObject in
            ["id": .string("org/m\(number)"), "downloads": .int(Int64(100 - number)), "usedStorage": 5000]
        }
        let stage = try stage(page: 1, models)
        let result = try await stage.run("search", "--smaller-than", "1kB")
        #expect(result.status == 0 && result.output.isEmpty)
        #expect(
            result.error == """
                hub: no model was found
                hub: only the first 10 models were checked; narrow the search

                """)
        // What was looked at is remembered.
        #expect(try await stage.run("search", "-q", "--offline", "--limit", "99").lines.count == 10)
    }

    @Test func whatIsCachedIsFoundWithoutAskingForEverything() async throws {
        let stage = try Stage { root in
            for name in ["org/here", "org/away"] {
                let repository = try ModelRepository(name, in: root)
                try repository.write("config.json", "{}")
                try repository.card(["downloads": 7, "tags": .array(["word"])])
            }
        }
        // As left by Python: both unknown to the catalog, one also to the Hub.
        try stage.plant("models--org--here", commit: commit("1"), files: ["config.json": "{}"])
        try stage.plant("models--me--mine", commit: commit("2"), files: ["config.json": "{}"])
        try stage.plant("datasets--org--data", commit: commit("3"), files: ["a": "b"])
        #expect(try await stage.run("search", "--cached", "--offline", "-q").lines == ["me/mine", "org/here"])
        #expect(
            try await stage.run("search", "--cached", "--offline", with: ["HF_HUB_CACHE": stage.machine("empty")])
                .error
                .hasPrefix("hub: no model was found in the catalog on this machine\n"))
        #expect(stage.hub.requests.isEmpty)
        #expect(try await stage.run("search", "--cached", "-q").lines == ["org/here", "me/mine"])
        let asked = stage.hub.requests.map(\.path)
        #expect(asked.sorted() == ["/api/models/me/mine", "/api/models/org/here"])
        // What the catalog heard of within a day is not asked for again.
        #expect(try await stage.run("search", "--cached", "-q", "word").lines == ["org/here"])
        #expect(stage.hub.requests.map(\.path).filter { $0 == "/api/models/org/here" }.count == 1)
        #expect(try await stage.run("search", "--cached", "-q", "mine").lines == ["me/mine"])
        #expect(try await stage.run("search", "--cached", "-q", "away").lines == [])
        let rows = try await stage.run("search", "--cached", "--fits").lines
        #expect(rows.count == 3 && rows[1].hasPrefix("●  org/here") && rows[2] == "● cached")
    }
}
