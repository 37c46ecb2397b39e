import HubCore
import Support
import Testing

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
            (Self.tags("llama", "gptq"), "gptq weights are"), (Self.tags("mamba"), "its architecture is"),
        ] {
            let stage = try Self.stage("org/m", card)
            let result = try await stage.run("info", "org/m")
            #expect(result.output.contains("  runs        no: \(why) not supported yet\n"), "\(result.output)")
        }
        let pickle = try await Self.stage("org/m", [:], file: "model.bin").run("info", "org/m")
        #expect(pickle.output.contains("  runs        no: weights under other names are not supported yet\n"))
        let usual = try await Self.stage("org/m", [:], file: "pytorch_model.bin").run("info", "org/m")
        #expect(usual.status == 0 && !usual.output.contains("weights are not supported"))
    }

    @Test func aCuratedModelHasItsAliasAndItsVerdict() async throws {
        let yes = try await Self.stage("HuggingFaceTB/SmolLM2-135M-Instruct", [:]).run(
            "info", "HuggingFaceTB/SmolLM2-135M-Instruct")
        #expect(yes.output.contains("  alias       smollm2-135m\n") && yes.output.contains("  runs        yes\n"))
        let other = try await Self.stage("Qwen/Qwen3-8B", [:]).run("info", "qwen3-8b")
        #expect(other.output.contains("  alias       qwen3-8b\n") && other.output.contains("  runs        yes\n"))
        let unknown = try await Self.stage("org/m", [:]).run("info", "org/m")
        #expect(!unknown.output.contains("  runs  ") && !unknown.output.contains("  alias  "))
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
