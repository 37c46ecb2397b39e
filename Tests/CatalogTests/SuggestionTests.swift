import HubCore
import Testing

@testable import Catalog

/// What someone meant whose words find nothing.
@Suite struct SuggestionTests {
    private let catalog: Catalog

    init() throws {
        catalog = try Place().open()
        try catalog.remember(
            [
                try record("meta-llama/Llama-3-8B", downloads: 900, tags: ["gguf", "conversational"]),
                try record("org/llama-tiny", downloads: 10, tags: ["gguf"]),
                try record("org/lamb", downloads: 5),
                try record("Qwen/Qwen3-Coder", downloads: 800, tags: ["code"]),
                try record("org/cafe-mistral", downloads: 7, tags: ["日本語"]),
            ], at: 1)
    }

    private func suggestions(_ text: String, limit: Int = 5, kind: RepositoryKind = .model) throws -> [String] {
        try catalog.suggestions(for: text, kind: kind, limit: limit)
    }

    @Test(arguments: [
        ("lama", "llama"), ("llma", "llama"), ("lllama", "llama"), ("llana", "llama"), ("LLAAM", "llama"),
        ("mistrl", "mistral"), ("mistarl", "mistral"), ("msitrall", "mistral"),
        ("conversatoinal", "conversational"),
        ("qwem coder", "qwen coder"), ("qwem cdoer", "qwen coder"), ("llama/gguff", "llama/gguf"),
        ("cafee", "cafe"),
    ])
    func aSlipIsForgiven(_ typed: String, _ meant: String) throws {
        #expect(try suggestions(typed).first == meant)
    }

    @Test(arguments: [
        "", "llama", "lla", "gguf llama", "x", "qx", "zzzzzz", "lxxxa", "qwen llamz zzzzzz", "-", "\"", "AND",
        "a\u{0}b",
    ])
    func nothingIsProposedWhereNothingIsNearOrNothingIsWrong(_ typed: String) throws {
        #expect(try suggestions(typed) == [])
    }

    /// Each is a word, but no model has both.
    @Test func aKnownWordThatDoesNotFitIsReplaced() throws {
        #expect(try suggestions("lamb 8b") == [])
        try catalog.remember([try record("org/lhama")], at: 2)
        #expect(try suggestions("lhama") == [])
        #expect(try suggestions("lhama 8b") == ["llama 8b"])
    }

    @Test func theNearestComeFirstAndThenThoseOfThePopular() throws {
        try catalog.remember(
            [
                try record("a/plant", downloads: 8), try record("b/plane"), try record("c/plane", downloads: 900),
                try record("d/planets", downloads: 9000),
            ], at: 2)
        #expect(try suggestions("plana").prefix(2) == ["plane", "plant"])
        #expect(try suggestions("plana", limit: 1) == ["plane"])
        #expect(try suggestions("plana", limit: 0) == [] && suggestions("plana", limit: -1) == [])
    }

    @Test func everyProposalFindsSomething() throws {
        for typed in ["lama", "qwem", "codr", "gguv", "mistrak", "lma 8b"] {
            for text in try suggestions(typed) { #expect(try !catalog.search(query(text)).isEmpty, "\(text)") }
        }
    }

    @Test func aTextOfThousandsOfWordsIsLeftAlone() throws {
        #expect(try suggestions(Array(repeating: "lama", count: 9).joined(separator: " ")) == [])
        #expect(try suggestions(String(repeating: "lama ", count: 20_000)) == [])
        #expect(try suggestions(String(repeating: "lama", count: 20_000)) == [])
    }

    @Test func whatIsGoneIsNotProposed() throws {
        try catalog.write { try $0.run("UPDATE models SET vanished_at = 1 WHERE id = 'org/cafe-mistral'") }
        #expect(try suggestions("mistrl") == [])
    }

    @Test func otherKindsHaveWordsOfTheirOwn() throws {
        var data = ModelRecord(try repository("org/squad", .dataset))
        data.downloads = 1
        try catalog.remember([data], at: 1)
        #expect(try suggestions("squda", kind: .dataset) == ["squad"])
        #expect(try suggestions("squda") == [])
        #expect(try suggestions("lama", kind: .dataset) == [])
    }

    @Test func theNewestNewsIsKnown() throws {
        #expect(try catalog.newestSeen(.model) == 1)
        #expect(try catalog.newestSeen(.space) == nil)
        try catalog.remember([try record("org/later")], at: 7)
        #expect(try catalog.newestSeen(.model) == 7)
    }
}
