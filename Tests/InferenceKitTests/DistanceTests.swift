import HubCore
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// Which row of a table a distance between two positions has, and what configurations of such models say.
@Suite struct DistanceTests {
    private typealias Distances = ModelDescription.Distances

    /// The distances from 0 on at which the row changes.
    private func changes(_ d: Distances, upTo end: Int, sign: Int) -> [Int] {
        (1..<end).filter { d.row(sign * $0) != d.row(sign * ($0 - 1)) }
    }

    /// As transformers' `MPNetEncoder.relative_position_bucket` gives them.
    @Test func halves() {
        let d = Distances(rows: 32, buckets: .halves(count: 32, furthest: 128))
        let steps = Array(1...8) + [12, 16, 23, 32, 46, 64, 91]
        #expect(changes(d, upTo: 600, sign: 1) == steps && changes(d, upTo: 600, sign: -1) == steps)
        #expect((d.row(0), d.row(7), d.row(600)) == (0, 7, 15))
        #expect((d.row(-1), d.row(-7), d.row(-600)) == (17, 23, 31))
    }

    /// As transformers' `make_log_bucket_position` gives them, for DeBERTa 3 and for a smaller table.
    @Test func middle() {
        let small = Distances(rows: 32, buckets: .middle(furthest: 64))
        #expect(changes(small, upTo: 600, sign: 1) == Array(1...9) + [11, 15, 20, 27, 35, 47])
        #expect((small.row(0), small.row(8), small.row(-8), small.row(599), small.row(-599)) == (16, 24, 8, 31, 0))
        let usual = Distances(rows: 512, buckets: .middle(furthest: 512))
        #expect((0..<512).reduce(0) { $0 + usual.row($1) } == 218_369)
        #expect((0..<512).reduce(0) { $0 + usual.row(-$1) } == 43_775)
        let plain = Distances(rows: 24, buckets: .middle(furthest: nil))
        #expect([-13, -12, -1, 0, 11, 12, 13].map(plain.row) == [0, 0, 11, 12, 23, 23, 23])
    }

    private func read(_ fixture: String, _ changes: String, stored: Set<String>? = nil) throws -> (
        description: ModelDescription, names: TensorNames, obstacles: [RunObstacle]
    ) {
        var members = try #require(Fixtures.json("micro/\(fixture)/config.json").object)
        for (key, value) in try #require(JSON.parse(changes).object).members { members[key] = value }
        let configuration = try ModelConfiguration(.object(members), path: "config.json")
        return try #require(Architectures.of(configuration)).describe(configuration, stored: stored)
    }

    @Test func settingsThatNothingRunsAreRefusedByName() throws {
        for (fixture, setting, value) in [
            ("mpnet", "relative_attention_num_buckets", "16"), ("deberta-v2", "conv_kernel_size", "3"),
            ("deberta-v2", "embedding_size", "16"), ("deberta", "talking_head", "true"),
        ] {
            #expect(try read(fixture, "{}").obstacles == [])
            #expect(try read(fixture, #"{"\#(setting)":\#(value)}"#).obstacles == [.setting(setting, value)])
        }
        for (fixture, setting) in [
            ("mpnet", #"{"max_position_embeddings":2}"#), ("deberta-v2", #"{"position_buckets":1}"#),
            ("deberta-v2", #"{"max_position_embeddings":1e15}"#), ("deberta", #"{"max_relative_positions":4e18}"#),
        ] {
            let error = #expect(throws: AIError.self) { try read(fixture, setting) }
            #expect(error?.code == .malformedModel, "\(setting)")
        }
    }

    @Test func scoresAreDividedByTheNumberOfTheirParts() throws {
        func scale(_ fixture: String, _ kinds: String) throws -> Float {
            try 1 / (read(fixture, #"{"pos_att_type":\#(kinds)}"#).description.layers[0].attention?.scale ?? 0)
        }
        for (fixture, kinds, parts) in [
            ("deberta-v2", #""p2c|c2p""#, 3), ("deberta-v2", #"["c2p"]"#, 2), ("deberta-v2", #""c2p|p2p""#, 2),
            ("deberta", #""c2p|p2p""#, 3), ("deberta", "null", 1),
        ] {
            #expect(try abs(scale(fixture, kinds) - Float(8 * parts).squareRoot()) < 1e-5, "\(fixture) \(kinds)")
        }
    }

    /// The authors' checkpoints have the head of training, and positions that nothing reads.
    @Test func theHeadIsTheOneThatTheFileHas() throws {
        let masked = #"{"architectures":["DebertaV2ForMaskedLM"]}"#
        for stem in ["lm_predictions.lm_head.dense", "cls.predictions.transform.dense"] {
            let names = try read("deberta-v2", masked, stored: [stem + ".weight"]).names
            #expect(names.stems[.headDense] == stem)
            for other in [
                "deberta.embeddings.position_embeddings.weight", "mask_predictions.dense.weight",
                "lm_predictions.lm_head.bias",
            ] {
                #expect(names.isOptional(other) || names.isOtherHead(other, prefix: "deberta."), "\(other)")
            }
        }
    }
}
