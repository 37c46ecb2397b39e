import HubCore
import Support
import Testing

@testable import HubCLI

/// What `hub try` does with encoders, against the pipelines of transformers as `scripts/goldens_tasks.py` wrote it down.
@Suite struct TryEncoderTests {
    let stage: Stage
    private let golden: JSONObject
    private let masked: TemporaryFolder
    private let classifier: TemporaryFolder
    private let tokens: TemporaryFolder
    private let inference: TemporaryFolder
    private let reranker: String
    private let embedder: String
    private let decoder: String

    init() throws {
        stage = try Stage()
        golden = try #require(Fixtures.json("goldens/tasks.json").object)
        masked = try Self.model("BertForMaskedLM")
        classifier = try Self.model("BertForSequenceClassification")
        tokens = try Self.model("BertForTokenClassification")
        inference = try Self.model(
            "BertForSequenceClassification", labels: ["0": "contradiction", "1": "neutral", "2": "ENTAILMENT"])
        reranker = try Fixtures.path("micro/bert-reranker")
        embedder = try Fixtures.path("micro/bert")
        decoder = try Fixtures.path("tiny-shakespeare")
    }

    /// The encoder as a class of its config.json.
    private static func model(_ name: String, labels: JSONObject? = nil) throws -> TemporaryFolder {
        let folder = try TemporaryFolder(linking: "micro/bert-heads", except: ["config.json"])
        var configuration = try #require(Fixtures.json("micro/bert-heads/config.json").object)
        configuration["architectures"] = .array([.string(name)])
        if let labels { configuration["id2label"] = .object(labels) }
        try folder.write("config.json", .object(configuration))
        return folder
    }

    private func document(_ words: String...) async throws -> JSONObject {
        try await stage.run(["try"] + words + ["--exact", "--json"]).document()
    }

    private func close(_ found: JSON?, _ expected: JSON?) -> Bool {
        guard let found = found?.double, let expected = expected?.double else { return false }
        return abs(found - expected) < 1e-3
    }

    // MARK: Rankings

    @Test func textsAreRankedByAReranker() async throws {
        let said = try #require(golden["ranking"])
        let texts = try #require(said["texts"]?.array).compactMap(\.string)
        let query = try #require(said["query"]?.string)
        let place = try TemporaryFolder("texts")
        try place.write("texts.json", .array(texts.map { .string($0) }))
        try place.write("texts.txt", Array((texts.joined(separator: "\n") + "\n").utf8))
        let logits = try #require(said["logits"]?.array).compactMap(\.double)
        let order = texts.indices.sorted { logits[$0] > logits[$1] }
        for name in ["texts.json", "texts.txt"] {
            let found = try await document(reranker, "--query", query, "--texts", place(name))
            let ranking = found.objects("ranking")
            #expect(ranking.map { $0["index"]?.int } == order.map { Int64($0) })
            for (entry, index) in zip(ranking, order) {
                entry.expectKeys("index text score logit")
                #expect(entry["text"]?.string == texts[index])
                #expect(close(entry["logit"], .double(logits[index])))
                #expect(close(entry["score"], said["scores"]?.array?[index]))
            }
            #expect(found["verdict"]?.string == "pass" && found["embeddings"] == nil && found["speed"] == nil)
        }
        let page = try await stage.run("try", reranker, "--query", query, "--texts", place("texts.txt"), "--exact")
        #expect(page.lines[0] == query && page.lines[1] == "SCORE  TEXT" && page.lines.count == 2 + texts.count)
        #expect(page.lines[2] == "0.401  \(texts[order[0]])")
        let quiet = try await stage.run("try", reranker, "--query", query, "--texts", place("texts.txt"), "-q")
        #expect(quiet.lines == order.map { texts[$0] })
        for name in ["texts.json", "texts.txt"] {
            let bytes = try #require(try FileSystem.contents(place(name)))
            for file in ["-", "/dev/stdin"] {
                let piped = try await stage.run(
                    "try", reranker, "--query", query, "--texts", file, "-q",
                    input: String(decoding: bytes, as: UTF8.self))
                #expect(piped.lines == quiet.lines, "\(name) by \(file)")
            }
        }
        let folder = try await stage.run("try", reranker, "--query", query, "--texts", place.path)
        #expect(folder.status == 2 && folder.error.contains("is a folder"))
    }

