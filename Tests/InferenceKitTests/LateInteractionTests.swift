import Foundation
import HubCore
import Support
import Testing

@testable import InferenceKit

/// Models with a vector of each token, as scripts/goldens_interaction.py wrote down what sentence-transformers makes of them.
@Suite struct LateInteractionTests {
    private static let golden = Result { try Fixtures.json("goldens/late-interaction.json") }
    private static let names = (try? golden.get())?["models"]?.array?.compactMap { $0["name"]?.string } ?? []

    private func row(_ name: String) throws -> JSON {
        try #require(try Self.golden.get()["models"]?.array?.first { $0["name"]?.string == name })
    }

    /// The folder of a row: a micro model with other small files.
    private func folder(_ row: JSON, changing changes: [String: String?] = [:]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let base = try #require(row["folder"]?.string)
        for name in ["config.json", "model.safetensors"] {
            try folder.write(name, try Fixtures.bytes("micro/\(base)/\(name)"))
        }
        var tokenizer = try #require(try Fixtures.json("micro/\(base)/tokenizer.json").object)
        var model = try #require(tokenizer["model"]?.object)
        var vocabulary = try #require(model["vocab"]?.object)
        var added = try #require(tokenizer["added_tokens"]?.array)
        for token in try #require(row["added"]?.array) {
            let other = try #require(vocabulary.members.first { $0.1 == token["id"] })
            vocabulary[other.0] = nil
            var members = try #require(token.object)
            for key in ["single_word", "lstrip", "rstrip", "special"] { members[key] = false }
            members["normalized"] = true
            added.append(.object(members))
        }
        model["vocab"] = .object(vocabulary)
        (tokenizer["model"], tokenizer["added_tokens"]) = (.object(model), .array(added))
        try folder.write("tokenizer.json", .object(tokenizer))
        try folder.write("tokenizer_config.json", .object(["model_max_length": 100]))
        for (name, content) in row["files"]?.object?.members ?? [] where changes[name] != .some(nil) {
            try folder.write(name, try #require(content.string.flatMap { Base64.bytes($0) }))
        }
        for (name, content) in changes { if let content { try folder.write(name, Array(content.utf8)) } }
        return folder
    }

    private func open(_ folder: TemporaryFolder, threads: Int = 1) async throws -> LanguageModel {
        try await LanguageModel.open(folder: folder.path, options: ModelOptions(threads: threads, isExact: true))
    }

    @Test func everyKindIsThere() { #expect(Self.names.count == 13) }

    @Test(arguments: names) func scoresAgree(name: String) async throws {
        let row = try row(name)
        let queries = try #require(try Self.golden.get()["queries"]?.array).compactMap(\.string)
        let texts = try #require(try Self.golden.get()["texts"]?.array).compactMap(\.string)
        let folder = try folder(row)
        let model = try await open(folder)
        #expect(model.task == .ranking && model.tasks == [.ranking] && !model.embeds)
        for (query, scores) in zip(queries, try #require(row["scores"]?.array)) {
            let expected = (scores.array ?? []).compactMap(\.double)
            let ranked = try await model.rank(texts, for: query)
            #expect(ranked.map(\.score) == ranked.map(\.score).sorted(by: >))
            for text in ranked {
                #expect(abs(text.score - expected[text.index]) < 1e-4, "\(name), \(query): \(text.text)")
            }
            // Alone, each has the same bits.
            for text in ranked {
                #expect(try await model.rank([text.text], for: query)[0].score == text.score)
            }
        }
    }

    /// What lists say of a folder without opening it.
    @Test func modulesTellTheTask() throws {
        for name in Self.names {
            let row = try row(name)
            let hasModules = row["files"]?["modules.json"] != nil
            let task = try withExtendedLifetime(folder(row)) { ModelTask.ofModules(in: $0.path) }
            #expect(task == (hasModules ? .ranking : nil), "\(name)")
        }
        #expect(ModelTask.ofModules(in: try Fixtures.path("micro/bert")) == .embedding)
        let broken = try withExtendedLifetime(folder(row("pylate"), changing: ["modules.json": "{}"])) {
            ModelTask.ofModules(in: $0.path)
        }
        #expect(broken == .embedding)
    }

    @Test func threadsChangeNoBit() async throws {
        let folder = try folder(try row("pylate-windows"))
        let texts = try #require(try Self.golden.get()["texts"]?.array).compactMap(\.string)
        let (one, two) = (try await open(folder), try await open(folder, threads: 2))
        #expect(try await one.rank(texts, for: "Rome") == (try await two.rank(texts, for: "Rome")))
    }

    @Test func aTextHasNoVector() async throws {
        let model = try await LanguageModel.open(folder: try Fixtures.path("micro/colbert"))
        let error = try await thrown { try await model.embed(["a"]) }
        #expect(error.code == .unsupportedModel)
        #expect(error.message.contains("a vector of each token, and none of a text"), "\(error.message)")
    }

    /// Settings that are wrong or not done are named.
    @Test(arguments: [
        ("stanford", "artifact.metadata", #"{"query_maxlen": "many"}"#, "query_maxlen"),
        ("stanford", "artifact.metadata", #"{"similarity": "l2"}"#, "similarity l2"),
        ("stanford", "artifact.metadata", "[1]", "it is not an object"),
        (
            "pylate", "config_sentence_transformers.json", #"{"model_type": "ColBERT", "query_length": 0}"#,
            "query_length"
        ),
        (
            "pylate", "1_Dense/config.json", #"{"out_features": 16, "module_input_name": "sentence_embedding"}"#,
            "sentence_embedding"
        ),
        ("native", "2_MultiVectorMask/config.json", #"{"keep_only_token_ids": [1]}"#, "keep_only_token_ids"),
        (
            "native", "sentence_bert_config.json", #"{"query_expansion": {"strategy": "double", "length": 8}}"#,
            "double"
        ),
        ("native", "sentence_bert_config.json", #"{"query_expansion": {"strategy": "min"}}"#, "no length"),
        (
            "native", "config_sentence_transformers.json",
            #"{"model_type": "MultiVectorEncoder", "similarity_fn_name": "sum"}"#, "sum"
        ),
        // A window of 8 leaves tokens that see nothing of a short query.
        (
            "pylate-windows", "config_sentence_transformers.json",
            #"{"model_type": "ColBERT", "query_length": 32}"#, "window"
        ),
    ])
    func whatIsNotDoneIsNamed(name: String, file: String, content: String, named: String) async throws {
        let folder = try folder(try row(name), changing: [file: content])
        let error = try await thrown {
            let model = try await open(folder)
            return try await model.rank(["the king"], for: "a")
        }
        #expect([.malformedModel, .unsupportedModel].contains(error.code))
        #expect(error.message.contains(named), "\(error.message)")
    }

    @Test func theMatrixMustBeThere() async throws {
        let folder = try folder(try row("stanford"))
        try folder.write("model.safetensors", try Fixtures.bytes("micro/bert/model.safetensors"))
        let error = try await thrown { try await open(folder) }
        #expect(error.code == .malformedModel && error.message.contains("linear.weight"), "\(error.message)")
    }
}
