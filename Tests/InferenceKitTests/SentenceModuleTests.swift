import HubCore
import Support
import Testing

@testable import HubTokenizers
@testable import InferenceKit

/// Modules of sentence models, as scripts/goldens_sentences.py wrote down what sentence-transformers makes of them.
@Suite struct SentenceModuleTests {
    private static let golden = Result { try Fixtures.json("goldens/sentence-modules.json") }
    private static let names = (try? golden.get())?["folders"]?.array?.compactMap { $0["name"]?.string } ?? []

    /// The folder micro/bert with other modules.
    private func folder(_ row: JSON, dropping left: Set<String> = []) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for name in ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"] {
            try folder.write(name, try Fixtures.bytes("micro/bert/\(name)"))
        }
        if row["cased"] == true {
            var tokenizer = try #require(try Fixtures.json("micro/bert/tokenizer.json").object)
            var normalizer = try #require(tokenizer["normalizer"]?.object)
            normalizer["lowercase"] = false
            normalizer["strip_accents"] = false
            tokenizer["normalizer"] = .object(normalizer)
            try folder.write("tokenizer.json", .object(tokenizer))
        }
        for (name, content) in row["files"]?.object?.members ?? [] where !left.contains(name) {
            try folder.write(name, try #require(content.string.flatMap { Base64.bytes($0) }))
        }
        return folder
    }

    private func row(_ name: String) throws -> JSON {
        try #require(try Self.golden.get()["folders"]?.array?.first { $0["name"]?.string == name })
    }

    @Test func everyKindIsThere() { #expect(Self.names.count == 14) }

    @Test(arguments: names) func vectorsAgree(name: String) async throws {
        let row = try row(name)
        let texts = try #require(try Self.golden.get()["texts"]?.array).compactMap(\.string)
        let folder = try folder(row)
        let model = try await LanguageModel.open(
            folder: folder.path, options: ModelOptions(threads: 1, isExact: true))
        #expect(model.similarity.rawValue == row["similarity"]?.string)
        for item in row["cases"]?.array ?? [] {
            let options = EmbeddingOptions(
                promptName: item["prompt"]?.string, dimensions: item["dimensions"]?.int.map(Int.init),
                normalizes: item["normalizes"] == true)
            let results = try await model.embed(texts, options: options)
            let expected = try #require(item["vectors"]?.array).map { $0.array?.compactMap(\.double) ?? [] }
            #expect(results.map(\.dimensions) == expected.map(\.count))
            for (result, vector) in zip(results, expected) {
                let difference = zip(result.vector, vector).map { abs(Double($0) - $1) }.max() ?? 1
                let largest = vector.map(abs).max() ?? 1
                #expect(difference < 1e-5 * max(1, largest), "\(name) \(options)")
            }
        }
    }

    @Test func whatAModelDoesNotHaveIsRefused() async throws {
        let folder = try folder(try row("prompts"))
        let model = try await LanguageModel.open(folder: folder.path, options: ModelOptions(threads: 1))
        #expect(model.promptNames == ["query", "passage"])
        let prompt = try await thrown {
            try await model.embed(["a"], options: EmbeddingOptions(promptName: "nothing"))
        }
        #expect(prompt.code == .invalidInput)
        #expect(prompt.message.contains("query, passage"), "\(prompt.message)")
        for dimensions in [0, 33] {
            let error = try await thrown {
                try await model.embed(["a"], options: EmbeddingOptions(dimensions: dimensions))
            }
            #expect(error.code == .invalidInput && error.message.contains("32"), "\(error.message)")
        }
    }

    @Test func brokenModulesAreNamed() async throws {
        func fault(_ name: String, _ file: String, _ change: (inout JSONObject) -> Void) async throws -> AIError {
            let folder = try self.folder(try row(name))
            let bytes = try #require(try FileSystem.contents(Path.join(folder.path, file)))
            var settings = try #require(try JSON.parse(bytes).object)
            change(&settings)
            try folder.write(file, .object(settings))
            return try await thrown { try await LanguageModel.open(folder: folder.path) }
        }
        let wide = try await fault("dense", "2_Dense/config.json") { $0["out_features"] = 23 }
        #expect(wide.code == .malformedModel && wide.message.contains("linear.weight"), "\(wide.message)")
        let odd = try await fault("dense", "2_Dense/config.json") { $0["activation_function"] = "os.system" }
        #expect(odd.code == .unsupportedModel && odd.message.contains("os.system"), "\(odd.message)")
        let tokens = try await fault("dense", "2_Dense/config.json") {
            $0["module_input_name"] = "token_embeddings"
        }
        #expect(tokens.code == .unsupportedModel && tokens.message.contains("token_embeddings"))
        let prompt = try await fault("prompts", "config_sentence_transformers.json") {
            $0["default_prompt_name"] = "x"
        }
        #expect(prompt.code == .malformedModel && prompt.message.contains("default_prompt_name"))
        let folder = try folder(try row("dense"), dropping: ["2_Dense/model.safetensors"])
        let missing = try await thrown { try await LanguageModel.open(folder: folder.path) }
        #expect(missing.message.contains("pytorch_model.bin"), "\(missing.message)")
    }

    /// A word for a switch, a number out of range: none of them is an absent value.
    @Test(
        arguments: [
            ("1_Pooling/config.json", ["pooling_mode_cls_token": "true"], "pooling_mode_cls_token"),
            ("1_Pooling/config.json", ["pooling_mode_cls_token": 1], "pooling_mode_cls_token"),
            ("1_Pooling/config.json", ["pooling_mode": 5], "pooling_mode"),
            ("1_Pooling/config.json", ["pooling_mode": .array([.int(5)])], "pooling_mode"),
            ("1_Pooling/config.json", ["pooling_mode_mean_tokens": false], "every pooling"),
            ("1_Pooling/config.json", ["include_prompt": "no"], "include_prompt"),
            ("2_Dense/config.json", ["bias": "false"], "bias"),
            ("2_Dense/config.json", ["use_residual": 1], "use_residual"),
            ("2_Dense/config.json", ["out_features": .double(1.5)], "out_features"),
            ("2_Dense/config.json", ["activation_function": 3], "activation_function"),
            ("sentence_bert_config.json", ["max_seq_length": "4"], "max_seq_length"),
            ("sentence_bert_config.json", ["max_seq_length": -5], "max_seq_length"),
            ("sentence_bert_config.json", ["max_seq_length": .double(1.5)], "max_seq_length"),
            ("sentence_bert_config.json", ["do_lower_case": "true"], "do_lower_case"),
            ("tokenizer_config.json", ["do_lower_case": "no"], "do_lower_case"),
            ("tokenizer_config.json", ["model_max_length": "12"], "model_max_length"),
            ("config_sentence_transformers.json", ["prompts": .object(["query": 1])], "query"),
        ] as [(String, JSONObject, String)])
    func aValueOfTheWrongTypeIsNamed(file: String, changes: JSONObject, key: String) async throws {
        let folder = try folder(try row("dense"))
        var settings = try FileSystem.contents(folder(file)).flatMap { try JSON.parse($0).object } ?? JSONObject()
        for (key, value) in changes.members { settings[key] = value }
        try folder.write(file, .object(settings))
        let error = try await thrown { try await LanguageModel.open(folder: folder.path) }
        #expect(error.code == .malformedModel && error.message.contains(key), "\(error.message)")
    }

    @Test func aLimitBeyondAllPositionsIsNone() async throws {
        let folder = try folder(try row("dense"))
        try folder.write("sentence_bert_config.json", #"{"max_seq_length": 1000000000000000019884624838656}"#)
        _ = try await LanguageModel.open(folder: folder.path)
    }

    /// The last: to Swift a slash and a combining mark are one character.
    @Test(arguments: ["../x", "a/../../x", "/x", "../\u{301}x"])
    func modulesLieInTheFolder(place: String) async throws {
        let folder = try folder(try row("dense"))
        let type: JSON = "sentence_transformers.models.Pooling"
        try folder.write("modules.json", .array([.object(["idx": 0, "path": .string(place), "type": type])]))
        let error = try await thrown { try await LanguageModel.open(folder: folder.path) }
        #expect(error.code == .malformedModel && error.message.contains("leaves the folder"), "\(error.message)")
    }
}
