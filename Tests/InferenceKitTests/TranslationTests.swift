import HubCore
import HubTokenizers
import Support
import Testing

@testable import InferenceKit

/// Marian, M2M-100 and mBART, against transformers as `scripts/goldens_translations.py` wrote it down.
@Suite struct TranslationTests {
    private func open(_ name: String) async throws -> LanguageModel {
        try await LanguageModel.open(
            folder: Fixtures.path("micro/\(name)"), options: ModelOptions(isExact: true))
    }

    private static func translation(_ entry: JSON) -> Translation? {
        let (source, target) = (entry["from"]?.string, entry["to"]?.string)
        return source == nil && target == nil ? nil : Translation(from: source, to: target)
    }

    @Test(arguments: ["marian", "m2m-100", "mbart", "mbart50"]) func translationsAreTheSame(_ name: String)
        async throws
    {
        let golden = try Fixtures.json("goldens/micro-\(name).json")
        let model = try await open(name)
        #expect(model.translates && model.generates)
        let cases = try #require(golden["cases"]?.array)
        #expect(cases.count == 8)
        for entry in cases {
            let text = try #require(entry["text"]?.string)
            var config = GenerateConfig(maxTokens: 24, temperature: 0, ignoresEndOfSequence: true)
            config.translation = Self.translation(entry)
            let (source, start) =
                if let translation = config.translation { try model.model.start(text, translation) } else {
                    try model.model.start(text, true)
                }
            #expect(source == entry["ids"]?.ids, "\(text)")
            #expect(start == entry["start"]?.ids)
            let result = try await model.generate(prompt: text, config: config).collectWithMetadata()
            #expect(result.ids == entry["greedy"]?.ids, "\(text)")
        }
        let expected = try #require(golden["logits"]?.array).compactMap(\.double)
        let first = cases[0]
        let source = [RowInput](tokens: try #require(first["ids"]?.ids))
        let start = [RowInput](tokens: try #require(first["start"]?.ids))
        let logits = try await model.model.scheduler.alone {
            [model = model.model] workspace, isCancelled throws(AIError) in
            var last: [Float] = []
            try model.session().run(
                anew: start, answering: source, workspace, logitsFrom: start.count - 1, isCancelled: isCancelled
            ) { last = Array($1) }
            return last
        }
        #expect(logits.count == expected.count)
        for (logit, expected) in zip(logits, expected) { #expect(abs(Double(logit) - expected) < 1e-3) }
    }

    @Test func languagesAreThoseOfTheTokenizer() async throws {
        let marian = try await open("marian")
        #expect(marian.languages.sorted() == ["deu", "fra"])
        let many = try await open("m2m-100")
        #expect(many.languages.count == 100 && many.languages.contains("zh"))
        let twentyFive = try await open("mbart").languages
        #expect(twentyFive.count == 25 && twentyFive.contains("ro_RO"))
        #expect(try await open("mbart50").languages.count == 52)
        let text = try await many.translate("The ship sails.", Translation(to: "fr"))
        let other = try await many.translate("The ship sails.", Translation(from: "de", to: "fr"))
        #expect(text != other)
        for (model, translation, message) in [
            (marian, Translation(to: "xyz"), "does not translate to xyz"),
            (marian, Translation(from: "en", to: "fra"), "finds out the language"),
            (many, Translation(), "the language to translate to is missing"),
            (many, Translation(from: "xx", to: "fr"), "to xx"), (many, Translation(to: "</s>"), "to </s>"),
        ] {
            let error = await #expect(throws: AIError.self) { try await model.translate("The ship", translation) }
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        }
        let decoder = try await LanguageModel.open(folder: Fixtures.path("tiny-shakespeare"))
        #expect(!decoder.translates && decoder.languages.isEmpty)
        await #expect(throws: AIError.self) { try await decoder.translate("The ship", Translation(to: "fr")) }
    }

    /// T5's phrases are in its config.json.
    @Test func phrasesSayTheLanguages() async throws {
        let folder = try TemporaryFolder(linking: "micro/t5", except: ["config.json"])
        var config = try #require(try Fixtures.json("micro/t5/config.json").object)
        config["task_specific_params"] = .object([
            "summarization": .object(["prefix": "summarize: "]),
            "translation_en_to_de": .object(["prefix": "translate English to German: "]),
            "translation_en_to_fr": .object(["prefix": "translate English to French: "]),
        ])
        try folder.write("config.json", .object(config))
        let model = try await LanguageModel.open(folder: folder.path)
        #expect(model.languages == ["de", "fr"] && !model.translates)
        let (source, _) = try model.model.start("Hello", Translation(from: "en", to: "fr"))
        #expect(source == (try model.tokenizer.encode("translate English to French: Hello")))
        #expect(throws: AIError.self) { try model.model.start("Hello", Translation(from: "fr", to: "de")) }
    }
}
