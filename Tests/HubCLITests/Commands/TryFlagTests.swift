import HubCore
import Support
import Testing

@testable import HubCLI

/// What the flags of `hub try` ask for.
@Suite struct TryFlagTests {
    let stage: Stage
    let folder: String
    let encoder: String

    init() throws {
        stage = try Stage()
        folder = try Fixtures.path("tiny-shakespeare")
        encoder = try Fixtures.path("micro/bert")
    }

    private func generation(_ words: String...) async throws -> JSONObject {
        let all = ["try", folder, "ROMEO:", "--raw", "--max-tokens", "8", "--json"] + words
        return try #require(try await stage.run(all).document()["generation"]?.object)
    }

    private func ids(_ object: JSONObject) -> [Int64] { object["ids"]?.array?.compactMap(\.int) ?? [] }

    // MARK: Generation

    @Test func aPromptIsAnsweredWithoutASmokeTest() async throws {
        let document = try await stage.run(
            "try", folder, "ROMEO:", "--raw", "--max-tokens", "2", "--json"
        ).document()
        #expect(
            document.objects("checks").map { $0["name"]?.string } == ["headers", "supported", "memory and tensors"])
        #expect(document["verdict"]?.string == "pass" && document["mode"]?.string == "fast")
        #expect(document["speed"] == nil)
    }

    @Test func aSmokeTestTellsWhatItMeasured() async throws {
        let result = try await stage.run("try", folder, "-v")
        for name in ["repeatable", "batched"] {
            #expect(result.lines.contains { $0.hasPrefix("  \(name) ") && $0.contains("  pass  ") }, "\(name)")
        }
        for name in ["bandwidth", "load", "peak memory", "text", "speed"] {
            #expect(result.lines.contains { $0.hasPrefix("  \(name) ") }, "\(name)")
        }
        let document = try await stage.run("try", folder, "--exact", "--json").document()
        #expect(document["mode"]?.string == "exact")
        let speed = try #require(document["speed"]?.object)
        speed.expectKeys(
            "load_seconds tokens_per_second weights_bytes_per_second memory_bytes_per_second peak_memory_bytes")
        #expect((speed["weights_bytes_per_second"]?.double ?? 0) > 0)
        #expect((speed["memory_bytes_per_second"]?.double ?? 0) > 0)
    }

    @Test func aPresetIsOverriddenByOtherFlags() async throws {
        let greedy = ids(try await generation("--greedy"))
        #expect(ids(try await generation("--preset", "precise")) == greedy)
        // The same seed draws the same from the same distribution alone.
        let settings = ["--temperature", "1", "--top-p", "0.95", "--min-p", "0.05"]
        let all = ["try", folder, "ROMEO:", "--raw", "--json", "--seed", "3", "--max-tokens", "30"]
        func draw(_ words: [String]) async throws -> [Int64] {
            ids(try #require(try await stage.run(all + words).document()["generation"]?.object))
        }
        let drawn = try await draw(["--preset", "creative"])
        #expect(try await draw(settings) == drawn && drawn.count == 30)
        #expect(try await draw(["--preset", "creative", "--temperature", "5"]) != drawn)
        #expect(try await stage.run("try", folder, "x", "--preset", "wild").status == 2)
    }

    @Test func aBiasBansAToken() async throws {
        let first = try #require(ids(try await generation("--greedy")).first)
        let without = ids(try await generation("--greedy", "--logit-bias", "\(first):-100"))
        #expect(without.first != first)
        #expect(ids(try await generation("--greedy", "--logit-bias", "7:100")) == Array(repeating: 7, count: 8))
        for wrong in ["7", "x:1", "7:x", "-1:2", "7:1e9"] {
            let result = try await stage.run("try", folder, "x", "--logit-bias", wrong)
            #expect(result.status == 2 && result.error.contains("--logit-bias"), "\(wrong): \(result.error)")
        }
        #expect(try await stage.run("try", folder, "x", "--logit-bias", "5000:1").status == 2)
    }

    @Test func penaltiesAndTypicalSamplingCount() async throws {
        let words = ["--greedy", "--logit-bias", "7:30"]
        let all = ["try", folder, "ROMEO:", "--raw", "--max-tokens", "8", "--json"] + words
        func distinct(_ more: String...) async throws -> Int {
            Set(ids(try #require(try await stage.run(all + more).document()["generation"]?.object))).count
        }
        #expect(try await distinct() == 1)
        #expect(try await distinct("--presence-penalty", "50") > 1)
        #expect(try await distinct("--frequency-penalty", "50") > 1)
        let typical = ["--temperature", "1", "--seed", "1", "--top-p", "1", "--max-tokens", "30"]
        let base = ["try", folder, "ROMEO:", "--raw", "--json"] + typical
        let plain = try await stage.run(base).document()["generation"]?.object
        let narrow = try await stage.run(base + ["--typical-p", "0.2"]).document()["generation"]?.object
        #expect(ids(try #require(plain)) != ids(try #require(narrow)))
    }

    @Test func logprobsHaveTheirAlternatives() async throws {
        let generation = try await generation("--greedy", "--logprobs", "3")
        let tokens = generation.objects("logprobs")
        #expect(tokens.map { $0["id"]?.int } == ids(generation).map { $0 })
        for token in tokens {
            token.expectKeys("id text logprob top")
            let top = token.objects("top")
            // The likeliest token is the one that a greedy generation takes.
            #expect(top.count == 3 && top[0]["id"] == token["id"] && top[0]["logprob"] == token["logprob"])
            let values = top.compactMap { $0["logprob"]?.double }
            #expect(values == values.sorted(by: >) && values.allSatisfy { $0 <= 0 })
        }
        let page = try await stage.run("try", folder, "x", "--raw", "--max-tokens", "2", "--logprobs", "1")
        #expect(page.lines.contains { $0.hasPrefix("TOKEN ") && $0.contains("LOGPROB  ALTERNATIVES") })
        #expect(try await stage.run("try", folder, "--logprobs", "3").status == 2)
    }

    @Test func guessesChangeNothingButTheTime() async throws {
        func text(_ value: String) async throws -> JSONObject {
            let words = ["--greedy", "--max-tokens", "60", "--speculate", value, "--json"]
            let result = try await stage.run(["try", folder, "ROMEO:\nROMEO:\nROMEO:\n", "--raw"] + words)
            return try #require(try result.document()["generation"]?.object)
        }
        let (with, without) = (try await text("on"), try await text("off"))
        #expect(with["ids"] == without["ids"])
        #expect(without["drafted_tokens"]?.int == 0 && without["accepted_tokens"]?.int == 0)
        #expect((with["drafted_tokens"]?.int ?? 0) > 0)
    }

    @Test func howItComputesIsTold() async throws {
        func cache(_ words: String...) async throws -> String? {
            try await stage.run(["try", folder, "--inspect"] + words).lines
                .first { $0.contains("KV cache") }?.split(separator: " ").suffix(3).joined(separator: " ")
        }
        #expect(try await cache() == "token, as f16")
        #expect(try await cache("--exact") == "token, as f32")
        #expect(try await cache("--exact", "--kv", "q8") == "token, as q8")
        #expect(try await stage.run("try", folder, "--exact", "--fast").status == 2)
        let q8 = try await stage.run("try", folder, "ROMEO:", "--raw", "--kv", "q8", "--max-tokens", "4", "-q")
        #expect(q8.status == 0)
    }

    @Test func variablesSayHowItComputes() async throws {
        let words = ["try", folder, "x", "--raw", "--max-tokens", "1", "-q"]
        #expect(try await stage.run(words, with: ["HUB_THREADS": "1", "HUB_KERNELS": "scalar"]).status == 0)
        for (name, value) in [("HUB_THREADS", "many"), ("HUB_THREADS", "0"), ("HUB_KERNELS", "abacus")] {
            for words in [words, ["try", folder]] {
                let result = try await stage.run(words, with: [name: value])
                #expect(result.status == 2 && result.output.isEmpty, "\(name)=\(value): \(result.error)")
            }
        }
    }

    @Test func oneGGUFFileOfAFolderIsMeant() async throws {
        let folder = try Fixtures.path("tiny-shakespeare-gguf")
        let document = try await stage.run("try", folder, "--gguf", "model-q8_0.gguf", "--inspect", "--json")
            .document()
        #expect(document["path"]?.string == folder + "/model-q8_0.gguf" && document["dtype"]?.string == "Q8_0")
        let missing = try await stage.run("try", folder, "--gguf", "nope.gguf")
        #expect(missing.status == 3)
        #expect(
            missing.error == """
                hub: tiny-shakespeare-gguf has no file nope.gguf
                     it has model-f16.gguf, model-q4_0.gguf, model-q8_0.gguf

                """)
    }

    @Test func oneGGUFFileOfARepositoryIsFetched() async throws {
        let repository = try ModelRepository("org/many", in: stage.root)
        for name in ["model-f16.gguf", "model-q8_0.gguf"] {
            try repository.write(name, Fixtures.bytes("tiny-shakespeare-gguf/\(name)"))
        }
        let words = ["try", "org/many", "--gguf", "model-f16.gguf", "--inspect", "--json", "--yes"]
        #expect(try await stage.run(words).document()["dtype"]?.string == "F16")
        let snapshot = try await stage.path("org/many")
        #expect(try FileSystem.entries(snapshot) == ["model-f16.gguf"])
        // Another one of the same model is fetched beside it.
        let other = ["try", "org/many", "--gguf", "model-q8_0.gguf", "--inspect", "--json", "--yes"]
        #expect(try await stage.run(other).document()["dtype"]?.string == "Q8_0")
        #expect(try await stage.run("try", "org/many", "--gguf", "no.gguf", "--yes").status == 3)
    }

    // MARK: Vectors

    @Test func vectorsAreThoseOfTheReference() async throws {
        let golden = try Fixtures.json("goldens/micro-bert.json").object
        let sentences = try #require(golden).objects("sentences")
        let texts = sentences.compactMap { $0["text"]?.string }
        let embed = texts.flatMap { ["--embed", $0] }
        let document = try await stage.run(["try", encoder, "--json"] + embed).document()
        let vectors = try #require(document["embeddings"]?.array).map { $0.array?.compactMap(\.double) ?? [] }
        #expect(vectors.count == texts.count && document["generation"] == nil)
        for (vector, sentence) in zip(vectors, sentences) {
            let expected = sentence["embedding_mean_l2"]?.array?.compactMap(\.double) ?? []
            #expect(vector.count == 32 && zip(vector, expected).allSatisfy { abs($0 - $1) < 1e-3 })
        }
        // A prompt is a text too, and comes first.
        let prompted = try await stage.run("try", encoder, texts[1], "--embed", texts[0], "--json").document()
        #expect(
            prompted["embeddings"]?.array == [document["embeddings"]!.array![1], document["embeddings"]!.array![0]])
        let quiet = try await stage.run("try", encoder, texts[0], "-q")
        #expect(quiet.lines.count == 1 && quiet.lines[0].split(separator: " ").count == 32)
        let decoder = try await stage.run(
            "try", Fixtures.path("micro/qwen3-embedding"), "The king is dead.", "--json")
        #expect(try decoder.document()["embeddings"]?.array?.first?.array?.count == 32)
    }

    @Test func textsAreRankedByTheirCosine() async throws {
        let golden = try Fixtures.json("goldens/micro-bert.json").object
        let texts = try #require(golden).objects("sentences").compactMap { $0["text"]?.string }
        let cosines = (golden?["cosine"]?.array?.first?.array ?? []).compactMap(\.double)
        try #require(cosines.count == texts.count)
        let place = try TemporaryFolder("texts")
        try place.write("texts.json", Array(JSON.array(texts.map { .string($0) }).text().utf8))
        try place.write("texts.txt", Array(("\n" + texts.joined(separator: "\n") + "\n").utf8))
        let order = texts.indices.sorted { cosines[$0] > cosines[$1] }
        for name in ["texts.json", "texts.txt"] {
            let words = ["try", encoder, "--similar", texts[0], "--texts", place(name)]
            let similar = try await stage.run(words + ["--json"]).document().objects("similar")
            #expect(similar.map { $0["text"]?.string } == order.map { texts[$0] })
            for (entry, index) in zip(similar, order) {
                #expect(abs((entry["cosine"]?.double ?? 9) - cosines[index]) < 1e-3)
            }
            #expect(try await stage.run(words + ["-q"]).lines == order.map { texts[$0] })
        }
        #expect(try await stage.run("try", encoder, "--similar", "x").status == 2)
    }

    @Test func whatDoesNotEmbedSaysSo() async throws {
        let result = try await stage.run("try", folder, "--embed", "x")
        #expect(result.status == 7 && result.output.isEmpty)
        #expect(
            result.error.hasPrefix(
                "hub: --embed is hub embed now\nhub: tiny-shakespeare does not embed: it has no modules.json"))
        for flag in ["--chat", "--logits"] {
            let text = try await stage.run("try", encoder, "x", flag)
            #expect(text.status == 2 && text.error.contains("\(flag) is for models that generate"), "\(text.error)")
        }
        #expect(try await stage.run("try", encoder, "--perplexity", Fixtures.path("heldout.txt")).status == 7)
    }

    /// A prompt that does not fit is refused before it is shown, and there is no conversation to begin anew.
    @Test func aPromptThatDoesNotFitIsNotShown() async throws {
        for words in [["try", folder], ["try", folder, "--raw"], ["chat", folder]] {
            let result = try await stage.run(words + ["some words of a prompt", "--context", "2"])
            #expect(result.status == 2 && result.output.isEmpty, "\(words): \(result.output)")
            #expect(
                result.error.contains(
                    "the context has room for 2\n     shorten the prompt, or allow a longer --context if the model has one"
                ),
                "\(result.error)")
        }
        let fits = try await stage.run("try", folder, "Words", "--raw", "--max-tokens", "1")
        #expect(fits.status == 0 && fits.output.hasPrefix("Words\n"))
    }

    // MARK: Perplexity

    @Test func perplexityIsThatOfTheReference() async throws {
        let golden = try Fixtures.json("goldens/tiny-shakespeare.json")["perplexity"]?["bos_chunk256"]?[
            "perplexity"]
        let words = ["--perplexity", try Fixtures.path("heldout.txt"), "--perplexity-tokens", "2048", "--exact"]
        let document = try await stage.run(["try", folder, "--json"] + words).document()
        #expect(document["tokens_scored"]?.int == 2048 && document["generation"] == nil)
        let (found, expected) = (document["perplexity"]?.double ?? 0, golden?.double ?? 1)
        #expect(abs(found / expected - 1) < 1e-4, "\(found)")
        #expect(try await stage.run("try", folder, "--perplexity-tokens", "5").status == 2)
        #expect(try await stage.run("try", folder, "--perplexity", "./nope").status == 3)
    }

    // MARK: What is remembered

    @Test func aTestIsRememberedAndShown() async throws {
        let stage = try Stage.withModel()
        #expect(try await stage.run("pull", "org/tiny").status == 0)
        #expect(try await !stage.run("ls").output.contains("TRIED"))
        // A prompt is no test.
        #expect(try await stage.run("try", "org/tiny", "x", "--max-tokens", "1", "-q").status == 0)
        #expect(try await stage.run("ls", "--json").document().objects("models")[0]["tried"] == nil)
        #expect(try await stage.run("try", "org/tiny", "-q").output == "pass\n")
        for words in [["ls", "--json"], ["info", "org/tiny", "--json"]] {
            let document = try await stage.run(words).document()
            let tried = try #require((document.objects("models").first ?? document)["tried"]?.object)
            tried.expectKeys("at verdict tokens_per_second")
            #expect(tried["verdict"]?.string == "pass" && (tried["tokens_per_second"]?.double ?? 0) > 0)
            #expect(tried["at"]?.string?.hasSuffix("Z") == true)
        }
        let list = try await stage.run("ls")
        #expect(list.lines[0].contains("TRIED") && list.lines[1].contains(#/works, [\d,.]+ tokens/s/#))
        #expect(try await stage.run("info", "org/tiny").output.contains(#/\n  tried +works, [\d,.]+ tokens/s, /#))
    }
}
