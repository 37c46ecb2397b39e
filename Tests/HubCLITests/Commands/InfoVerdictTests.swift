import HubCore
import Support
import Testing

@testable import Catalog

/// What `hub info` says of running a model, of its alias, and of one that is gone from the Hub.
@Suite struct InfoVerdictTests {
    private static func stage(_ id: String, _ card: JSONObject, file: String = "model.safetensors") throws -> Stage
    {
        try Stage { root in
            let repository = try ModelRepository(id, in: root)
            try repository.write("config.json", #"{"model_type": "tiny"}"#)
            try repository.random(file, size: 3000)
            try repository.card(card)
        }
    }

    private static func tags(_ model: String, _ others: JSON...) -> JSONObject {
        [
            "library_name": "transformers", "pipeline_tag": "text-generation",
            "tags": .array(["safetensors", .string(model)] + others),
        ]
    }

    @Test func whatIsNotSupportedIsNamed() async throws {
        for (card, why) in [
            (Self.tags("llama", "mxfp8"), "mxfp8 weights are"),
            (Self.tags("llama4"), "the architecture llama4 is"), (Self.tags("unheard"), "the architecture tiny is"),
        ] {
            let stage = try Self.stage("org/m", card)
            let result = try await stage.run("info", "org/m")
            #expect(result.output.contains("  runs        no: \(why) not supported yet\n"), "\(result.output)")
        }
        let onnx = try await Self.stage("org/m", [:], file: "model.onnx").run("info", "org/m")
        #expect(onnx.output.contains("  runs        no: ONNX weights are not supported yet\n"))
        let odd = try await Self.stage("org/m", Self.tags("llama"), file: "weights.bin").run("info", "org/m")
        #expect(
            odd.output.contains(
                "  runs        no: its weights are under other names than transformers gives them\n"))
    }

