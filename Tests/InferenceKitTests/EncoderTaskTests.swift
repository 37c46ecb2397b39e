import HubCore
import Support
import Testing

@testable import InferenceKit

/// What stands on encoders, against the pipelines of transformers and sentence-transformers' cross encoder, as
/// `scripts/goldens_tasks.py` wrote it down.
@Suite struct EncoderTaskTests {
    private let golden: JSON
    private let fixture: String

    init() throws {
        golden = try Fixtures.json("goldens/tasks.json")
        fixture = try #require(golden["fixture"]?.string)
    }

    private func open(_ changes: JSONObject, isExact: Bool = true) async throws -> LanguageModel {
        let folder = try TemporaryFolder(linking: fixture, except: ["config.json"])
        var configuration = try #require(Fixtures.json("\(fixture)/config.json").object)
        for (key, value) in changes.members { configuration[key] = value }
        try folder.write("config.json", .object(configuration))
        return try await LanguageModel.open(folder: folder.path, options: ModelOptions(isExact: isExact))
    }

    private func open(as name: String) async throws -> LanguageModel {
        try await open(["architectures": .array([.string(name)])])
    }

    private func expect(_ found: [TextLabel], _ golden: JSON?) throws {
        let said = try #require(golden?.array)
        #expect(found.map(\.label) == said.compactMap { $0["label"]?.string })
        for (label, said) in zip(found, said) {
            #expect(abs(label.score - (said["score"]?.double ?? .nan)) < 1e-4)
            if let logit = said["logit"]?.double { #expect(abs(label.logit - logit) < 1e-4) }
        }
    }

    // MARK: Labels

    @Test func labelsOfTextsAndPairs() async throws {
        let cases = try #require(golden["classification"]?.array)
        #expect(cases.count > 8)
        for said in cases {
            let model = try await open(try #require(said["config"]?.object))
            #expect(model.task == .classification && model.labels == ["cat", "dog", "owl"])
            let text = TextPair(try #require(said["text"]?.string), said["pair"]?.string)
            try expect(try await model.classify([text])[0], said["labels"])
        }
    }

    @Test func labelsOfOnesOwnByEntailment() async throws {
        let cases = try #require(golden["zero_shot"]?.array)
        #expect(cases.count > 8)
        for said in cases {
            let model = try await open(try #require(said["config"]?.object))
            let candidates = try #require(said["candidates"]?.array).compactMap(\.string)
            let found = try await model.classify(
                try #require(said["text"]?.string), as: candidates, isMultiple: said["multiple"]?.bool ?? false)
            try expect(found, said["labels"])
        }
        let plain = try await open(as: "BertForSequenceClassification")
        #expect(!plain.entails)
        #expect(try await thrown { _ = try await plain.classify("x", as: ["y"]) }.code == .unsupportedModel)
    }

    @Test func labelsOfTokensWithTheirPlaces() async throws {
        let model = try await open(as: "BertForTokenClassification")
        let cases = try #require(golden["tokens"]?.array)
        let found = try await model.labelTokens(cases.compactMap { $0["text"]?.string })
        #expect(found.count == cases.count && cases.count > 2)
        for (tokens, said) in zip(found, cases) {
            let said = try #require(said["tokens"]?.array)
            #expect(tokens.map(\.token) == said.compactMap { $0["token"]?.string })
            #expect(tokens.map(\.label) == said.compactMap { $0["label"]?.string })
            #expect(tokens.map(\.start) == said.compactMap { $0["start"]?.int.map(Int.init) })
            #expect(tokens.map(\.end) == said.compactMap { $0["end"]?.int.map(Int.init) })
            for (token, said) in zip(tokens, said) {
                #expect(abs(token.score - (said["score"]?.double ?? .nan)) < 1e-4)
            }
        }
    }

    // MARK: Masks

    @Test func theWordsBehindMasks() async throws {
        let model = try await open(as: "BertForMaskedLM")
        #expect(model.mask == "[MASK]" && model.tasks == [.fillMask, .embedding])
        for said in try #require(golden["fill"]?.array) {
            let text = try #require(said["text"]?.string)
            let found = try await model.fill(text)
            #expect(found == (try await model.fill(text.replacing("[MASK]", with: "<mask>"))))
            let masks = try #require(said["fill"]?.array)
            #expect(found.count == masks.count)
            for (words, said) in zip(found, masks) {
                let said = try #require(said.array)
                #expect(words.map(\.id) == said.compactMap { $0["id"]?.int.map(Int.init) } && words.count == 5)
                #expect(words.map(\.token) == said.compactMap { $0["token"]?.string })
                for (word, said) in zip(words, said) {
                    #expect(abs(word.probability - (said["probability"]?.double ?? .nan)) < 1e-4)
                }
            }
        }
        #expect(try await thrown { _ = try await model.fill("no mask") }.code == .invalidInput)
        let long = String(repeating: "king ", count: 60) + "[MASK]"
        #expect(try await thrown { _ = try await model.fill(long) }.message.contains("the model takes 40"))
    }

    // MARK: Rankings

    @Test func textsByHowWellTheyAnswer() async throws {
        let said = try #require(golden["ranking"])
        let texts = try #require(said["texts"]?.array).compactMap(\.string)
        let query = try #require(said["query"]?.string)
        func numbers(_ key: String) -> [Double] { said[key]?.array?.compactMap(\.double) ?? [] }
        let path = try Fixtures.path(try #require(golden["reranker"]?.string))
        let model = try await LanguageModel.open(folder: path, options: ModelOptions(isExact: true))
        #expect(model.task == .ranking)
        let found = try await model.rank(texts, for: query)
        #expect(found.map(\.index) == texts.indices.sorted { numbers("logits")[$0] > numbers("logits")[$1] })
        for text in found {
            #expect(text.text == texts[text.index])
            #expect(abs((text.logit ?? .nan) - numbers("logits")[text.index]) < 1e-4)
            #expect(abs(text.score - numbers("scores")[text.index]) < 1e-4)
        }
        // Its output is a label too.
        let label = try await model.classify([TextPair(query, texts[1])])[0]
        #expect(label.count == 1 && abs(label[0].logit - numbers("logits")[1]) < 1e-4)
    }

    @Test(arguments: [
        ("config_sentence_transformers.json", "activation_fn"),
        ("config.json", "sbert_ce_default_activation_function"),
    ]) func aRerankersOwnFunctionIsUsed(file: String, key: String) async throws {
        let name = try #require(golden["reranker"]?.string)
        let all: Set = ["config.json", "config_sentence_transformers.json", "modules.json"]
        let folder = try TemporaryFolder(linking: name, except: all)
        // Older models have config.json alone.
        for other in file == "config.json" ? [file] : all.sorted() {
            let read = try Fixtures.json("\(name)/\(other)")
            var object = read.object ?? [:]
            if other == file { object[key] = "torch.nn.modules.linear.Identity" }
            try folder.write(other, read.object == nil ? read : .object(object))
        }
        let model = try await LanguageModel.open(folder: folder.path)
        let found = try await model.rank(["The king is dead."], for: "Who is dead?")
        #expect(found[0].score == found[0].logit)
    }

    @Test func anEmbeddingModelRanksByCosine() async throws {
        let model = try await LanguageModel.open(folder: Fixtures.path("micro/bert"))
        let texts = ["My lord, the queen hath left the castle!", "The king is dead.", "What news from Rome?"]
        let found = try await model.rank(texts, for: texts[1])
        let vectors = try await model.embed(texts)
        #expect(found[0].index == 1 && found[0].logit == nil && model.tasks == [.embedding, .ranking])
        for text in found {
            let cosine = try #require(vectors[1].cosineSimilarity(to: vectors[text.index]))
            #expect(abs(text.score - cosine) < 1e-6)
        }
        #expect(found.map(\.score) == found.map(\.score).sorted(by: >))
    }

    // MARK: Any task

    /// In one step and alone, in any order.
    @Test func textsTogetherAreWhatTheyAreAlone() async throws {
        let texts = [
            "The king is dead.", "What news from Rome?", "My lord, the queen hath left the castle!", "Ay.",
        ]
        let classifier = try await open(as: "BertForSequenceClassification")
        let tokens = try await open(as: "BertForTokenClassification")
        let pairs = texts.map { TextPair($0, "Ay.") }
        for (index, text) in texts.enumerated() {
            #expect(try await classifier.classify([pairs[index]])[0] == classifier.classify(pairs)[index])
            #expect(try await tokens.labelTokens([text])[0] == tokens.labelTokens(texts)[index])
        }
    }

    @Test func whatAModelIsNotForSaysWhatItIsFor() async throws {
        let masked = try await open(as: "BertForMaskedLM")
        for error in [
            try await thrown { _ = try await masked.classify([TextPair("x")]) },
            try await thrown { _ = try await masked.labelTokens(["x"]) },
            try await thrown { _ = try await masked.rank(["x"], for: "y") },
            try await thrown { _ = try await open(as: "BertForTokenClassification").fill("x [MASK]") },
        ] {
            #expect(error.code == .unsupportedModel && error.message.contains("-"), "\(error.message)")
        }
        #expect(try await masked.embed(["The king"]).count == 1)
    }

    @Test func aFolderIsAProviderOfAllOfIt() async throws {
        let reranker = LocalModel(folder: try Fixtures.path("micro/bert-reranker"))
        func best(_ model: some Reranker) async throws -> Int {
            try await model.rank(["a", "b"], for: "c")[0].index
        }
        #expect(try await best(reranker) < 2)
        let embedder: any EmbeddingModel = LocalModel(folder: try Fixtures.path("micro/bert"))
        #expect(try await embedder.embed(["a"])[0].dimensions == 32)
    }
}

@Suite struct EmbeddingIndexTests {
    @Test func theNearestAreThoseOfTheLargestCosine() throws {
        var state: UInt64 = 1
        func number() -> Float {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Float(Int64(bitPattern: state) >> 32) / Float(Int32.max)
        }
        let vectors = (0..<2000).map { _ in EmbeddingResult(vector: (0..<27).map { _ in number() }) }
        let query = EmbeddingResult(vector: (0..<27).map { _ in number() })
        let index = try EmbeddingIndex(vectors)
        #expect(index.count == 2000 && index.dimensions == 27)
        let found = try index.nearest(to: query, count: 10)
        let cosines = vectors.map { $0.cosineSimilarity(to: query) ?? .nan }
        #expect(found.map(\.index) == Array(cosines.indices.sorted { cosines[$0] > cosines[$1] }.prefix(10)))
        for neighbor in found { #expect(abs(neighbor.cosine - cosines[neighbor.index]) < 1e-6) }
    }

    @Test func equalsKeepTheirOrderAndZeroIsNearNothing() throws {
        let (one, zero) = (EmbeddingResult(vector: [3, 4]), EmbeddingResult(vector: [0, 0]))
        let index = try EmbeddingIndex([zero, one, one])
        #expect(try index.nearest(to: one, count: 9).map(\.index) == [1, 2, 0])
        #expect(try index.nearest(to: one, count: 9).last?.cosine == 0)
        #expect(try index.nearest(to: one, count: 0).isEmpty)
        #expect(try EmbeddingIndex().nearest(to: one, count: 1).isEmpty)
    }

    @Test func vectorsOfAnotherLengthAreRefused() throws {
        var index = try EmbeddingIndex([EmbeddingResult(vector: [1, 2])])
        let other = EmbeddingResult(vector: [1, 2, 3])
        #expect(throws: AIError.self) { try index.add(other) }
        #expect(throws: AIError.self) { try index.nearest(to: other, count: 1) }
    }
}
