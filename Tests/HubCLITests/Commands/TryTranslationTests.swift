import HubCore
import Support
import Testing

@testable import HubCLI

/// `hub try --to`, against transformers.
@Suite struct TryTranslationTests {
    let stage: Stage
    private let model: String

    init() throws {
        stage = try Stage()
        model = try Fixtures.path("micro/m2m-100")
    }

    /// Without flags for it, the likeliest translation.
    @Test func aTranslationIsTheLikeliest() async throws {
        let golden = try Fixtures.json("goldens/micro-m2m-100.json")
        for entry in try #require(golden["cases"]?.array).prefix(4) {
            let source = entry["from"]?.string.map { ["--from", $0] } ?? []
            let words = [
                "try", model, try #require(entry["text"]?.string), "--to", try #require(entry["to"]?.string),
            ]
            let document = try await stage.run(
                words + source + ["--exact", "--max-tokens", "3", "--json", "--logits"]
            ).document()
            let ids = document["generation"]?["ids"]?.array?.compactMap(\.int) ?? []
            let expected = try #require(entry["greedy"]?.array).compactMap(\.int)
            #expect(!ids.isEmpty && ids == Array(expected.prefix(ids.count)))
            // Those of the text in its languages.
            let logits = try #require(document["logits"]?.array).compactMap(\.double)
            let best = try #require(logits.indices.max { logits[$0] < logits[$1] })
            #expect(Int64(best) == ids[0])
        }
    }

    @Test func languagesThatDoNotFitAreNamed() async throws {
        let marian = try Fixtures.path("micro/marian")
        let decoder = try Fixtures.path("tiny-shakespeare")
        let cases: [([String], String)] = [
            ([model, "hello"], "translates to 100 languages"),
            ([marian, "hello"], "choose one with --to: deu, fra"),
            ([model, "hello", "--to", "xx"], "does not translate to xx"),
            ([model, "--to", "fr"], "--to needs a PROMPT"),
            ([marian, "hello", "--from", "en", "--to", "fra"], "leave it out"),
        ]
        for (arguments, message) in cases {
            let run = try await stage.run(["try"] + arguments)
            #expect(run.status == 2 && run.error.contains(message), "\(arguments): \(run.error)")
        }
        let other = try await stage.run("try", decoder, "hello", "--to", "fr")
        #expect(other.status == 7 && other.output.isEmpty)
        #expect(other.error.contains("does not translate") && other.error.contains("--task translation"))
    }
}