    /// A name says nothing of how weights are packed: config.json does.
    @Test(arguments: ["m-int4", "m-w8a8", "m-nf4", "m-3bit", "m-GPTQ", "m-fp4"]) func aNameIsNoPacking(name: String)
        async throws
    {
        let stage = try Stage { root in
            let repository = try ModelRepository("org/\(name)", in: root)
            for file in ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"] {
                try repository.write(file, Fixtures.bytes("tiny-shakespeare/\(file)"))
            }
        }
        let result = try await stage.run("info", "org/\(name)")
        #expect(result.output.contains("  runs        yes"), "\(result.output)")
    }

    /// Where neither tags nor the curated list tell, config.json does, once.
    @Test func whatNothingElseTellsTheConfigurationSays() async throws {
        let stage = try Self.stage("org/m", [:])
        var asked: [Int] = []
        for _ in 0..<2 {
            let result = try await stage.run("info", "org/m")
            asked.append(stage.hub.requests("config.json").count)
            #expect(
                result.output.contains("  runs        no: the architecture tiny is not supported yet\n"),
                "\(result.output)")
        }
        #expect(asked[0] > 0 && asked[1] == asked[0], "\(asked)")
        let document = try await stage.run("info", "org/m", "--json").document()
        #expect(document["runs"]?["possible"]?.bool == false)
        let why = document["runs"]?["why"]?.string
        #expect(why?.hasPrefix("the architecture tiny is not supported yet; instead, try: hub try ") == true)
        #expect(why?.hasSuffix("; transformers may run it, in Python") == true)
    }

    /// A set that runs is chosen where the preferred format does not run.
    @Test func anotherSetOfTheRepositoryRuns() async throws {
        let stage = try Stage { root in
            let repository = try ModelRepository("org/m", in: root)
            try repository.write("config.json", #"{"model_type": "llama"}"#)
            try repository.random("model.safetensors", size: 3000)
            try repository.random("m-Q4_K_M.gguf", size: 2_000_000)
            try repository.card(Self.tags("llama", "mxfp8", "gguf"))
        }
        let runs = try #require(try await stage.run("info", "org/m", "--json").document()["runs"])
        #expect(runs["possible"]?.bool == true && runs["file"]?.string == "m-Q4_K_M.gguf")
        #expect(runs["memory_bytes"]?.int == 2_400_000 && runs["why"] == nil)
        #expect(stage.hub.requests("config.json").isEmpty && stage.hub.requests(".gguf").isEmpty)
        let result = try await stage.run("info", "org/m")
        #expect(
            result.lines.contains {
                $0.wholeMatch(of: /\ \ runs        yes, Q4_K_M, about [\d.,]+ tokens\/s/) != nil
            })
        // And hub try takes it.
        #expect(try await stage.run("pull", "org/m", "--format", "auto").status == 0)
        #expect(FileSystem.exists(Path.join(try await stage.path("org/m"), "m-Q4_K_M.gguf")))
    }

    /// hub info said Q8_0, and hub try took F16.
    @Test func theSetThatInfoNamesIsTheOneThatRuns() async throws {
        let stage = try Stage { root in
            let repository = try ModelRepository("org/many", in: root)
            for name in ["model-f16.gguf", "model-q8_0.gguf", "model-q4_0.gguf"] {
                try repository.write(name, Fixtures.bytes("tiny-shakespeare-gguf/\(name)"))
            }
        }
        #expect(try await stage.run("pull", "org/many:*f16*").status == 0)
        for (name, type) in [("model-f16.gguf", "F16"), ("model-q8_0.gguf", "Q8_0")] {
            let info = try await stage.run("info", "org/many", "--json").document()
            #expect(info["runs"]?["file"]?.string == name)
            #expect(try await stage.run("try", "org/many", "--json").document()["dtype"]?.string == type)
            let inspected = try await stage.run("info", "org/many", "--inspect", "--json").document()
            #expect(inspected["inspection"]?["file"]?.string == name)
            #expect(try await stage.run("pull", "org/many", "--format", "all").status == 0)
        }
    }

    /// The rate is measured once and then remembered; one that was tried counts more.
    @Test func theRateIsOfTheMachineAndOfTheWeights() async throws {
        let stage = try Self.stage("org/m", Self.tags("llama"))
        let first = try #require(try await stage.run("info", "org/m", "--json").document()["runs"])
        let catalog = try Catalog(path: stage.catalog)
        let rows = try catalog.read {
            try $0.query("SELECT bytes_per_second, threads FROM machines") { $0.double(0) }
        }
        #expect(rows.count == 1 && first["tokens_per_second"]?.double == rows[0] / 3000)
        try catalog.write { try $0.run("UPDATE machines SET bytes_per_second = 36000") }
        let result = try await stage.run("info", "org/m")
        #expect(result.output.contains("  runs        yes, about 12 tokens/s\n"), "\(result.output)")
        let found = try await stage.run("search", "--json").document().objects("models").first
        #expect(found?["runs"]?["possible"]?.bool == true)
        // An embedding model reads its weights once for many tokens.
        let encoder = try Self.stage(
            "org/e", ["tags": .array(["safetensors", "bert"]), "pipeline_tag": "feature-extraction"])
        let runs = try #require(try await encoder.run("info", "org/e", "--json").document()["runs"])
        #expect(runs["possible"]?.bool == true && runs["tokens_per_second"] == nil)
    }

    @Test func aCuratedModelHasItsAliasAndItsVerdict() async throws {
        let yes = try await Self.stage("HuggingFaceTB/SmolLM2-135M-Instruct", [:]).run(
            "info", "HuggingFaceTB/SmolLM2-135M-Instruct")
        #expect(
            yes.output.contains("  alias       smollm2-135m\n") && yes.output.contains("  runs        yes, about "))
        let other = try await Self.stage("Qwen/Qwen3-8B", [:]).run("info", "qwen3-8b")
        #expect(
            other.output.contains("  alias       qwen3-8b\n") && other.output.contains("  runs        yes, about "))
        let unknown = try await Self.stage("org/m", [:]).run("info", "org/m")
        #expect(!unknown.output.contains("  alias  "))
    }

    @Test func termsThatOneAcceptsAreToldFromAccessThatSomebodyGrants() async throws {
        let stage = try Self.stage("org/m", ["gated": "auto"])
        let result = try await stage.run("info", "org/m")
        #expect(result.output.contains("  access      gated (auto): accept its terms on its page\n"))
    }

    /// It was said not to be there, though it lay in the cache.
    @Test func whatIsGoneFromTheHubButCachedStillShows() async throws {
        let stage = try Self.stage("org/m", [:])
        #expect(try await stage.run("pull", "org/m").status == 0)
        try FileSystem.rename(stage.root("org/m"), to: stage.root("away"))
        let result = try await stage.run("info", "org/m")
        #expect(result.status == 0 && result.output.contains("  cached      all of it\n"))
        #expect(
            result.error
                == "hub: model org/m not found on \(stage.hub.endpoint); showing what is cached\n"
        )
        let never = try await stage.run("info", "org/never")
        #expect(never.status == 3 && never.output.isEmpty)
    }
}
