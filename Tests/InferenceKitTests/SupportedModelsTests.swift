import HubCore
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// The engine's registry as a value.
@Suite struct SupportedModelsTests {
    private let engine = RunnableModels.supported

    @Test func everyTypeIsThereOnce() throws {
        let names = engine.families.map(\.modelType)
        #expect(Set(names).count == names.count)
        let running = Set(engine.families.filter(\.runs).map(\.modelType))
        let transformers = Architectures.all.flatMap { $0.modelTypes.isEmpty ? $0.ggufNames : $0.modelTypes }
        #expect(running == Set(transformers + Nets.all.flatMap(\.types)))
        #expect(Set(names) == running.union(TensorPlan.transformers.keys))
        // Every GGUF name is one of some type.
        let ggufNames = Set(engine.families.compactMap(\.ggufName))
        let known = Set(Architectures.all.flatMap(\.ggufNames)).union(TensorPlan.gguf.keys)
        #expect(known.subtracting(ggufNames).isEmpty, "\(known.subtracting(ggufNames))")
        #expect(ggufNames.subtracting(known).isEmpty)
    }

    /// What is listed is what loading takes: nothing more, nothing less.
    @Test func formatsAndPackingsAreThoseOfTheLoader() throws {
        for (folder, format) in [
            ("tiny-shakespeare", "safetensors"), ("tiny-shakespeare-gguf", "gguf"),
            ("tiny-shakespeare-mlx-4bit", "mlx"), ("micro/opt-pickle", "pickle"),
        ] {
            #expect(engine.formats.contains(format))
            #expect(try FolderReading(try Fixtures.path(folder)).obstacles.isEmpty, "\(format)")
        }
        for method in ["gptq", "awq", "bitsandbytes", "fp8", "compressed-tensors", "mxfp4", "modelopt"] {
            let json = try JSON.parse(
                Array(#"{"model_type": "llama", "quantization_config": {"quant_method": "\#(method)"}}"#.utf8))
            let configuration = try ModelConfiguration(json, path: "config.json", isForgiving: true)
            let isRefused = Architectures.obstacles(configuration, stored: nil).contains(
                .quantization(method, packing: configuration.quantization?.packed))
            #expect(isRefused != engine.quantizations.contains(method), "\(method)")
        }
    }

    @Test func theClassDecidesBeforeTheTask() {
        var facts = SupportedModels.Facts()
        (facts.modelType, facts.formats, facts.task) = ("qwen3", ["safetensors"], "text-generation")
        #expect(engine.judge(facts) == .runs(format: "safetensors", generates: true))
        (facts.modelClass, facts.task) = ("Qwen3ForCausalLM", "feature-extraction")
        #expect(engine.judge(facts) == .runs(format: "safetensors", generates: false))
        facts.modelClass = "Qwen3ForQuestionAnswering"
        #expect(engine.judge(facts) == .fails(.modelClass("Qwen3ForQuestionAnswering")))
        // GGUF files name no class.
        facts.formats = ["safetensors", "gguf"]
        #expect(engine.judge(facts)?.isPossible == true)
        (facts.modelClass, facts.task, facts.formats) = (nil, "question-answering", ["safetensors"])
        #expect(engine.judge(facts) == nil)
    }

    /// Chronos is called T5 in config.json.
    @Test func forecastersAreFoundByTheirClass() {
        var facts = SupportedModels.Facts()
        (facts.modelType, facts.modelClass, facts.formats) = ("t5", "Chronos2Model", ["safetensors"])
        facts.task = "time-series-forecasting"
        #expect(engine.judge(facts) == .runs(format: "safetensors", generates: false))
        facts.modelClass = nil
        #expect(engine.judge(facts) == .runs(format: "safetensors", generates: false))
        (facts.modelType, facts.tags, facts.isTagged) = (nil, ["t5", "time series"], true)
        #expect(engine.judge(facts) == .runs(format: "safetensors", generates: false))
        (facts.modelType, facts.modelClass, facts.task) = ("t5", "T5ForConditionalGeneration", "text-generation")
        #expect(engine.judge(facts) == .runs(format: "safetensors", generates: true))
        #expect(engine.family("chronos")?.tasks == ["time-series-forecasting"])
        #expect(engine.family("t5")?.tasks == ["text-generation"])
    }

    @Test func memoryIsReadAtSomeRate() async throws {
        let rate = try await MemoryBandwidth.measure(threads: 1)
        #expect(rate > 1e8 && rate < 1e13)
    }
}
