import Catalog
import HubCore
import HubServer
import Support
import Testing

@testable import HubCLI

/// What `hub search` can be asked, with and without the Hub.
@Suite struct SearchQueryTests {
    let stage: Stage

    /// Seven models: what each has is what the tests ask for.
    init() throws {
        func model(_ id: String, _ downloads: Int, _ more: JSONObject = [:]) -> JSONObject {
            var fields: JSONObject = [
                "id": .string(id), "downloads": .int(Int64(downloads)), "gated": false,
                "createdAt": "2025-01-02T03:04:05.000Z", "lastModified": "2026-01-02T03:04:05.000Z",
            ]
            for member in more.members { fields[member.key] = member.value }
            return fields
        }
        func parameters(_ number: Int64) -> JSON { .object(["total": .int(number)]) }
        var options = LoopbackHub.Options()
        options.listedModels = [
            model(
                "Qwen/Qwen3-Coder", 900,
                [
                    "pipeline_tag": "text-generation", "safetensors": parameters(30_000_000_000),
                    "usedStorage": 61_000_000_000, "tags": .array(["safetensors", "coder", "license:apache-2.0"]),
                ]),
            model(
                "unsloth/Qwen3-Coder-GGUF", 500,
                [
                    "gguf": parameters(30_000_000_000), "usedStorage": 200_000_000_000,
                    "tags": .array(["gguf", "base_model:quantized:Qwen/Qwen3-Coder"]),
                ]),
            model(
                "google/tiny", 300,
                [
                    "pipeline_tag": "sentence-similarity", "library_name": "sentence-transformers",
                    "safetensors": parameters(1_000_000), "usedStorage": 4_000_000,
                    "tags": .array(["safetensors", "license:mit", "qwen-like", "text to speech"]),
                    "createdAt": "2025-06-02T03:04:05.000Z",
                ]),
            model("google/huge", 200, ["safetensors": parameters(900_000_000_000_000), "tags": .array(["mlx"])]),
            model("org/llama", 100, ["usedStorage": 1000]), model("org/llama-two", 150, ["usedStorage": 2000]),
            model("org/unknown", 50, ["pipeline_tag": "feature-extraction"]),
        ]
        stage = try Stage(options: options)
    }

    private static var fitting: Regex<Substring> {
        /hub: only models with weights of at most [\d.]+ [GTM]B are shown, so that they fit\n/
    }

    private func ids(_ words: String..., with variables: [String: String] = [:]) async throws -> [String] {
        let result = try await RunningProcess.run(
            BuiltProduct.path(), ["search", "-q"] + words, environment: stage.environment.merging(variables) { $1 })
        #expect(result.status == 0 && result.error.isEmpty, "\(words): \(result.error)")
        return result.lines
    }

