import HubCore
import Testing

@testable import Catalog

/// What is read from the names of models.
@Suite struct ModelNameTests {
    @Test(arguments: [
        ("Qwen/Qwen2.5-0.5B-Instruct", 500_000_000), ("meta-llama/Llama-3.2-1B", 1_000_000_000),
        ("mistralai/Mixtral-8x7B-v0.1", 56_000_000_000), ("facebook/opt-125m", 125_000_000),
        ("Qwen/Qwen3-30B-A3B", 30_000_000_000), ("Qwen/Qwen2.5-7B-Instruct-1M", 7_000_000_000),
        ("facebook/m2m100_418M", 418_000_000), ("TheBloke/Llama-2-7b.Q4", 7_000_000_000),
        ("moonshotai/Kimi-1T", 1_000_000_000_000), ("7b", 7_000_000_000),
    ])
    func parametersAreTold(_ id: String, _ count: Int64) { #expect(ModelName.parameters(in: id) == count) }

    @Test(arguments: [
        "openai-community/gpt2", "mlx-community/Llama-3.2-4bit", "BAAI/bge-m3", "google/gemma-3n-E4B",
        "7b/owner-is-no-model", "org/128k-context", "org/0b", "org/9999999999999b", "org/v1.5.7b.", "org/100MB", "",
    ])
    func whatSaysNothingIsNotRead(_ id: String) { #expect(ModelName.parameters(in: id) == nil, "\(id)") }

    /// The Hub counts the numbers that packed weights are packed into.
    @Test func packedWeightsAreWhatTheNameSays() throws {
        let packed = try record("mlx-community/Llama-3.2-1B-Instruct-4bit", tags: ["mlx", "safetensors"]) {
            $0.parameters = 193_000_000
            $0.usedStorage = 712_000_000
        }
        #expect(packed.likelyParameters?.count == 1_000_000_000 && packed.likelyParameters?.isFromName == true)
        #expect(packed.estimatedWeightBytes == 562_500_000)
        let plain = try record("meta-llama/Llama-3.2-1B", tags: ["safetensors"]) {
            $0.parameters = 1_235_814_400
            $0.usedStorage = 9_880_000_000
        }
        #expect(plain.likelyParameters?.count == 1_235_814_400 && plain.likelyParameters?.isFromName == false)
        #expect(plain.estimatedWeightBytes == 2_471_628_800)
        let gguf = try record("bartowski/Llama-3.2-1B-Instruct-GGUF", tags: ["gguf"]) {
            $0.usedStorage = 11_600_000_000
        }
        #expect(gguf.estimatedWeightBytes == 562_500_000, "one set, not all quantisations")
        #expect(try record("org/Big-8B-FP8").estimatedWeightBytes == 8_000_000_000)
        #expect(try record("org/unknown").estimatedWeightBytes == nil)
    }

    @Test func namesStandInForUnknownNumbers() throws {
        let catalog = try Place().open()
        try catalog.remember(
            [
                try record("org/Named-1B-Instruct", downloads: 5), try record("org/nothing", downloads: 9),
                try record("org/counted", downloads: 3) { $0.parameters = 2_000_000_000 },
                try record("org/Large-70B", downloads: 8),
            ], at: 1)
        #expect(
            try catalog.ids(query { $0.maximumParameters = 3_000_000_000 }) == [
                "org/Named-1B-Instruct", "org/counted",
            ])
        #expect(try catalog.ids(query { $0.minimumParameters = 3_000_000_000 }) == ["org/Large-70B"])
        #expect(
            try catalog.ids(query { $0.maximumWeightBytes = 6_000_000_000 }) == [
                "org/Named-1B-Instruct", "org/counted",
            ])
    }

    @Test func whatHasTheWordsInItsNameComesFirst() throws {
        let catalog = try Place().open()
        var records = try (0..<30).map { number in
            try record("Qwen/coder-\(number)", downloads: Int64(5000 - number), tags: ["llama-factory"])
        }
        records += [
            try record("meta-llama/Llama-3.2-1B", downloads: 10), try record("org/llama", downloads: 20),
            try record("org/gone-llama", downloads: 30),
        ]
        try catalog.remember(records, at: 1)
        let names = ["org/gone-llama", "org/llama", "meta-llama/Llama-3.2-1B"]
        #expect(try catalog.ids(query("llama", limit: 4)) == names + ["Qwen/coder-0"])
        #expect(try catalog.ids(query("llama", limit: 2)) == Array(names.prefix(2)))
        #expect(try catalog.ids(query("llama")) == names + (0..<30).map { "Qwen/coder-\($0)" })
        #expect(try catalog.ids(query("llama", limit: 1) { $0.sort = .downloads }) == ["Qwen/coder-0"])
    }
}
