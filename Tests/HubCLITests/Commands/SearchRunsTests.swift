import HubCore
import HubServer
import Support
import Testing

/// What `hub search` says of running a model here, and `--runs`.
@Suite struct SearchRunsTests {
    private static func model(
        _ name: String, library: JSON? = "transformers", task: JSON? = "text-generation", _ tags: [JSON],
        downloads: Int64 = 5, _ others: JSONObject = [:]
    ) -> JSONObject {
        var model: JSONObject = [
            "id": .string("org/\(name)"), "downloads": .int(downloads), "library_name": library,
            "pipeline_tag": task, "tags": .array(tags),
        ]
        for member in others.members { model[member.key] = member.value }
        return model
    }

    private static func config(_ type: JSON, _ modelClass: JSON) -> JSONObject {
        ["config": .object(["model_type": type, "architectures": .array([modelClass])])]
    }

    private static func stage(page: Int = 1000, _ models: [JSONObject]) throws -> Stage {
        var options = LoopbackHub.Options()
        options.listedModels = models
        options.pages.models = page
        return try Stage(options: options)
    }

    private static let running = [
        model("llama", ["safetensors", "llama"]),
        model("gguf", library: "gguf", task: nil, ["gguf"], ["gguf": .object(["architecture": "qwen3"])]),
        model("gguf-by-tag", library: nil, task: nil, ["gguf", "gemma2"]),
        model("mlx", library: "mlx", ["mlx", "safetensors", "qwen2", "4-bit"]),
        model("vectors", library: "sentence-transformers", task: "sentence-similarity", ["safetensors", "bert"]),
        model("class", task: nil, ["safetensors"], config("bert", "BertForTokenClassification")),
        model("pickle", task: "fill-mask", ["pytorch", "bert"]),
        model("both", ["safetensors", "gguf", "llama", "mxfp8"]),
        model("sees", task: "image-text-to-text", ["safetensors", "gemma3"]),
        model("series", library: "chronos-forecasting", task: "time-series-forecasting", ["safetensors", "t5"]),
        model("translates", task: "translation", ["safetensors", "marian"]),
        model("sums-up", task: "summarization", ["pytorch", "bart"]),
        model("named-FP8", ["safetensors", "llama"]), model("named-AWQ", ["safetensors", "llama", "4-bit"]),
    ]

    private static let others = [
        model("llama4", ["safetensors", "llama4"]), model("mxfp8", ["safetensors", "llama", "mxfp8"]),
        model("onnx", library: "transformers.js", ["onnx", "llama"]),
        model("wrong-class", task: nil, ["safetensors", "bert"], config("bert", "BertForQuestionAnswering")),
        model("other-type", ["safetensors", "llama", "mllama"], config("mllama", "MllamaForCausalLM")),
        model("gguf-of-llama4", library: "gguf", ["gguf", "llama"], ["gguf": .object(["architecture": "llama4"])]),
        model("adapter", library: "peft", ["safetensors", "llama"]),
        model("huge", ["safetensors", "llama"], ["safetensors": .object(["total": 90_000_000_000_000])]),
        model("answers", task: "question-answering", ["safetensors", "bert"]),
        model("derived", task: "text-classification", ["safetensors", "other", "text-classification", "llama"]),
        model("speaks", library: "other-engine", task: "text-to-speech", ["safetensors", "llama"]),
        model("nothing", library: nil, task: nil, []), model("named-EXL3", ["safetensors", "llama"]),
        model("4bit", ["safetensors", "llama"]),
    ]

    @Test func whatRunsIsFoundWhateverItsFormatAndTask() async throws {
        let stage = try Self.stage(Self.running + Self.others)
        let expected = Set(Self.running.compactMap { $0["id"]?.string })
        for words in [[], ["--offline"]] {
            let found = try await stage.run(["search", "--runs", "-q"] + words)
            #expect(Set(found.lines) == expected, "\(words)")
        }
        // The Hub was asked for everything: its filters know nothing of what runs.
        let query = try #require(stage.hub.requests.first { $0.path == "/api/models" }?.query)
        #expect(!query.contains("filter=") && !query.contains("pipeline_tag="))
        let vectors = try await stage.run("search", "--runs", "-q", "--task", "sentence-similarity")
        #expect(vectors.lines == ["org/vectors"])
    }