    /// Asked of the Hub first, and then of the catalog alone, which has seen it all by then.
    private func expect(_ words: String..., find expected: [String]) async throws {
        for offline in [[], ["--offline"]] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), ["search", "-q"] + words + offline, environment: stage.environment)
            #expect(result.status == 0 && result.lines == expected, "\(words) \(offline): \(result.error)")
        }
    }

    private func mirrorAll() async throws {
        #expect(try await stage.run("search", "-q", "--limit", "100").lines.count == 7)
    }

    @Test func wordsInAnyOrderAndTermsBesideThem() async throws {
        try await mirrorAll()
        try await expect("coder qwen", find: ["Qwen/Qwen3-Coder", "unsloth/Qwen3-Coder-GGUF"])
        try await expect("coder", "author:unsloth", find: ["unsloth/Qwen3-Coder-GGUF"])
        try await expect("license:mit", find: ["google/tiny"])
        try await expect("task:sentence-similarity library:sentence-transformers", find: ["google/tiny"])
        try await expect("tag:\"text to speech\"", find: ["google/tiny"])
        try await expect("base_model:quantized:Qwen/Qwen3-Coder", find: ["unsloth/Qwen3-Coder-GGUF"])
        try await expect("format:gguf", "--author", "unsloth", find: ["unsloth/Qwen3-Coder-GGUF"])
        try await expect("author:google", "--author", "google", "tiny", find: ["google/tiny"])
    }

    @Test func everyFlagNarrows() async throws {
        try await mirrorAll()
        let coders = ["Qwen/Qwen3-Coder", "unsloth/Qwen3-Coder-GGUF"]
        try await expect("--format", "gguf", find: ["unsloth/Qwen3-Coder-GGUF"])
        try await expect("--format", "mlx", find: ["google/huge"])
        try await expect("--format", "safetensors", find: ["Qwen/Qwen3-Coder", "google/tiny"])
        try await expect("--min-params", "30B", "--max-params", "3e10", find: coders)
        try await expect("--max-params", "0.5B", find: ["google/tiny"])
        try await expect("--min-params", "29.99B", "coder", "--author", "Qwen", find: ["Qwen/Qwen3-Coder"])
        try await expect("--max-size", "2kB", find: ["org/llama-two", "org/llama"])
        try await expect("--capability", "embeddings", find: ["google/tiny", "org/unknown"])
        try await expect("--capability", "code-generation", find: ["Qwen/Qwen3-Coder"])
        try await expect("--capability", "text-generation", find: ["Qwen/Qwen3-Coder"])
        try await expect("--license", "apache-2.0", "--ungated", find: ["Qwen/Qwen3-Coder"])
        try await expect("--gated", find: [])
        try await expect("--sort", "size", "--limit", "2", find: coders.reversed())
        try await expect("--sort", "created", "--limit", "1", "google", find: ["google/tiny"])
    }

    /// The machine has more memory than a million parameters need and less than 900 trillion do.
    @Test func whatFitsIsToldFromParametersAndSize() async throws {
        let result = try await stage.run("search", "google", "--fits")
        #expect(result.status == 0 && result.error.wholeMatch(of: Self.fitting) != nil)
        #expect(
            result.lines.count == 2 && result.lines[0].contains("SIZE") && result.lines[1].contains("google/tiny"))
        #expect(result.lines[1].contains("  2.0 MB  "))
        let unknown = try await stage.run("search", "org", "--fits", "-q")
        #expect(unknown.lines == ["org/llama-two", "org/llama"] && unknown.error.isEmpty)
        let said = try await stage.run("search", "org", "--fits")
        #expect(
            said.error.hasPrefix("hub: 1 model skipped: size and parameters unknown\n")
                && said.error.firstMatch(of: Self.fitting) != nil)
        #expect(try await stage.run("search", "org", "--fits", "--json").document()["left_out"]?.int == 1)
        #expect(
            try await stage.run("search", "org", "--smaller-than", "1TB").error
                == "hub: 1 model skipped: size unknown\n")
        #expect(
            try await stage.run("search", "org", "--max-params", "1T", "--offline").error.hasSuffix(
                "hub: 3 models skipped: parameters unknown\n"))
    }

    /// "A small instruct model for an 8 GB laptop".
    @Test func whatFitsInAMemoryThatIsNamed() async throws {
        func model(_ id: String, _ downloads: Int64, tags: [JSON] = [], storage: Int64? = nil) -> JSONObject {
            [
                "id": .string(id), "downloads": .int(downloads), "tags": .array(tags),
                "usedStorage": storage.map { .int($0) },
            ]
        }
        var options = LoopbackHub.Options()
        options.listedModels = [
            model("org/Large-8B-Instruct", 900, tags: ["safetensors"], storage: 32_000_000_000),
            model("org/Large-8B-Instruct-GGUF", 800, tags: ["gguf"], storage: 90_000_000_000),
            model("org/Small-1.5B-Instruct", 700, tags: ["safetensors"]),
            model("org/odd-instruct", 600),
        ]
        let stage = try Stage(options: options)
        let fitting = ["org/Large-8B-Instruct-GGUF", "org/Small-1.5B-Instruct"]
        for words in [["--fits=8GB"], ["--fits", "8GB"], ["8GB", "--fits"], ["--fits=8GB", "--offline"]] {
            let result = try await stage.run(["search", "instruct", "-q"] + words)
            #expect(result.status == 0 && result.lines == fitting, "\(words): \(result.error)")
        }
        let apart = try await stage.run("search", "instruct", "--fits", "8GB")
        #expect(apart.error.contains("8GB is read as --fits=8GB\n"))
        let result = try await stage.run("search", "instruct", "--fits=8GB")
        #expect(
            result.lines.map(settled) == [
                "  MODEL  PARAMS  SIZE  DOWNLOADS", "  org/Large-8B-Instruct-GGUF  8.0B  4.5 GB  800",
                "  org/Small-1.5B-Instruct  1.5B  3.0 GB  700",
            ])
        #expect(
            result.error == """
                hub: 1 model skipped: size and parameters unknown
                hub: only models with weights of at most 6.0 GB are shown, so that they fit

                """)
        let first = try #require(
            try await stage.run("search", "instruct", "--fits=8GB", "--json").document().objects("models").first)
        #expect(first["parameters"]?.int == 8_000_000_000 && first["parameters_from"]?.string == "name")
        #expect(first["weights_bytes"]?.int == 4_500_000_000 && first["size_bytes"]?.int == 90_000_000_000)
        let two = try await stage.run("search", "--fits", "8GB", "16GB")
        #expect(two.status == 2 && two.error.hasPrefix("hub: --fits takes one size, not 2\n"))
        // A number of parameters is a word like any other.
        #expect(try await stage.run("search", "--fits=8GB", "8b", "-q").lines == [fitting[0]])
    }

    @Test func theCuratedListShowsItsAliases() async throws {
        try Catalog(path: stage.catalog).remember(
            [
                ModelRecord(.model("HuggingFaceTB/SmolLM2-135M-Instruct")), ModelRecord(.model("Qwen/Qwen3-8B")),
            ], at: Timestamp.now)
        let result = try await stage.run("search", "--curated", "--offline")
        #expect(settled(result.lines[0]).contains("MODEL  ALIAS"))
        #expect(
            result.lines.contains {
                settled($0).contains("▸  HuggingFaceTB/SmolLM2-135M-Instruct  smollm2-135m  135M")
            })
        #expect(result.lines.contains { settled($0).contains("  Qwen/Qwen3-8B  qwen3-8b  8.0B") })
        #expect(result.lines.last == "▸ runs in hub try", "nothing is cached")
        #expect(result.error.contains("hub: the first 20 are shown; --limit shows more\n"))
        let two = try await stage.run("search", "--curated", "--offline", "--limit", "2")
        #expect(!two.error.contains("are shown; --limit"))
    }

    /// They were shown as large as at 16 bits, or at 4.5 where 8.5 are meant.
    @Test func aCuratedModelHasTheSizeThatItsAliasMeans() async throws {
        func sizes() async throws -> [String: Int64] {
            let document = try await stage.run("search", "--curated", "--offline", "--limit", "200", "--json")
                .document()
            return Dictionary(
                uniqueKeysWithValues: document.objects("models").compactMap { model in
                    model["id"]?.string.flatMap { id in model["weights_bytes"]?.int.map { (id, $0) } }
                })
        }
        let estimated = try await sizes()
        // 752 million parameters at 8.5 bits, and 8 billion at 4.89.
        #expect(estimated["Qwen/Qwen3-0.6B-GGUF"] == 798_609_408)
        #expect(estimated["bartowski/Meta-Llama-3.1-8B-Instruct-GGUF"] == 4_908_497_188)
        // What is listed goes before that.
        let repository = try ModelRepository("Qwen/Qwen3-0.6B-GGUF", in: stage.root)
        for (name, size) in [("Q8_0", 5000), ("f16", 9000)] {
            try repository.random("Qwen3-0.6B-\(name).gguf", size: size)
        }
        #expect(try await stage.run("info", "qwen3-0.6b-gguf").status == 0)
        #expect(try await sizes()["Qwen/Qwen3-0.6B-GGUF"] == 5000)
        let fitting = try await stage.run("search", "--curated", "--offline", "--fits=1GB", "--limit", "200", "-q")
        #expect(fitting.lines.contains("Qwen/Qwen3-0.6B-GGUF"))
        #expect(!fitting.lines.contains("bartowski/Meta-Llama-3.1-8B-Instruct-GGUF"))
    }

    /// "only the first 0 models were checked", it said, and then of how many the Hub was not asked.
    @Test func ofTheCuratedListNothingIsSaidOfWhatTheHubWasAsked() async throws {
        for flags in [[], ["--limit", "5"]] {
            let result = try await stage.run(["search", "--curated"] + flags)
            #expect(result.status == 0 && !result.error.contains("checked"), "\(result.error)")
        }
        let nothing = try await stage.run("search", "--curated", "nothinglikethis")
        #expect(nothing.error == "hub: no model matches \"nothinglikethis\"\n")
    }

    @Test func whatAnotherHubFilledIsSaid() async throws {
        try Catalog(path: stage.catalog).remember([ModelRecord(.model("org/elsewhere"))], at: Timestamp.now)
        try Catalog(path: stage.catalog).noteEndpoint(Endpoint("https://other.example"), at: Timestamp.now)
        let result = try await stage.run("search", "elsewhere", "--offline")
        #expect(
            result.error
                == "hub: some of these may be models of https://other.example, which filled the catalog too\n")
        let own = try await stage.run(
            "search", "elsewhere", "--offline", with: ["HF_ENDPOINT": "https://other.example"])
        #expect(!own.error.contains("also holds"))
    }

    @Test func whatCannotBeAskedIsExit2() async throws {
        for (words, error) in [
            (
                ["author:a", "--author", "b"],
                "hub: author \"b\" and author \"a\" exclude each other: leave one out\n"
            ),
            (
                ["autor:a"],
                "hub: unknown term autor:, did you mean author:?\n     put words that look like a term in double quotes\n"
            ),
            (["tag:"], "hub: tag: has no value\n     write it like tag:VALUE\n"),
            (
                ["--min-params", "7G"],
                "hub: --min-params: \"7G\" is not a number of parameters\n     write it like 7B, 500M or 1.5e9\n"
            ),
            (
                ["--min-params", "7B", "--max-params", "1B"],
                "hub: --min-params 7000000000 is more than --max-params 1000000000\n"
            ),
            (
                ["--max-size", "big"],
                "hub: --max-size: \"big\" is not a size\n     write it like 20GB, 500MB or 1.5GiB\n"
            ),
            (["--limit", "0"], "hub: --limit: 0 is out of bounds: it must be at least 1\n"),
            (["--limit", "9223372036854775808"], "hub: --limit: \"9223372036854775808\" is not a whole number\n"),
            (
                ["--sort", "sise"],
                "hub: --sort: invalid value \"sise\"; did you mean size?\n     it must be one of relevance, downloads, likes, trending, updated, created, size\n"
            ),
            (
                ["--capability", "embedings"],
                "hub: --capability: invalid value \"embedings\"; did you mean embeddings?\n     it must be one of text-generation, embeddings, transcription, code-generation, reasoning, multimodal, image-generation\n"
            ),
            (["--gated", "--ungated"], "hub: --gated and --ungated cannot be used together\n"),
        ] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), ["search"] + words, environment: stage.environment)
            #expect(
                result.status == 2 && result.output.isEmpty && result.error == error, "\(words): \(result.error)")
        }
        #expect(stage.hub.requests.isEmpty)
    }

    @Test func anAbsurdLimitIsNoTrouble() async throws {
        #expect(try await ids("--limit", "9223372036854775807").count == 7)
        #expect(try await ids("--limit", "9223372036854775807", "--offline").count == 7)
        #expect(try await ids("--limit", "9223372036854775807", "--fits", "--offline", "tiny") == ["google/tiny"])
    }

    // MARK: Both together

    @Test func theHubAndTheCatalogAreMergedByDownloads() async throws {
        try await mirrorAll()
        // By its tag alone google/tiny is found, and the Hub looks at ids.
        let result = try await stage.run("search", "qwen")
        #expect(
            result.lines.dropFirst().map { $0.split(separator: " ").first } == [
                "Qwen/Qwen3-Coder", "unsloth/Qwen3-Coder-GGUF", "google/tiny",
            ])
        #expect(result.error == "hub: 2 from the Hub, 1 more from the catalog\n")
        let models = try await stage.run("search", "qwen", "--json").document().objects("models")
        #expect(models.map { $0["source"]?.string } == ["hub", "hub", "catalog"])
        #expect(models.map { $0["size_bytes"]?.int } == [61_000_000_000, 200_000_000_000, 4_000_000])
        #expect(try await ids("qwen", "--limit", "1") == ["Qwen/Qwen3-Coder"])
        let offline = try await stage.run("search", "qwen", "--offline")
        #expect(offline.lines.count == 4 && offline.error.isEmpty)
    }

    @Test func theModelOfThisVeryNameComesFirst() async throws {
        #expect(try await ids("org/llama") == ["org/llama", "org/llama-two"])
        #expect(try await ids("llama") == ["org/llama-two", "org/llama"])
        #expect(try await ids("ORG/LLAMA", "--sort", "downloads") == ["org/llama-two", "org/llama"])
        #expect(try await ids("org/llama", "--limit", "1", "--offline") == ["org/llama"])
        // The Hub is cut off before it, the catalog knows it.
        #expect(try await ids("org/llama", "--limit", "1") == ["org/llama"])
    }

    // MARK: What was meant

    @Test func aSlipIsForgivenAndSaid() async throws {
        try await mirrorAll()
        for offline in [false, true] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), ["search", "qwem", "coder"] + (offline ? ["--offline"] : []),
                environment: stage.environment)
            #expect(result.status == 0)
            #expect(
                result.error
                    == (offline ? "hub: no model in the catalog on this machine matches" : "hub: no model matches")
                    + " \"qwem coder\"; did you mean \"qwen coder\"?\n")
            #expect(result.lines.count == 3 && result.lines[1].contains("Qwen/Qwen3-Coder"))
        }
        // A script gets what it asked for.
        #expect(try await ids("qwem coder") == [])
        let document = try await stage.run("search", "qwem coder", "--json").document()
        #expect(document.objects("models").isEmpty && document["suggestion"]?.string == "qwen coder")
        #expect(try await stage.run("search", "qwen coder", "--json").document()["suggestion"] == nil)
        let far = try await stage.run("search", "zzzzzz")
        #expect(far.output.isEmpty && far.error == "hub: no model matches \"zzzzzz\"\n")
        // The words are right, the filter leaves nothing.
        let filtered = try await stage.run("search", "llama", "author:nobody")
        #expect(filtered.error == "hub: no model matches \"llama author:nobody\"\n" && filtered.output.isEmpty)
        let both = try await stage.run("search", "lama", "author:nobody")
        #expect(both.error == "hub: no model matches \"lama author:nobody\"; did you mean \"llama\"?\n")
        #expect(both.status == 0 && both.output.isEmpty)
    }

    // MARK: Without the Hub

    @Test func anEmptyMirrorSaysSo() async throws {
        let result = try await stage.run("search", "llama", "--offline")
        #expect(result.status == 0 && result.output.isEmpty)
        #expect(
            result.error == """
                hub: no model in the catalog on this machine matches "llama"
                hub: the catalog on this machine is empty: searches with the network fill it, and hub sync does

                """)
        let document = try await stage.run("search", "--offline", "--json").document()
        #expect(document["as_of"] == nil && document.objects("models").isEmpty)
        #expect(try await stage.run("search", "llama", "--offline", "-q").error.isEmpty)
    }

    @Test func anOldMirrorSaysHowOld() async throws {
        let day = Timestamp.now - 86_400
        try Catalog(path: stage.catalog).remember([ModelRecord(.model("org/old"))], at: day - 30 * 86_400)
        let result = try await stage.run("search", "--offline")
        #expect(result.lines.count == 2 && result.error == "hub: the catalog was last updated 4 weeks ago\n")
        try Catalog(path: stage.catalog).remember([ModelRecord(.model("org/new"))], at: day)
        let fresh = try await stage.run("search", "--offline", "--json")
        #expect(fresh.error.isEmpty)
        #expect(try fresh.document()["as_of"]?.string == Timestamp.iso8601(day))
        #expect(try await stage.run("search", "--json").document()["as_of"] == nil)
    }

    @Test(arguments: [
        (Fault.Kind.garbage, "protocol_violation"), (.html, "protocol_violation"),
        (.status(404), "protocol_violation"),
        (.status(429, headers: ["RateLimit": "\"api\";r=0;t=3000"]), "rate_limited"),
    ])
    func aHubThatFailsLeavesTheCatalogsAnswer(_ fault: Fault.Kind, _ code: String) async throws {
        try await mirrorAll()
        stage.hub.fail("/api/models", fault, times: nil)
        let result = try await stage.run("search", "llama")
        #expect(result.status == 5 && result.lines.count == 3)
        #expect(result.error.hasPrefix("hub: ") && !result.error.contains("unfinished"))
        #expect(result.error.hasSuffix("hub: these models are from the catalog on this machine\n"))
        let document = try await stage.run("search", "llama", "--json")
        let found = try document.errorCode()
        #expect(found == code || code == "protocol_violation" && document.status == 5, "\(found)")
        #expect(try document.document().objects("models").allSatisfy { $0["source"]?.string == "catalog" })
        #expect(try document.document()["as_of"] != nil)
        // What was meant is looked for in the catalog alone, and the failure stays one.
        let slip = try await stage.run("search", "llamma")
        #expect(slip.status == 5 && slip.lines.count == 3)
        #expect(
            slip.error.hasPrefix(
                "hub: no model in the catalog on this machine matches \"llamma\"; did you mean \"llama\"?\n"))
    }

    @Test func aCatalogThatBreaksIsWarnedOfAndTheHubAnswers() async throws {
        try await mirrorAll()
        try Connection(stage.catalog).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        var bytes = try #require(try FileSystem.contents(stage.catalog))
        // Behind the first page, which opening reads.
        for place in 4096..<bytes.count { bytes[place] = 0x5A }
        try FileSystem.replace(stage.catalog, with: bytes)
        let result = try await stage.run("search", "llama", "-q")
        #expect(result.status == 0 && result.lines == ["org/llama-two", "org/llama"])
        #expect(
            result.error.hasPrefix(
                "hub: warning: continuing without the catalog: the catalog \(stage.catalog) is damaged"))
        try stage.plant("models--me--mine", commit: commit("1"), files: ["a": "b"])
        #expect(try await stage.run("search", "--cached", "-q").lines == ["me/mine"])
        #expect(try await stage.run("search", "zzz").error.hasSuffix("hub: no model matches \"zzz\"\n"))
        #expect(try await stage.run("search", "llama", "--offline").status == 6)
    }
}

extension Repository {
    /// The model of a name that is known to be right.
    static func model(_ name: String) -> Repository { Repository(.model, try! RepositoryID(name)) }
}
