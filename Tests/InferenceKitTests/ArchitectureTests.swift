import HubCore
import InferenceKit
import Support
import Testing

/// Small models of each architecture as transformers saves them: `Tests/Peers/make_tensor_goldens.py` says how.
@Suite struct ArchitectureTests {
    private typealias Tensors = [(name: String, shape: [Int])]

    private func check(_ config: JSON, _ tensors: Tensors) async throws -> ModelCheck {
        let folder = try TemporaryFolder()
        try folder.write("config.json", Array(config.text().utf8))
        try folder.write("model.safetensors", SafetensorsBytes.file(tensors.map { ($0.name, "F16", $0.shape) }))
        return try await ModelCheck.run(folder.path)
    }

    private func failures(_ check: ModelCheck) -> [String?] {
        check.findings.filter { $0.check == "tensors" && $0.status == .fail }.map(\.tensor)
    }

    @Test func eachIsHeldAgainstItsOwnTensors() async throws {
        let goldens = try #require(try Fixtures.json("goldens/tensors.json").object)
        #expect(goldens.count >= 50)
        for (number, (name, golden)) in goldens.members.enumerated() {
            let config = try #require(golden["config"])
            let tensors: Tensors = try #require(golden["tensors"]?.object).members.map { ($0.key, $0.value.ids) }
            let sound = try await check(config, tensors)
            #expect(sound.findings.filter { $0.check == "tensors" }.isEmpty, "\(name): \(sound.findings)")
            #expect(sound.checks.contains { $0.name == "tensors" && $0.status == .pass }, "\(name)")

            let inner = tensors.filter { $0.name.contains(".1.") }
            let missing = inner[number * 7 % inner.count].name
            #expect(
                failures(try await check(config, tensors.filter { $0.name != missing })) == [missing], "\(name)")

            let wide = tensors.indices.filter {
                tensors[$0].shape.count == 2 && tensors[$0].shape[0] != tensors[$0].shape[1]
            }
            let at = try #require(wide.isEmpty ? nil : wide[number * 5 % wide.count])
            var turned = tensors
            turned[at].shape.reverse()
            #expect(failures(try await check(config, turned)) == [tensors[at].name], "\(name)")
        }
    }

    private static let sizes =
        #""hidden_size":16,"num_hidden_layers":3,"num_attention_heads":4,"vocab_size":32,"intermediate_size":24"#

    private func layers(_ rest: (Int) -> [(String, [Int])]) -> Tensors {
        var tensors: Tensors = [("model.embed_tokens.weight", [32, 16])]
        for layer in 0..<3 {
            for (name, shape) in rest(layer) { tensors.append(("model.layers.\(layer).\(name).weight", shape)) }
        }
        return tensors
    }

    /// Of an architecture that is not described.
    @Test func layersOfAnUnknownArchitectureAreHeldAgainstEachOther() async throws {
        let config = try JSON.parse(#"{"model_type":"unheard_of",\#(Self.sizes)}"#)
        let sound = try await check(config, layers { _ in [("up", [24, 16]), ("down", [16, 24])] })
        #expect(sound.findings.filter { $0.check == "tensors" }.isEmpty, "\(sound.findings)")
        #expect(
            sound.checks.contains {
                $0.name == "tensors" && $0.status == .skip && $0.detail.contains("hub does not know which of them")
            })

        let turned = try await check(
            config, layers { [("up", $0 == 1 ? [16, 24] : [24, 16]), ("down", [16, 24])] })
        #expect(failures(turned) == ["model.layers.1.up.weight"])
        let lacking = try await check(
            config, layers { [("up", [24, 16])] + ($0 == 2 ? [] : [("down", [16, 24])]) })
        #expect(
            lacking.findings.filter { $0.check == "tensors" }.map(\.detail) == [
                "layer 2 has no \"model.layers.2.down.weight\", which 2 others have"
            ])
        let two = try await check(config, layers { $0 == 2 ? [] : [("up", [24, 16])] })
        #expect(two.findings.map(\.detail).contains("the weights have 2 layers; config.json says 3"))
        let none = try await check(config, layers { _ in [] })
        #expect(none.findings.map(\.detail).contains("the weights have no layers, config.json says 3"))
        var narrow = layers { _ in [("up", [24, 16])] }
        narrow[0].shape = [31, 16]
        let rows = try await check(config, narrow)
        #expect(rows.findings.contains { $0.status == .warn && $0.tensor == "model.embed_tokens.weight" })
    }

    /// Attention and recurrence in turns, experts after dense layers: differences by kind are not faults.
    @Test func layersOfSeveralKindsAreNoFault() async throws {
        let config = try JSON.parse(#"{"model_type":"unheard_of",\#(Self.sizes)}"#)
        let mixed = try await check(
            config,
            layers { $0 == 1 ? [("attn", [16, 16]), ("up", [24, 16])] : [("ssm", [16, 8]), ("up", [24, 16])] })
        #expect(mixed.findings.filter { $0.check == "tensors" }.isEmpty, "\(mixed.findings)")
        let sized = try JSON.parse(#"{"model_type":"unheard_of","inner":[24,32,40],\#(Self.sizes)}"#)
        let growing = try await check(sized, layers { [("up", [24 + 8 * $0, 16])] })
        #expect(growing.findings.filter { $0.check == "tensors" }.isEmpty, "\(growing.findings)")
    }

    /// Qwen's embedding models name a class with a head and are saved without it.
    @Test func aCheckpointOfTheDecoderAloneNeedsNoHead() async throws {
        let goldens = try Fixtures.json("goldens/tensors.json")
        let config = try #require(goldens["qwen3"]?["config"])
        let tensors: Tensors = try #require(goldens["qwen3"]?["tensors"]?.object).members.map {
            ($0.key, $0.value.ids)
        }
        let bare = tensors.filter { $0.name != "lm_head.weight" }
        #expect(failures(try await check(config, bare)) == ["lm_head.weight"])
        let base = bare.map { (name: String($0.name.dropFirst("model.".count)), shape: $0.shape) }
        #expect(failures(try await check(config, base)).isEmpty)
    }

    @Test func expertsThatMLXStacksAreKnown() async throws {
        let goldens = try Fixtures.json("goldens/tensors.json")
        let config = try #require(goldens["mixtral"]?["config"])
        let tensors: Tensors = try #require(goldens["mixtral"]?["tensors"]?.object).members.map {
            ($0.key, $0.value.ids)
        }
        let names = ["w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"]
        var stacked: Tensors = []
        for (name, shape) in tensors {
            guard let at = name.firstRange(of: ".experts.") else {
                stacked.append((name, shape))
                continue
            }
            let parts = name[at.upperBound...].split(separator: ".")
            guard parts[0] == "0", let new = names[String(parts[1])] else { continue }
            stacked.append(("\(name[..<at.lowerBound]).switch_mlp.\(new).weight", [3] + shape))
        }
        let sound = try await check(config, stacked)
        #expect(sound.findings.filter { $0.check == "tensors" }.isEmpty, "\(sound.findings)")
        stacked.removeAll { $0.name.hasSuffix("layers.1.block_sparse_moe.switch_mlp.up_proj.weight") }
        #expect(
            failures(try await check(config, stacked)) == [
                "model.layers.1.block_sparse_moe.switch_mlp.up_proj.weight"
            ])
    }
}
