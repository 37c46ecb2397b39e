import HubChatTemplates
import HubCore
import ModelFormats
import Support
import Synchronization
import Testing

@testable import InferenceKit

/// The files that a check reads, and its messages about others.
@Suite struct CheckedFilesTests {
    private static let full = ModelCheck.Options(isFull: true)

    private func status(_ name: String, _ check: ModelCheck) -> CheckResult.Status? {
        check.checks.first { $0.name == name }?.status
    }

    /// Keeps the folder while it is checked.
    private func checked(_ folder: TemporaryFolder, _ options: ModelCheck.Options = ModelCheck.Options())
        async throws
        -> ModelCheck
    {
        defer { withExtendedLifetime(folder) {} }
        return try await ModelCheck.run(folder.path, options: options)
    }

    private func bytes(_ fixture: String) throws -> [UInt8] {
        try #require(try FileSystem.contents(Fixtures.path(fixture)))
    }

    // MARK: Nothing to look at

    @Test func aFolderWithoutWeightsFails() async throws {
        let empty = try await checked(try TemporaryFolder())
        #expect(empty.verdict == .fail && empty.findings.map(\.detail) == ["there are no weights"])
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: ["model.safetensors"])
        #expect(try await ModelCheck.run(folder.path).findings.first?.detail == "there are no weights")
    }

    @Test(arguments: ["model.onnx", "tf_model.h5", "flax_model.msgpack", "model.mlmodel"])
    func whatCannotBeReadIsNoPass(name: String) async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: ["model.safetensors"])
        try folder.write(name, Array("garbage".utf8))
        let check = try await ModelCheck.run(folder.path)
        #expect(check.verdict == .warn)
        for name in ["tensors", "values"] { #expect(status(name, check) == .warn) }
        let found = try #require(check.findings.first)
        #expect(found.file == name && found.detail.hasPrefix("not checked: "), "\(found)")
        #expect(found.detail.hasSuffix(" weights (\(name))"))
        // Beside weights that were looked at it is only said.
        try FileSystem.createSymlink(
            Fixtures.path("tiny-shakespeare/model.safetensors"), at: folder("model.safetensors"))
        let both = try await ModelCheck.run(folder.path)
        #expect(both.verdict == .pass && both.findings.map(\.file) == [name])
    }

    /// The strides of one of its tensors repeat values.
    @Test func theNumbersOfAPickleThatAreNotInOnePieceAreSaidNotToBeLookedAt() async throws {
        let check = try await ModelCheck.run(Fixtures.path("formats/state.bin"), options: Self.full)
        #expect(check.verdict == .warn && check.findings.map(\.check) == ["values"])
        #expect(
            check.findings.first?.detail == "not checked: hub does not read some values of a pickle (state.bin)")
    }

    // MARK: Files in folders

    private func pipeline(_ unet: [UInt8]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(
            "model_index.json",
            .object([
                "_class_name": "X", "unet": .array(["diffusers", "UNet"]),
                "safety_checker": .array([.null, .null]),
            ]))
        try FileSystem.createDirectories(folder("unet"))
        try folder.write("unet/config.json", .object([:]))
        try folder.write("unet/diffusion_pytorch_model.safetensors", unet)
        return folder
    }

    @Test func thePartsOfAPipelineAreLookedAt() async throws {
        let sound = SafetensorsBytes.file([("a.weight", "F32", [4, 4])])
        let file = "unet/diffusion_pytorch_model.safetensors"
        let check = try await checked(try pipeline(sound), Self.full)
        #expect(check.verdict == .pass && check.findings.isEmpty)
        #expect(check.checks[1].detail == "1 tensor, not compared with a configuration")
        let cut = try await checked(try pipeline(Array(sound.dropLast())))
        #expect(cut.verdict == .fail && cut.findings.map(\.file) == [file])
        var infinite = sound
        infinite.replaceSubrange(infinite.count - 4..<infinite.count, with: [0, 0, 0x80, 0x7F])
        let found = try #require(
            try await checked(try pipeline(infinite), Self.full).findings.first)
        #expect(found.file == file && found.check == "values" && found.found == "inf")
        #expect(found.detail == "\(file): tensor \"a.weight\" has an infinity at element 15")
        let folder = try pipeline(sound)
        try folder.write("model_index.json", .object(["vae": .array(["diffusers", "AutoencoderKL"])]))
        let missing = try #require(try await ModelCheck.run(folder.path).findings.first)
        #expect(
            missing.detail == "model_index.json names vae, which is missing" && missing.expected == "vae")
    }

    @Test func anAdapterBesideAModelIsLookedAt() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare")
        try folder.write(
            "adapter_model.safetensors", Array(try bytes("tiny-shakespeare/model.safetensors").dropLast()))
        let check = try await ModelCheck.run(folder.path)
        #expect(check.verdict == .fail && check.findings.map(\.file) == ["adapter_model.safetensors"])
        #expect(status("tensors", check) == .pass)
    }

    @Test func theIndexOfAPartIsHeldAgainstItsShards() async throws {
        let folder = try pipeline(SafetensorsBytes.file([("a", "F32", [1])]))
        let name = "unet/diffusion_pytorch_model.safetensors"
        let index = "\(name).index.json"
        try folder.write(index, .object(["weight_map": .object(["a": "other.safetensors"])]))
        let missing = try #require(try await ModelCheck.run(folder.path).findings.first)
        #expect(missing.file == "unet/other.safetensors" && missing.expected == "other.safetensors")
        try folder.write(index, .object(["weight_map": .object(["b": "diffusion_pytorch_model.safetensors"])]))
        let wrong = try #require(try await ModelCheck.run(folder.path).findings.first)
        #expect(wrong.file == index && wrong.tensor == "b" && wrong.found == "nothing")
        try FileSystem.remove(folder(index))
        try FileSystem.rename(folder(name), to: folder("unet/x-00001-of-00002.safetensors"))
        let gap = try #require(try await ModelCheck.run(folder.path).findings.first)
        #expect(gap.detail == "unet/x-00002-of-00002.safetensors is missing, one of 2 shards")
    }

    @Test func whatIsInAnApplePackageIsNoPickle() async throws {
        let folder = try TemporaryFolder()
        try FileSystem.createDirectories(folder("m.mlpackage/Data/com.apple.CoreML/weights"))
        try folder.write("m.mlpackage/Data/com.apple.CoreML/weights/weight.bin", Array("no pickle".utf8))
        let check = try await ModelCheck.run(folder.path)
        #expect(check.verdict == .warn && status("pickles", check) == .pass)
        #expect(check.findings.allSatisfy { $0.detail.contains("Core ML weights") }, "\(check.findings)")
    }

    @Test func aSlashAtTheEndCostsNoName() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: ["model.safetensors"])
        try folder.write("model.safetensors", [1, 2, 3])
        let found = try #require(try await ModelCheck.run(folder.path + "/").findings.first)
        #expect(found.file == "model.safetensors")
        #expect(found.detail == "model.safetensors: it is too short for a safetensors file (3 bytes)")
    }

    // MARK: GGUF files

    @Test func everyGGUFFileIsLookedAt() async throws {
        let fixture = "tiny-shakespeare-gguf"
        let all = try await ModelCheck.run(Fixtures.path(fixture), options: Self.full)
        #expect(all.verdict == .pass && all.findings.isEmpty, "\(all.findings)")
        #expect(all.checks[1].detail == "38 needed, all present with the right shapes, in each of 3 files")
        #expect(status("tokenizer", all) == .pass)
        let folder = try TemporaryFolder(linking: fixture)
        // The smallest one, which was not checked.
        let name = "model-q4_0.gguf"
        let whole = try bytes("\(fixture)/\(name)")
        try folder.write(name, Array(whole.prefix(5000)))
        let cut = try await ModelCheck.run(folder.path)
        #expect(cut.verdict == .fail && cut.findings.map(\.file) == [name], "\(cut.findings)")
        let header = try GGUFFile(Fixtures.path("\(fixture)/\(name)")).header
        let tensor = try #require(header.tensors.first { $0.type.name == "Q4_0" })
        var damaged = whole
        damaged[tensor.byteRange.lowerBound + 1] = 0x7E
        try folder.write(name, damaged)
        let found = try #require(try await ModelCheck.run(folder.path, options: Self.full).findings.first)
        #expect(found.file == name && found.check == "values" && found.detail.hasPrefix("\(name): tensor "))
        #expect(found.detail.hasSuffix("has a block whose scale is NaN or infinite, at element 0"))
    }

    @Test func aBrokenGGUFFileIsToldOnce() async throws {
        let folder = try TemporaryFolder()
        let bytes = try bytes("tiny-shakespeare-gguf/model-q4_0.gguf")
        try folder.write("model.gguf", Array(bytes.prefix(300)))
        for path in [folder.path, folder("model.gguf")] {
            let check = try await ModelCheck.run(path)
            #expect(
                check.findings.count == 1 && check.findings[0].found?.hasPrefix("300") == true, "\(check.findings)")
            for name in ["tensors", "values", "tokenizer", "template"] { #expect(status(name, check) == .skip) }
        }
    }

    @Test func aSpecialTokenBeyondAGGUFVocabularyFails() async throws {
        let folder = try TemporaryFolder()
        func list(_ texts: [String]) -> [UInt8] {
            GGUFBytes.little(UInt32(8)) + GGUFBytes.little(UInt64(texts.count)) + texts.flatMap(GGUFBytes.text)
        }
        var file = GGUFBytes("llama", ["block_count": 1], tensors: [("blk.0.attn_norm.weight", [4])])
        file.pairs += [
            GGUFBytes.pair("tokenizer.ggml.model", 8, GGUFBytes.text("gpt2")),
            GGUFBytes.pair("tokenizer.ggml.pre", 8, GGUFBytes.text("gpt-2")),
            GGUFBytes.pair("tokenizer.ggml.tokens", 9, list(["a", "b"])),
            GGUFBytes.pair("tokenizer.ggml.merges", 9, list([])),
            GGUFBytes.pair("tokenizer.ggml.eos_token_id", 4, GGUFBytes.little(UInt32(99))),
        ]
        try folder.write("model.gguf", file.bytes)
        let check = try await ModelCheck.run(folder("model.gguf"))
        let found = try #require(check.findings.first { $0.status == .fail })
        #expect(found.check == "tokenizer" && found.detail == "eos_token_id is 99; the model has 2 tokens")
        #expect(found.expected == "an id below 2" && found.found == "99")
    }

    // MARK: Headers

    @Test func aFaultOfAHeaderHasItsParts() async throws {
        func found(_ header: String, data: Int) async throws -> CheckFinding {
            let folder = try TemporaryFolder()
            let length = (0..<8).map { UInt8(truncatingIfNeeded: header.utf8.count >> (8 * $0)) }
            try folder.write("model.safetensors", length + header.utf8 + [UInt8](repeating: 1, count: data))
            let check = try await ModelCheck.run(folder("model.safetensors"))
            #expect(check.findings.count == 1)
            return try #require(check.findings.first)
        }
        func tensor(_ type: String, _ shape: String, _ offsets: String) -> String {
            #""a":{"dtype":"\#(type)","shape":\#(shape),"data_offsets":\#(offsets)}"#
        }
        let cases: [(header: String, data: Int, expected: String, found: String)] = [
            ("{\(tensor("F32", "[2]", "[0,8]"))}", 5, "8", "5"),
            ("{\(tensor("Q7", "[2]", "[0,8]"))}", 8, "a dtype of the format", "Q7"),
            ("{\(tensor("F32", "[3]", "[0,8]"))}", 8, "12", "8"),
            ("{\(tensor("F32", "[1]", "[4,8]"))}", 8, "0", "4"),
            (
                "{\(tensor("F32", "[4294967296,4294967296]", "[0,8]"))}", 8, "at most 9223372036854775807 bits",
                "[4294967296,4294967296]"
            ),
            ("{\(tensor("F32", "[2]", "[0,8]")),\(tensor("F32", "[2]", "[0,8]"))}", 8, "each tensor once", "twice"),
        ]
        for each in cases {
            let finding = try await found(each.header, data: each.data)
            #expect(finding.check == "headers" && finding.tensor == "a")
            let (expected, actual) = (finding.expected ?? "", finding.found ?? "")
            #expect(expected.hasSuffix(each.expected) && actual.hasSuffix(each.found), "\(finding)")
        }
    }

    @Test func moreLayersThanTheWeightsHaveAreAnObstacle() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare")
        var config = try #require(Fixtures.json("tiny-shakespeare/config.json").object)
        config["num_hidden_layers"] = 1_000_000
        try folder.write("config.json", .object(config))
        let inspection = try await ModelInspection.inspect(folder: folder.path)
        #expect(inspection.obstacles.last == .missingLayers(held: 4, told: 1_000_000, file: "config.json"))
        #expect(try await ModelCheck.run(folder.path).verdict == .fail)
    }

    // MARK: Templates

    private func templates(_ count: Int, _ text: (Int) -> String) throws -> TemporaryFolder {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare")
        let entries = (0..<count).map { number in
            JSON.object(["name": .string("t\(number)"), "template": .string(text(number))])
        }
        try folder.write("tokenizer_config.json", .object(["chat_template": .array(entries)]))
        return folder
    }

    @Test func ofManyTemplatesSomeAreTriedAndTheRestIsSaid() async throws {
        let sound = "{% for m in messages %}{{ m.content }}{% endfor %}"
        let many = try await checked(try templates(40) { sound + "\($0)" })
        let found = try #require(many.findings.first { $0.check == "template" })
        #expect(found.status == .warn && found.detail == "8 more not tried: 32 are enough")
        // One text under many names is tried once.
        let alike = try await checked(try templates(40) { _ in sound })
        #expect(alike.checks.contains { $0.name == "template" && $0.detail == "renders" })
    }

    private func trials(
        _ count: Int, _ budget: TemplateBudget, _ text: (Int) -> String
    ) throws -> (trials: TemplateTrials, errors: [AIError]) {
        let folder = try templates(count, text)
        defer { withExtendedLifetime(folder) {} }
        let found = try #require(try ChatTemplates.read(model: folder.path))
        var trials = TemplateTrials(budget: budget)
        var errors: [AIError] = []
        for name in found.names {
            do throws(AIError) { try trials.run(found, name) } catch { errors.append(error) }
        }
        return (trials, errors)
    }

    @Test func allTrialsHaveOneTimeAndWhatEndsAtALimitIsNotTriedAgain() throws {
        // Each look at the clock is a second.
        let seconds = Atomic(0)
        let asked = Atomic(0)
        var budget = TemplateBudget()
        budget.clock = { Double(seconds.add(1, ordering: .relaxed).newValue) }
        budget.isCancelled = { asked.add(1, ordering: .relaxed).newValue < 0 }
        budget.steps = 1000
        let endless = "{% for i in range(100000) %}{% endfor %}"
        let one = try trials(1, budget) { _ in endless }
        #expect(one.errors.map(\.code) == [.malformedModel] && one.errors[0].message.contains("1000 steps"))
        #expect(asked.load(ordering: .relaxed) == 1, "it was tried in another form")
        let many = try trials(20, budget) { endless + "\($0)" }
        #expect(many.trials.count < 10)
        let left = 20 - many.trials.count
        #expect(many.trials.untried == "\(left) more not tried: the others took too long")
    }

    @Test func trialsCanBeInterrupted() throws {
        let budget = TemplateBudget(isCancelled: { true })
        let (_, errors) = try trials(1, budget) { _ in "x" }
        #expect(errors.map(\.code) == [.cancelled])
    }
}
