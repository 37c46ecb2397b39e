import HubCore
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// What configurations of encoders with rotary positions say, beyond what the goldens' do.
@Suite struct RotaryEncoderTests {
    private typealias Reading = (description: ModelDescription, names: TensorNames, obstacles: [RunObstacle])

    /// The description of a fixture with other settings.
    private func read(_ fixture: String, _ changes: String, stored: Set<String>? = nil) throws -> Reading {
        var members = try #require(Fixtures.json("micro/\(fixture)/config.json").object)
        for (key, value) in try #require(JSON.parse(changes).object).members { members[key] = value }
        let configuration = try ModelConfiguration(.object(members), path: "config.json")
        return try #require(Architectures.of(configuration)).describe(configuration, stored: stored)
    }

    @Test func settingsThatNothingRunsAreRefusedByName() throws {
        for (fixture, setting) in [
            ("nomic-bert-published", "moe_every_n_layers"), ("nomic-bert-published", "rotary_emb_scale_base"),
        ] {
            #expect(try read(fixture, #"{"\#(setting)":2}"#).obstacles.count == 1, "\(setting)")
        }
        for setting in ["prenorm", "causal", "parallel_block", "use_rms_norm"] {
            #expect(
                try read("nomic-bert-published", #"{"\#(setting)":true}"#).obstacles == [.setting(setting, "true")])
        }
        #expect(try read("nomic-bert-published", "{}").obstacles == [])
        #expect(
            try read("gte-new", #"{"layer_norm_type":"rms_norm"}"#).obstacles == [
                .setting("layer_norm_type", "rms_norm")
            ])
        #expect(
            try read("gte-new", #"{"position_embedding_type":"absolute"}"#).obstacles
                == [.setting("position_embedding_type", "absolute")])
        #expect(
            try read("gte-new", #"{"rope_scaling":{"type":"ntk","factor":2,"mixed_b":0.5}}"#).obstacles
                == [.setting("rope_scaling with mixed_b")])
        #expect(try read("esm2", #"{"is_folding_model":true}"#).obstacles == [.setting("is_folding_model", "true")])
        #expect(
            try read(
                "eurobert", #"{"architectures":["EuroBertForSequenceClassification"],"classifier_pooling":"odd"}"#
            ).obstacles == [.setting("classifier_pooling", "odd")])
        #expect(
            try read("embeddinggemma", #"{"architectures":["Gemma3ForCausalLM"]}"#).obstacles
                == [.setting("use_bidirectional_attention in a model that generates")])
    }

    @Test func nomicsBaseGrowsBehindThePositionsOfTraining() throws {
        let rotary = try read("nomic-bert-published", #"{"rotary_scaling_factor":2}"#).description.layers[0]
            .attention?.rotary
        #expect(try read("nomic-bert-published", #"{"vocab_size":300}"#).description.vocabulary == 320)
        #expect(rotary?.scaling == .dynamic(factor: 2, originalPositions: 2048) && rotary?.base == 1000)
    }

    @Test func windowsReachToBothSidesAsFar() throws {
        let modern = try read("modernbert", "{}").description
        #expect(modern.layers.map(\.attention?.window) == [nil, 5, 5, nil])
        #expect(modern.layers.map(\.attention?.rotary?.base) == [160_000, 10_000, 10_000, 160_000])
        let listed = #"{"layer_types":["sliding_attention","full_attention","full_attention","full_attention"]}"#
        #expect(try read("modernbert", listed).description.layers.map(\.attention?.window) == [5, nil, nil, nil])
        #expect(try read("embeddinggemma", "{}").description.layers.map(\.attention?.window) == [5, nil])
    }

    /// A prompt of such a name would switch on what is not run.
    @Test func additionsForTasksAreRefused() async throws {
        let model = try await LanguageModel.open(folder: Fixtures.path("micro/jina-v3-published"))
        #expect(try await model.embed(["hello"]).count == 1)
        let error = await #expect(throws: AIError.self) {
            try await model.embed(["hello"], options: EmbeddingOptions(promptName: "query"))
        }
        #expect(error?.code == .unsupportedModel)
    }

    @Test func poolingOfTheHead() throws {
        for (name, rows) in [("bos", ModelDescription.Head.Rows.first), ("mean", .mean), ("late", .meanOfOutputs)] {
            let settings =
                #"{"architectures":["EuroBertForSequenceClassification"],"classifier_pooling":"\#(name)"}"#
            #expect(try read("eurobert", settings).description.head?.rows == rows)
        }
    }

    /// A file's names may be of either spelling, whatever its configuration's are.
    @Test func namesAreThoseOfTheFile() throws {
        for (fixture, other) in [("nomic-bert", "nomic-bert-published"), ("gte", "gte-new")] {
            for (settings, weights) in [(fixture, other), (other, fixture)] {
                let folder = try TemporaryFolder(linking: "micro/\(weights)", except: ["config.json"])
                var members = try #require(Fixtures.json("micro/\(settings)/config.json").object)
                members["architectures"] = nil
                try folder.write("config.json", .object(members))
                let model = try LoadedModel(FolderReading(folder.path), options: ModelOptions())
                #expect(model.model.description.head == nil)
            }
        }
        let unpacked: Set = ["encoder.layer.0.attention.q_proj.weight"]
        #expect(try read("gte-new", #"{"pack_qkv":false}"#, stored: unpacked).names.packed.count == 1)
    }
}
