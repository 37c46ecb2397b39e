import HubCore
import Support
import Testing

@testable import HubCLI

/// The commands that are named by what comes out of a model: what they say is what the former flags of `hub try` said,
/// which are held against the references elsewhere.
@Suite struct UseCommandTests {
    let stage = try! Stage()
    private let place = try! TemporaryFolder("uses")

    private func document(_ words: [String]) async throws -> JSONObject {
        let result = try await stage.run(words + ["--json"])
        #expect(result.status == 0, "\(words): \(result.error)")
        return try result.document()
    }

    /// The same member of both documents, and a note of the former spelling alone.
    private func compare(_ now: [String], _ before: [String], _ member: String) async throws {
        let (one, other) = (try await document(now), try await document(before))
        #expect(one[member] != nil && one[member] == other[member], "\(now)")
        let (silent, noted) = (try await stage.run(now), try await stage.run(before))
        #expect(!silent.error.contains(" now\n") && noted.error.contains(" now\n"), "\(now): \(silent.error)")
    }

    @Test func ranking() async throws {
        let model = try Fixtures.path("micro/bert-reranker")
        try place.write("texts.txt", Array("A ship.\nHamlet is a play.\nThe sea.\n".utf8))
        try await compare(
            ["rank", model, "Who wrote Hamlet?", "--texts", place("texts.txt")],
            ["try", model, "--query", "Who wrote Hamlet?", "--texts", place("texts.txt")], "ranking")
        // Texts that were typed come before those of the file.
        let ranking = try await document(["rank", model, "q", "A ship.", "The sea."]).objects("ranking")
        #expect(Set(ranking.map { $0["text"]?.string }) == ["A ship.", "The sea."])
        let none = try await stage.run("rank", model, "q")
        #expect(none.status == 2 && none.error.contains("there is nothing to rank"))
        let wrong = try await stage.run("rank", Fixtures.path("tiny-shakespeare"), "q", "a")
        #expect(wrong.status == 7 && wrong.error.contains("only rerankers and embedding models rank texts"))
        #expect(wrong.error.contains("hub search --task text-ranking finds models that do"))
    }

    @Test func classifying() async throws {
        let folder = try TemporaryFolder(linking: "micro/bert-heads", except: ["config.json"])
        var configuration = try #require(Fixtures.json("micro/bert-heads/config.json").object)
        configuration["architectures"] = .array([.string("BertForSequenceClassification")])
        try folder.write("config.json", .object(configuration))
        let now = try await document(["classify", folder.path, "I like it."])
        let before = try await document(["try", folder.path, "I like it."])
        #expect(now["labels"] != nil && now["labels"] == before["labels"])
        let nothing = try await stage.run("classify", folder.path)
        #expect(nothing.status == 2 && nothing.error.contains("there is nothing to classify"))
        // A model for something else is not used for that.
        let wrong = try await stage.run("classify", Fixtures.path("tiny-shakespeare"), "Hi")
        #expect(wrong.status == 7 && wrong.error.contains("hub classify is not for this model"), "\(wrong.error)")
        #expect(wrong.error.contains("continues texts"))
        #expect(wrong.error.contains("hub search --task text-classification finds models that do"))
    }

    @Test func classifyingPictures() async throws {
        let picture = try Fixtures.path("pictures/444.jpg")
        let model = try Fixtures.path("micro/vit")
        let now = try await document(["classify", model, "--attach", picture])
        let before = try await document(["try", model, "--attach", picture])
        #expect(now["labels"] != nil && now["labels"] == before["labels"])
    }

    @Test func forecasting() async throws {
        let model = try Fixtures.path("micro/chronos-2")
        try place.write("series.csv", Array((1...40).map { "\($0)\n" }.joined().utf8))
        try await compare(
            ["forecast", model, place("series.csv"), "--horizon", "5"],
            ["try", model, "--series", place("series.csv"), "--horizon", "5"], "forecast")
    }

    @Test func tokenizing() async throws {
        let model = try Fixtures.path("tiny-shakespeare")
        try await compare(["tokenize", model, "Hello"], ["try", model, "--tokenize", "Hello"], "tokenized")
        try place.write("texts.txt", Array("Hello\nHamlet\n".utf8))
        let listed = try await document(["tokenize", model, "--texts", place("texts.txt")]).objects("tokenized")
        #expect(listed.map { $0["text"]?.string } == ["Hello", "Hamlet"])
        try place.write(
            "messages.json", Array(#"{"messages": [{"role": "user", "content": "Hi"}]}"#.utf8))
        try place.write("template", Array("{{ messages[0].content }}!".utf8))
        let rendered = try await document([
            "tokenize", model, "--render", place("messages.json"), "--template", place("template"),
        ])
        #expect(rendered["rendered"]?.string == "Hi!")
        #expect(try await stage.run("tokenize", model).status == 2)
    }

    @Test func evaluating() async throws {
        let model = try Fixtures.path("tiny-shakespeare")
        let text = try Fixtures.path("heldout.txt")
        try await compare(
            ["eval", model, text, "--tokens", "64"],
            ["try", model, "--perplexity", text, "--perplexity-tokens", "64"], "perplexity")
    }
}
