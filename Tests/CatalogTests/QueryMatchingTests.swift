import HubCore
import Testing

@testable import Catalog

/// The conditions of a query, judged on one model.
@Suite struct QueryMatchingTests {
    private func sample() throws -> ModelRecord {
        try record("Google/Tiny-Model", downloads: 5, tags: ["gguf", "license:mit", "en", "mlx-vlm", "dataset:x"]) {
            $0.task = "text-generation"
            $0.library = "transformers"
            $0.parameters = 7_000_000_000
            $0.usedStorage = 15_000_000_000
            $0.gating = .automatic
        }
    }

    private func matches(_ record: ModelRecord, _ change: (inout ModelQuery) -> Void) -> Bool {
        query(change: change).matches(record)
    }

    @Test func everyConditionCountsAlone() throws {
        let model = try sample()
        #expect(ModelQuery().matches(model))
        #expect(matches(model) { $0.author = "google" } && !matches(model) { $0.author = "goog" })
        #expect(matches(model) { $0.task = "text-generation" } && !matches(model) { $0.task = "fill-mask" })
        #expect(matches(model) { $0.library = "transformers" } && matches(model) { $0.library = "gguf" })
        #expect(!matches(model) { $0.library = "mlx" })
        #expect(matches(model) { $0.license = "mit" } && !matches(model) { $0.license = "license:mit" })
        #expect(matches(model) { $0.tags = ["en", "gguf"] } && !matches(model) { $0.tags = ["en", "fr"] })
        #expect(matches(model) { $0.format = "gguf" } && !matches(model) { $0.format = "safetensors" })
        #expect(matches(model) { $0.gated = true } && !matches(model) { $0.gated = false })
        #expect(
            matches(model) { $0.ids = ["a", "Google/Tiny-Model"] }
                && !matches(model) { $0.ids = ["google/tiny-model"] })
        #expect(!matches(model) { $0.ids = [] } && !matches(model) { $0.kind = .dataset })
        // Words, order and limit are no conditions on a model.
        #expect(matches(model) { ($0.text, $0.limit, $0.sort) = ("else", 0, .likes) })
    }

    @Test func allConditionsHaveToHold() throws {
        let model = try sample()
        #expect(matches(model) { ($0.author, $0.task, $0.format) = ("google", "text-generation", "gguf") })
        #expect(!matches(model) { ($0.author, $0.task, $0.format) = ("google", "text-generation", "mlx") })
    }

    @Test func boundsIncludeTheirEnds() throws {
        let model = try sample()
        let seven: Int64 = 7_000_000_000
        #expect(matches(model) { ($0.minimumParameters, $0.maximumParameters) = (seven, seven) })
        #expect(
            !matches(model) { $0.minimumParameters = seven + 1 }
                && !matches(model) { $0.maximumParameters = seven - 1 })
        #expect(
            matches(model) { $0.maximumSize = 15_000_000_000 }
                && !matches(model) { $0.maximumSize = 14_999_999_999 })
        // 4.5 bits for each of 7e9.
        #expect(matches(model) { $0.maximumWeightBytes = 3_937_500_000 })
        #expect(!matches(model) { $0.maximumWeightBytes = 3_937_499_999 })
    }

    @Test func whatIsNotKnownIsNeitherInNorOut() throws {
        let bare = try record("org/bare")
        func verdict(_ change: (inout ModelQuery) -> Void) -> ModelQuery.Verdict {
            query(change: change).verdict(on: bare)
        }
        #expect(verdict { _ in } == .matches)
        #expect(verdict { $0.minimumParameters = 0 } == .unknown)
        #expect(verdict { $0.maximumParameters = .max } == .unknown)
        #expect(verdict { $0.maximumSize = .max } == .unknown)
        #expect(verdict { $0.maximumWeightBytes = .max } == .unknown)
        // Another condition decides.
        #expect(verdict { ($0.maximumSize, $0.author) = (.max, "other") } == .fails)
        var sized = bare
        sized.usedStorage = 100
        #expect(query { ($0.maximumSize, $0.minimumParameters) = (99, 1) }.verdict(on: sized) == .fails)
        #expect(query { ($0.maximumSize, $0.minimumParameters) = (100, 1) }.verdict(on: sized) == .unknown)
        // Text is not a number: it is never unknown.
        #expect(verdict { $0.task = "x" } == .fails && verdict { $0.gated = false } == .fails)
    }

    @Test func anAuthorIsThePartBeforeTheSlashWhereNobodySaid() throws {
        #expect(matches(try record("org/a")) { $0.author = "ORG" })
        #expect(!matches(try record("org")) { $0.author = "org" })
        #expect(matches(try record("org/a") { $0.author = "Other" }) { $0.author = "other" })
    }

    @Test(
        arguments: [
            (.textGeneration, "text-generation", nil, true), (.textGeneration, "text2text-generation", nil, true),
            (.textGeneration, "fill-mask", "text-generation", false),
            (.embeddings, "sentence-similarity", nil, true),
            (.embeddings, "feature-extraction", nil, true),
            (.transcription, "automatic-speech-recognition", nil, true),
            (.multimodal, "any-to-any", nil, true), (.imageGeneration, "text-to-image", nil, true),
            (.imageGeneration, nil, nil, false), (.codeGeneration, "text-generation", nil, false),
            (.codeGeneration, "text-generation", "code", true), (.codeGeneration, nil, "Code", false),
            (.reasoning, "text-generation", "reasoning", true), (.reasoning, nil, "non-reasoning", false),
        ] as [(ModelCapability, String?, String?, Bool)])
    func aCapabilityIsShownByTaskOrTags(
        _ capability: ModelCapability, _ task: String?, _ tag: String?, _ shown: Bool
    ) throws {
        let model = try record("org/m", tags: tag.map { [$0] }) { $0.task = task }
        #expect(matches(model) { $0.capability = capability } == shown)
    }

    @Test(
        arguments: [
            (nil, nil, "", nil), (nil, 500, "", 500), (nil, 0, "", nil), (1000, nil, "", 2000),
            (1000, 1500, "", 1500),
            (1000, 9000, "", 2000), (1600, nil, "gguf", 900), (1600, 800, "gguf", 800), (0, 700, "", 700),
            (-5, nil, "", nil), (.max, nil, "", .max), (.max, 12, "", 12),
        ] as [(Int64?, Int64?, String, Int64?)])
    func weightsAreEstimated(_ parameters: Int64?, _ size: Int64?, _ format: String, _ bytes: Int64?) throws {
        let model = try record("org/m", tags: [format]) { ($0.parameters, $0.usedStorage) = (parameters, size) }
        #expect(model.estimatedWeightBytes == bytes)
    }

    @Test func wordsAreLookedForAsTheHubAndTheCatalogDo() throws {
        let model = try sample()
        for text in ["", "tiny", "model TINY", "iny-mod", "google/tiny", "generation", "vlm en", "licen"] {
            #expect(query(text).containsWords(model), "\(text)")
        }
        for text in ["other", "tiny other", "eneration", "nse"] {
            #expect(!query(text).containsWords(model), "\(text)")
        }
    }

    @Test func thousandsOfTagsAreNoMatter() throws {
        let model = try record("org/m", tags: (0..<5000).map { "tag\($0)" })
        #expect(matches(model) { $0.tags = ["tag4999", "tag0"] } && !matches(model) { $0.tags = ["tag5000"] })
        #expect(query("tag4999").containsWords(model))
    }

    /// Two tags that only normalisation makes alike are two, as in the catalog.
    @Test func tagsAreBytes() throws {
        let model = try record("org/m", tags: ["caf\u{E9}"])
        #expect(matches(model) { $0.tags = ["caf\u{E9}"] } && !matches(model) { $0.tags = ["cafe\u{301}"] })
    }

    @Test func answersOfSeveralSourcesAreOrderedTogether() throws {
        func names(_ text: String, _ sort: ModelQuery.Sort, _ records: [ModelRecord]) -> [String] {
            query(text) { $0.sort = sort }.sorted(records) { $0 }.map(\.repository.id.name)
        }
        let records = [
            try record("a", downloads: 10) { ($0.likes, $0.usedStorage) = (3, 5) }, try record("B"),
            try record("c", downloads: 30) { ($0.createdAt, $0.updatedAt) = (9, 1) },
            try record("d", downloads: 10) { ($0.trendingScore, $0.usedStorage) = (2, 7) },
            try record("e", downloads: -1) { $0.likes = 0 },
        ]
        #expect(names("", .relevance, records) == ["c", "a", "d", "e", "B"])
        #expect(names("b", .relevance, records) == ["B", "c", "a", "d", "e"])
        #expect(names("b", .downloads, records) == ["c", "a", "d", "e", "B"])
        #expect(names("", .likes, records) == ["a", "e", "B", "c", "d"])
        #expect(names("", .trending, records).first == "d" && names("", .created, records).first == "c")
        #expect(names("", .updated, records) == ["c", "a", "B", "d", "e"])
        #expect(names("", .size, records) == ["d", "a", "B", "c", "e"])
    }
}
