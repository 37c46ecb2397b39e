import HubCore
import Support
import Testing

@testable import Catalog

/// What a person types into one field.
@Suite struct QueryTermsTests {
    private func expect(
        _ typed: String, _ change: (inout ModelQuery) -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var expected = ModelQuery()
        change(&expected)
        #expect(try ModelQuery(parsing: typed) == expected, "\(typed)", sourceLocation: sourceLocation)
    }

    @Test func wordsStayWords() throws {
        for (typed, text) in [
            ("", ""), ("  \t ", ""), ("llama", "llama"), ("  qwen   coder ", "qwen coder"),
            ("org/name", "org/name"),
            ("Qwen3-0.6B", "Qwen3-0.6B"), ("日本語 モデル", "日本語 モデル"), ("a\u{3000}b", "a b"), ("\"a b\" c", "a b c"),
            ("\"\"", ""), ("don't", "don't"), ("12\"", "12\""), ("a\"b c\"d", "a\"b c\"d"),
        ] { try expect(typed) { $0.text = text } }
    }

    @Test func termsAreTheFlagsInTheQuery() throws {
        try expect("author:google") { $0.author = "google" }
        try expect("task:text-generation") { $0.task = "text-generation" }
        try expect("library:mlx") { $0.library = "mlx" }
        try expect("license:apache-2.0") { $0.license = "apache-2.0" }
        try expect("tag:en tag:fr tag:en") { $0.tags = ["en", "fr"] }
        try expect("format:GGUF") { $0.format = "gguf" }
        try expect("capability:code-generation") { $0.capability = .codeGeneration }
        try expect("TASK:x Author:Y") { ($0.task, $0.author) = ("x", "Y") }
    }

    @Test func wordsAndTermsMixInAnyOrder() throws {
        try expect("tiny author:google llama tag:en fast") {
            ($0.text, $0.author, $0.tags) = ("tiny llama fast", "google", ["en"])
        }
    }

    @Test func quotesHoldSpacesAndWords() throws {
        try expect("tag:\"text to speech\" a") { ($0.tags, $0.text) = (["text to speech"], "a") }
        try expect("library:\"Model Optimizer\"x") { ($0.library, $0.text) = ("Model Optimizer", "x") }
        try expect("\"author:google\"") { $0.text = "author:google" }
        try expect("\"autor:google\"") { $0.text = "autor:google" }
        try expect("tag:a\"b") { $0.tags = ["a\"b"] }
    }

    @Test func valuesMayHoldColonsAndAnyScript() throws {
        try expect("tag:license:mit") { $0.tags = ["license:mit"] }
        try expect("tag:日本語 author:é") { ($0.tags, $0.author) = (["日本語"], "é") }
        try expect("tag::") { $0.tags = [":"] }
    }

    /// Tags pasted from the Hub's pages work unchanged.
    @Test func theHubsOwnTagsAreTags() throws {
        try expect("dataset:squad arxiv:2310.06825") { $0.tags = ["dataset:squad", "arxiv:2310.06825"] }
        try expect("base_model:quantized:org/Name") { $0.tags = ["base_model:quantized:org/Name"] }
        try expect("Region:us") { $0.tags = ["region:us"] }
    }

    @Test func anyOtherColonIsAWordsOwn() throws {
        for typed in [
            "foo:bar", "https://huggingface.co/org/name", ":x", "a:b:c", "x:", "1:2", "org:google", "lib:x",
        ] {
            try expect(typed) { $0.text = typed }
        }
    }

    private func fault(_ typed: String) -> AIError? {
        #expect(throws: AIError.self, "\(typed)") { try ModelQuery(parsing: typed) }
    }

    @Test(arguments: [
        ("author:", "author: has no value"), ("tag:\"\"", "tag: has no value"),
        ("Tag:\"  \" x", "Tag: has no value"),
        ("x author: google", "author: has no value"),
        ("autor:x", "unknown term autor:, did you mean author:?"),
        ("Tags:x", "unknown term Tags:, did you mean tag:?"),
        ("licence:mit", "unknown term licence:, did you mean license:?"),
        ("libary:x", "unknown term libary:, did you mean library:?"),
        ("tsak:x", "unknown term tsak:, did you mean task:?"),
        ("\"a b", "the closing quotation mark of \"a b is missing"),
        ("x tag:\"a b", "the closing quotation mark of \"a b is missing"),
        ("format:zip", "\"zip\" is not a known format"),
        ("capability:magic", "\"magic\" is not a known capability"),
        ("author:a author:b", "author \"a\" and author \"b\" exclude each other: leave one out"),
        ("format:gguf format:mlx", "format \"gguf\" and format \"mlx\" exclude each other: leave one out"),
        (
            "capability:reasoning capability:embeddings",
            "capability \"reasoning\" and capability \"embeddings\" exclude each other: leave one out"
        ),
        ("format:\u{1B}[2J", "\"\\u{1B}[2j\" is not a known format"),
    ])
    func aFaultIsNamed(_ typed: String, _ message: String) {
        let fault = fault(typed)
        #expect(fault?.code == .invalidInput)
        #expect(fault?.message.lowercased() == message.lowercased())
    }

    @Test func theSameValueTwiceIsNoContradiction() throws {
        try expect("author:a x author:a") { ($0.author, $0.text) = ("a", "x") }
        try expect("capability:reasoning capability:reasoning") { $0.capability = .reasoning }
    }

    @Test func termsJoinWhatIsThereAlready() throws {
        var query = ModelQuery()
        (query.author, query.tags, query.text, query.limit) = ("google", ["en"], "tiny", 3)
        try query.take(terms: "author:google tag:fr llama")
        #expect(
            query.author == "google" && query.tags == ["en", "fr"] && query.text == "tiny llama" && query.limit == 3
        )
        let fault = #expect(throws: AIError.self) { try query.take(terms: "author:meta") }
        #expect(fault?.message == "author \"google\" and author \"meta\" exclude each other: leave one out")
        query.capability = .embeddings
        #expect(throws: AIError.self) { try query.take(terms: "capability:reasoning") }
    }

    /// Each value that there is can be written as a term and is read back.
    @Test(arguments: [UInt64(1), 2, 3])
    func whatIsQuotedComesBackAsItWas(_ seed: UInt64) throws {
        var dice = SeededRandom(state: seed)
        let letters = Array("ab:/.-_ é日\u{301}\u{1B}'\t\\*👩‍💻")
        for _ in 0..<200 {
            let value = String(
                (0..<Int.random(in: 1...8, using: &dice)).map { _ in letters.randomElement(using: &dice)! })
            guard value.contains(where: { !$0.isWhitespace }) else { continue }
            try expect("w tag:\"\(value)\" \"\(value)\"") { ($0.tags, $0.text) = ([value], "w \(value)") }
        }
    }
}