    @Test func eachModelSaysWhyNot() async throws {
        let stage = try Self.stage(Self.running + Self.others)
        let models = try await stage.run("search", "--json", "--limit", "50").document().objects("models")
        func runs(_ name: String) -> JSON? { models.first { $0["id"]?.string == "org/\(name)" }?["runs"] }
        func why(_ name: String) -> String? { runs(name)?["why"]?.string }
        for name in Self.running.compactMap({ $0["id"]?.string?.dropFirst(4) }) {
            #expect(runs(String(name))?["possible"]?.bool == true, "\(name)")
        }
        #expect(why("llama4") == "the architecture llama4 is not supported yet")
        #expect(why("derived") == "its architecture is not supported yet")
        #expect(why("other-type") == "the architecture mllama is not supported yet")
        #expect(why("gguf-of-llama4") == "the architecture llama4 is not supported yet")
        #expect(why("mxfp8") == "mxfp8 weights are not supported yet")
        #expect(why("named-EXL3") == "exl3 weights are not supported yet")
        #expect(why("onnx") == "ONNX weights are not supported yet")
        #expect(why("wrong-class") == "the model class BertForQuestionAnswering is not supported yet")
        #expect(why("adapter") == "it is an adapter for another model, which is not supported yet")
        #expect(why("huge")?.hasPrefix("it needs about 216 TB of memory, and this machine has ") == true)
        #expect(runs("huge")?["memory_bytes"]?.int == 216_000_000_000_000)
        for name in ["answers", "speaks", "nothing", "4bit"] { #expect(runs(name) == nil, "\(name)") }
    }

    @Test func pagesAreReadUntilThereAreEnough() async throws {
        let models = (0..<60).map { number in
            let runs = number % 10 == 9
            return Self.model(
                "m\(number)", ["safetensors", runs ? "llama" : "llama4"], downloads: Int64(100 - number))
        }
        let stage = try Self.stage(page: 5, models)
        #expect(
            try await stage.run("search", "--runs", "-q", "--limit", "4").lines
                == ["org/m9", "org/m19", "org/m29", "org/m39"])
        #expect(stage.hub.requests("/api/models").count == 8)
    }

    @Test func theTableSaysHowFast() async throws {
        let stage = try Self.stage([
            Self.model("llama", ["safetensors", "llama"], ["safetensors": .object(["total": 1_000_000])]),
            Self.model("llama4", ["safetensors", "llama4"]),
        ])
        let found = try await stage.run("search", "--runs")
        #expect(found.lines.count == 2 && found.lines[0].contains("MODEL") && found.lines[0].contains("TOKENS/S"))
        #expect(found.lines[1].firstMatch(of: /org\/llama\ +[\d.,]+\ /) != nil, "\(found.output)")
        let all = try await stage.run("search")
        #expect(all.lines.contains { settled($0).hasPrefix(" ▸  org/llama") } && !all.lines[0].contains("TOKENS/S"))
        #expect(all.lines.last == "▸ runs in hub try")
    }

    /// Where the Hub says nothing of a model's size, its files here do, and so does its last test.
    @Test func aCachedModelIsAsFastAsInfoSays() async throws {
        let stage = try Stage { root in
            let repository = try ModelRepository("org/tiny", in: root)
            try repository.card(Self.model("tiny", ["safetensors", "llama"]))
            for name in ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"] {
                try repository.write(name, Fixtures.bytes("tiny-shakespeare/\(name)"))
            }
        }
        func searched() async throws -> JSONObject {
            let models = try await stage.run("search", "--runs", "--json").document().objects("models")
            return try #require(models.first { $0["id"]?.string == "org/tiny" })
        }
        #expect(try await searched()["runs"]?["tokens_per_second"] == nil)
        #expect(try await stage.run("pull", "org/tiny").status == 0)
        let cached = try await searched()
        let info = try await stage.run("info", "org/tiny", "--json").document()
        let rate = try #require(cached["runs"]?["tokens_per_second"]?.double)
        #expect(rate == info["runs"]?["tokens_per_second"]?.double)
        #expect(
            cached["weights_bytes"]?.int == Int64(try Fixtures.bytes("tiny-shakespeare/model.safetensors").count))
        let table = try await stage.run("search", "--runs")
        #expect(table.lines[0].contains("TOKENS/S") && !table.output.contains("<="), "\(table.output)")
        #expect(try await stage.run("try", "org/tiny").status == 0)
        let tried = try await stage.run("info", "org/tiny", "--json").document()["tried"]?["tokens_per_second"]?
            .double
        #expect(try await searched()["runs"]?["tokens_per_second"]?.double == tried && tried != nil)
    }

    /// One shard of two says nothing of the size, and nothing of how fast the whole is.
    @Test func aPartOfASetIsNotTakenForIt() async throws {
        let stage = try Stage { root in
            let repository = try ModelRepository("org/sharded", in: root)
            try repository.card(Self.model("sharded", ["safetensors", "llama"]))
            try repository.copy("tiny-shakespeare-sharded")
        }
        let shard = "model-00001-of-00002.safetensors"
        #expect(try await stage.run("pull", "org/sharded", "config.json", shard).status == 0)
        func searched() async throws -> JSONObject {
            let models = try await stage.run("search", "--json").document().objects("models")
            return try #require(models.first { $0["id"]?.string == "org/sharded" })
        }
        let part = Int64(try Fixtures.bytes("tiny-shakespeare-sharded/\(shard)").count)
        let partly = try await searched()
        #expect(partly["weights_bytes"]?.int != part && partly["runs"]?["tokens_per_second"] == nil)
        #expect(try await stage.run("pull", "org/sharded").status == 0)
        #expect(try #require(try await searched()["weights_bytes"]?.int) > part)
    }
}