    @Test func anEmbeddingModelRanksByCosine() async throws {
        let place = try TemporaryFolder("texts")
        let texts = ["What news from Rome?", "The king is dead.", "My lord!"]
        try place.write("texts.txt", Array(texts.joined(separator: "\n").utf8))
        let ranking = try await document(embedder, "--query", texts[1], "--texts", place("texts.txt"))
            .objects("ranking")
        let similar = try await document(embedder, "--similar", texts[1], "--texts", place("texts.txt"))
            .objects("similar")
        #expect(ranking.first?["index"]?.int == 1 && ranking.count == 3)
        #expect(ranking.map { $0["text"] } == similar.map { $0["text"] })
        for (entry, other) in zip(ranking, similar) { #expect(close(entry["score"], other["cosine"])) }
        let page = try await stage.run("try", embedder, "--query", texts[1], "--texts", place("texts.txt"))
        #expect(page.lines[1] == "COSINE  TEXT")
        // A model for masked words does so if asked to.
        let words = [masked.path, "--query", texts[1], "--texts", place("texts.txt")]
        #expect(try await stage.run(["try"] + words).status == 7)
        let asked = try await stage.run(["try"] + words + ["--task", "feature-extraction", "-q"])
        #expect(asked.lines.first == texts[1])
    }

    // MARK: Labels

    @Test func textsAndPairsGetLabels() async throws {
        let cases = try #require(golden["classification"]?.array).filter { $0["config"]?["problem_type"] == nil }
        #expect(cases.count > 3)
        for said in cases {
            let pair = said["pair"]?.string.map { ["--text-pair", $0] } ?? []
            let words = ["try", classifier.path, try #require(said["text"]?.string), "--exact", "--json"]
            let labels = try await stage.run(words + pair).document().objects("labels")
            let expected = try #require(said["labels"]?.array)
            #expect(labels.map { $0["label"] } == expected.map { $0["label"] } && labels.count == 3)
            for (label, said) in zip(labels, expected) {
                label.expectKeys("label score logit")
                #expect(close(label["score"], said["score"]) && close(label["logit"], said["logit"]))
            }
        }
        let page = try await stage.run("try", classifier.path, "The king is dead.", "--exact")
        #expect(page.lines.prefix(3) == ["The king is dead.", "LABEL  SCORE   LOGIT", "cat    0.598  -0.455"])
        #expect(try await stage.run("try", classifier.path, "The king is dead.", "-q").output == "cat\n")
        let screen = try await stage.run(
            "try", classifier.path, "The king is dead.", terminal: .init(columns: 80))
        #expect(screen.terminal.contains("████"))
        // One label is a label too.
        let one = try await document(reranker, "The king is dead.", "--text-pair", "What news?").objects("labels")
        #expect(one.count == 1 && one[0]["label"]?.string == "LABEL_0")
    }

    @Test func labelsOfOnesOwn() async throws {
        let said = try #require(golden["zero_shot"]?.array?.first)
        let text = try #require(said["text"]?.string)
        let labels = try await document(inference.path, text, "--labels", "love, war,the weather").objects("labels")
        let expected = try #require(said["labels"]?.array)
        #expect(labels.map { $0["label"] } == expected.map { $0["label"] })
        for (label, said) in zip(labels, expected) { #expect(close(label["score"], said["score"])) }
        let refused = try await stage.run("try", classifier.path, text, "--labels", "love,war")
        #expect(refused.status == 2 && refused.output.isEmpty)
        #expect(refused.error.contains("with a label for entailment"))
        #expect(try await stage.run("try", inference.path, text, "--labels", "love,,war").status == 2)
    }

    @Test func tokensGetLabels() async throws {
        for said in try #require(golden["tokens"]?.array) {
            let text = try #require(said["text"]?.string)
            let found = try await document(tokens.path, text).objects("tokens")
            let expected = try #require(said["tokens"]?.array)
            for key in ["token", "label", "start", "end"] {
                #expect(found.map { $0[key] } == expected.map { $0[key] }, "\(key)")
            }
            for (token, said) in zip(found, expected) {
                token.expectKeys("token label score start end")
                #expect(close(token["score"], said["score"]))
            }
        }
        let page = try await stage.run("try", tokens.path, "The king is dead.", "--exact")
        #expect(page.lines[1] == "TOKEN  LABEL  SCORE  CHARACTERS" && page.lines[2] == "The    cat    0.594  0-3")
    }

    // MARK: Masks

    @Test func masksAreFilled() async throws {
        for said in try #require(golden["fill"]?.array) {
            let text = try #require(said["text"]?.string)
            for text in [text, text.replacing("[MASK]", with: "<mask>")] {
                let masks = try #require(try await document(masked.path, text)["fill"]?.array)
                let expected = try #require(said["fill"]?.array)
                #expect(masks.count == expected.count)
                for (words, said) in zip(masks, expected) {
                    let (words, said) = (words.array ?? [], said.array ?? [])
                    #expect(words.count == 5 && words.map { $0["id"] } == said.map { $0["id"] })
                    #expect(words.map { $0["token"] } == said.map { $0["token"] })
                    for (word, said) in zip(words, said) {
                        #expect(close(word["probability"], said["probability"]))
                    }
                }
            }
        }
        let page = try await stage.run("try", masked.path, "My [MASK], the [MASK] hath left.")
        #expect(page.lines.filter { $0.hasPrefix("mask ") } == ["mask 1", "mask 2"] && page.lines.count == 15)
        #expect(try await stage.run("try", masked.path, "The [MASK] is dead.", "-q").output == "from\n")
    }

    @Test func aMaskedModelEmbedsIfAskedTo() async throws {
        let named = try await document(masked.path, "The king.", "--task", "feature-extraction")
        let flagged = try await document(masked.path, "--embed", "The king.")
        #expect(named["embeddings"] == flagged["embeddings"] && named["fill"] == nil)
        #expect(named["embeddings"]?.array?.first?.array?.count == 32)
        // Beside an answer.
        let both = try await document(masked.path, "The [MASK].", "--embed", "The king.")
        #expect(both["embeddings"] == flagged["embeddings"] && both["fill"]?.array?.count == 1)
    }

    // MARK: What does not fit

    @Test func whatDoesNotFitAModelSaysWhatItIsFor() async throws {
        let place = try TemporaryFolder("texts")
        try place.write("texts.txt", Array("a\nb\n".utf8))
        let query = ["--query", "c", "--texts", place("texts.txt")]
        let cases: [(model: String, words: [String], message: String, advice: String)] = [
            (masked.path, ["no mask"], "the PROMPT has no [MASK]; ", "'Paris is the [MASK] of France.'"),
            (
                masked.path, ["x [MASK]", "--temperature", "1"], "--temperature is for models that generate",
                "hub try "
            ),
            (masked.path, ["x [MASK]", "--chat"], "--chat is for models that generate", "hub try "),
            (
                masked.path, ["x [MASK]", "--text-pair", "y"], "--text-pair is for models that give texts labels",
                "hub try "
            ),
            (masked.path, ["x [MASK]", "--dimensions", "4"], "--dimensions is about vectors", "hub try "),
            (reranker, query + ["--prompt-name", "query"], "--prompt-name is about vectors", "hub rank "),
            (
                decoder, ["x", "--labels", "a,b"], "--labels is for models for natural language inference",
                "hub try "
            ),
            (classifier.path, ["x", "--task", "fill-mask"], "--task fill-mask does not fit", "hub classify "),
            (
                reranker, ["--texts", place("texts.txt")], "--texts needs --query",
                "'Who wrote Hamlet?' --texts FILE"
            ),
        ]
        for (model, words, message, advice) in cases {
            let result = try await stage.run(["try", model] + words)
            #expect(result.status == 2 && result.output.isEmpty, "\(words): \(result.error)")
            #expect(result.error.contains(message) && result.error.contains(advice), "\(result.error)")
        }
        let others = [
            (masked.path, "--task feature-extraction"), (classifier.path, "gives texts labels"),
            (tokens.path, "gives the tokens of a text labels"), (decoder, "continues texts"),
        ]
        for (model, message) in others {
            let result = try await stage.run(["try", model] + query)
            #expect(result.status == 7 && result.error.contains(message), "\(result.error)")
            #expect(result.error.contains("only rerankers and embedding models rank texts"))
            #expect(result.error.contains("hub search --task text-ranking"))
        }
        let chat = try await stage.run("try", masked.path, "--chat", terminal: .init(columns: 200))
        #expect(chat.status == 7 && chat.terminal.contains("finds the words behind masks; it does not answer"))
    }

    @Test func flagsThatDoNotFitTogetherAreNamed() async throws {
        let cases: [(words: [String], flag: String)] = [
            (["--query", "x"], "--texts"), (["x", "--query", "y", "--texts", "f"], "PROMPT"),
            (["--labels", "a,b"], "--labels"), (["--text-pair", "x"], "--text-pair"),
            (["--dimensions", "4"], "--dimensions"), (["--prompt-name", "query"], "--prompt-name"),
            (["x", "--labels", "a,b", "--text-pair", "y"], "--text-pair"),
            (["--query", "x", "--texts", "f", "--embed", "y"], "--embed"),
            (["x", "--task", "fill-mask", "--labels", "a,b"], "--labels"),
            (["x", "--task", "nothing"], "--task"), (["--inspect", "--query", "x", "--texts", "f"], "--inspect"),
        ]
        for (words, flag) in cases {
            let result = try await stage.run(["try", embedder] + words)
            #expect(result.status == 2 && result.error.contains(flag), "\(words): \(result.error)")
        }
    }

    // MARK: The smoke test

    @Test func eachKindHasItsSmokeTest() async throws {
        let kinds: [(model: String, check: String, list: String, name: String)] = [
            (masked.path, "masks", "fill", "words"), (classifier.path, "labels", "labels", "labels"),
            (tokens.path, "token labels", "tokens", "labels"), (reranker, "ranking", "ranking", "ranking"),
            (embedder, "embeddings", "ranking", "neighbors"),
        ]
        for (model, check, list, name) in kinds {
            let found = try await document(model)
            #expect(found["verdict"]?.string == "pass", "\(found.objects("checks"))")
            #expect(found.objects("checks").map { $0["name"]?.string }.suffix(2) == [check, "batched"])
            #expect(found[list]?.array?.isEmpty == false && found["generation"] == nil)
            #expect((found["speed"]?["tokens_per_second"]?.double ?? 0) > 0)
            let page = try await stage.run("try", model, "-v")
            for name in [check, "batched", "text", name, "speed", "load", "peak memory"] {
                #expect(page.lines.contains { $0.hasPrefix("  \(name) ") }, "\(model): \(name)")
            }
            #expect(page.lines[0].contains(#/^works: [\d.,]+ tokens/s, /#) && page.status == 0)
        }
        let other = try await document(masked.path, "--task", "feature-extraction")
        #expect(other.objects("checks").contains { $0["name"]?.string == "embeddings" })
    }

    @Test func theVerdictOfAnEncoderIsRemembered() async throws {
        let repository = try ModelRepository("org/masked", in: stage.root)
        for name in ["model.safetensors", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"] {
            try repository.write(name, Fixtures.bytes("micro/bert-heads/\(name)"))
        }
        try repository.write("config.json", try #require(try FileSystem.contents(masked("config.json"))))
        #expect(try await stage.run("try", "org/masked", "--yes", "-q").output == "pass\n")
        let tried = try #require(
            try await stage.run("ls", "--json").document().objects("models")[0]["tried"]?.object)
        #expect(tried["verdict"]?.string == "pass" && (tried["tokens_per_second"]?.double ?? 0) > 0)
    }
}
