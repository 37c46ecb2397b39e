import HubCore
import Support
import Testing

@testable import Catalog

@Suite struct SearchTests {
    private let catalog: Catalog
    init() throws { catalog = try Place().open() }

    @Test func wordsMatchInAnyOrderAsPrefixesAndInAnyCase() throws {
        try catalog.remember(
            [
                try record("Qwen/Qwen3-0.6B-Instruct", downloads: 300, tags: ["conversational", "café", "日本語"]) {
                    $0.task = "text-generation"
                },
                try record("meta-llama/Llama-3.2-1B", downloads: 200, tags: ["pytorch"]),
                try record("gpt2", downloads: 100),
            ], at: 1)
        let qwen = "Qwen/Qwen3-0.6B-Instruct"
        for text in [
            "qwen3 instruct", "INSTRUCT qwen3", "qwe", "qw ins", "0.6b", "conversational", "generation text",
            "qwen/qwen3",
            "cafe", "CAFÉ", "cafe\u{301}", "日本", "日", "  qwen  ", "\"qwen3\"", "qwen*", "qwen3 AND instruct",
            "-qwen3-",
        ] where text != "qwen3 AND instruct" {
            #expect(try catalog.ids(query(text)) == [qwen], "\(text)")
        }
        #expect(try catalog.ids(query("wen3")) == [])
        #expect(try catalog.ids(query("q")) == [], "a single letter is a word")
        #expect(try catalog.ids(query("llama 3")) == ["meta-llama/Llama-3.2-1B"])
        #expect(try catalog.ids(query("qwen llama")) == [])
        #expect(try catalog.ids(query("gpt2")) == ["gpt2"])
        #expect(try catalog.ids(query("llama 3.2")) == ["meta-llama/Llama-3.2-1B"])
        for text in ["", "  ", "-/.", "\"", "'; DROP TABLE models; --"] {
            #expect(try catalog.ids(query(text)).count == (text.contains("DROP") ? 0 : 3), "\(text)")
        }
    }

    /// In these the index sees a boundary where Swift sees none.
    @Test(arguments: [
        "हिन्दी", "ภาษาที่", "מִלָּה", "عَرَبِيّ", "a\u{20DD}b", "aⒷc", "a\u{301}b", "a\u{327}b", "தமிழ்", "x\u{FE0F}y",
        "a\u{200D}b",
        "a\u{0}b", "👩‍💻code", "ｆｕｌｌ", "①②", "ǅ", "İstanbul", "ﬁne",
    ])
    func aWordOfAnyScriptIsFoundByItself(_ word: String) throws {
        try catalog.remember(
            [try record("org/name", tags: [word]), try record("org/other", tags: ["else"])], at: 1)
        #expect(try catalog.ids(query(word)) == ["org/name"])
    }

    @Test(arguments: [
        "AND", "OR", "NOT", "NEAR", "NEAR(a b)", "a OR b", "tags:x", "^a", "a + b", "a* b*", "(a", "a)", "{a b}: c",
        "\\", "%",
        "_", "?", "a\u{0}\"b",
    ])
    func theIndexsOwnLanguageIsOnlyWords(_ text: String) throws {
        try catalog.remember([try record("org/near", tags: ["x"])], at: 1)
        #expect(throws: Never.self) { try catalog.search(query(text)) }
    }

    @Test func aTextOfThousandsOfWordsIsSearchedToo() throws {
        let tags = (0..<2000).map { "w\($0)" }
        try catalog.remember([try record("org/name", tags: tags)], at: 1)
        #expect(try catalog.ids(query(tags.joined(separator: " "))) == ["org/name"])
        #expect(try catalog.ids(query((tags.dropLast() + ["absent"]).joined(separator: " "))) == [])
        #expect(try catalog.ids(query(String(repeating: "w", count: 100_000))) == [])
    }

    /// Too many words begin so for the index to be asked for each: rows are looked at, and after very many of them in vain
    /// the index gathers all the same.
    @Test func theBeginningOfHundredsOfWordsIsFoundWhereverItIs() throws {
        let words = (0..<400).map { "word\($0)" }
        try catalog.remember([try record("org/rare", downloads: 1, tags: words)], at: 1)
        #expect(try catalog.ids(query("word", limit: 5)) == ["org/rare"])
        #expect(try catalog.ids(query("wor RAR", limit: 5)) == ["org/rare"])
        #expect(try catalog.ids(query("wor none", limit: 5)) == [])
        try catalog.remember(try (0..<2100).map { try record("org/popular\($0)", downloads: 1000) }, at: 1)
        #expect(try catalog.ids(query("word", limit: 5)) == ["org/rare"])
        #expect(try catalog.ids(query("word org", limit: 5)) == ["org/rare"])
        for sort in ModelQuery.Sort.allCases {
            let found = try catalog.ids(query("word", limit: 5) { $0.sort = sort })
            #expect(found == ["org/rare"], "\(sort)")
        }
        #expect(try catalog.ids(query("word popular", limit: 5)) == [])
        try catalog.remember([try record("org/new", downloads: 2000) { $0.library = "word17" }], at: 1)
        #expect(try catalog.ids(query("word", limit: 5)) == ["org/new", "org/rare"])
    }

    @Test func whatIsCalledLikeTheTextComesFirst() throws {
        try catalog.remember(
            try (0..<30).map { try record("org/name-\($0)", downloads: 1000) } + [record("org/name", downloads: 1)],
            at: 1)
        #expect(try catalog.ids(query("org/name", limit: 3)).first == "org/name")
        #expect(try catalog.ids(query("org/name", limit: 3)).count == 3)
        #expect(try catalog.ids(query("org/name", limit: 100)).count == 31)
        #expect(try catalog.ids(query("name", limit: 3)).first != "org/name")
    }

    @Test func whatHasVanishedIsFoundOnlyWhereItIsAskedFor() throws {
        try catalog.remember([try record("org/a", downloads: 2), try record("org/b", downloads: 1)], at: 1)
        try catalog.write { try $0.run("UPDATE models SET vanished_at = 5 WHERE id = 'org/a'") }
        #expect(try catalog.ids(query("org")) == ["org/b"])
        #expect(try catalog.ids(query("org") { $0.includesVanished = true }) == ["org/a", "org/b"])
        #expect(try catalog.model(repository("org/a"))?.vanishedAt == 5)
        // A model seen again exists.
        try catalog.remember([try record("org/a")], at: 6)
        #expect(try catalog.ids(query("org")) == ["org/a", "org/b"])
    }

    @Test func theModelsOfAListAreSearchedAmongThemselves() throws {
        try fill()
        #expect(try numbers { ($0.ids, $0.text) = (["org0/name3", "org1/name1", "org9/x"], "org1") } == [1])
        #expect(try numbers { ($0.ids, $0.sort, $0.limit) = (["org0/name3", "org1/name1"], .likes, 1) } == [3])
        #expect(try numbers { $0.ids = [] } == [])
    }

    private func fill() throws {
        let licenses = ["mit", "apache-2.0", nil]
        try catalog.remember(
            try (0..<30).map { number in
                try record(
                    "org\(number % 3)/name\(number)", downloads: Int64(1000 - number),
                    tags: ["t\(number % 2)", "u\(number % 5)"]
                ) {
                    $0.author = "org\(number % 3)"
                    $0.task = number % 2 == 0 ? "text-generation" : nil
                    $0.library = number % 4 == 0 ? "mlx" : "transformers"
                    $0.license = licenses[number % 3]
                    $0.likes = number == 7 ? nil : Int64(number)
                    $0.trendingScore = number < 5 ? Double(number) : nil
                    $0.createdAt = Double(number * 7 % 30)
                    $0.updatedAt = Double(number * 11 % 30)
                    $0.gating = [.open, .automatic, .manual, nil][number % 4]
                }
            }, at: 1)
    }

    private func numbers(_ change: (inout ModelQuery) -> Void) throws -> [Int] {
        try catalog.ids(query(change: change)).map { Int($0.split(separator: "e").last!)! }
    }

    @Test func everyFilterNarrows() throws {
        try fill()
        let all = Array(0..<30)
        #expect(try numbers { _ in } == all)
        #expect(try numbers { $0.author = "org1" } == all.filter { $0 % 3 == 1 })
        #expect(try numbers { $0.task = "text-generation" } == all.filter { $0 % 2 == 0 })
        #expect(try numbers { $0.library = "mlx" } == all.filter { $0 % 4 == 0 })
        #expect(try numbers { $0.license = "mit" } == all.filter { $0 % 3 == 0 })
        #expect(try numbers { $0.tags = ["t1"] } == all.filter { $0 % 2 == 1 })
        #expect(try numbers { $0.tags = ["t1", "u3"] } == all.filter { $0 % 10 == 3 })
        #expect(try numbers { $0.tags = ["t1", "t0"] } == [])
        #expect(try numbers { $0.gated = true } == all.filter { [1, 2].contains($0 % 4) })
        #expect(try numbers { $0.gated = false } == all.filter { $0 % 4 == 0 })
        #expect(try numbers { ($0.author, $0.library, $0.text) = ("org0", "mlx", "name org0") } == [0, 12, 24])
        #expect(try numbers { $0.author = "ORG1" } == all.filter { $0 % 3 == 1 }, "as the Hub has it")
    }

    @Test func anAuthorIsKnownByTheIdWhereTheHubDidNotSay() throws {
        try catalog.remember([try record("org/a"), try record("organisation/b"), try record("org")], at: 1)
        #expect(try catalog.ids(query { $0.author = "org" }) == ["org/a"])
        #expect(try catalog.ids(query { $0.author = "or%" }) == [])
    }

    @Test func everySortGoesFromHighToLowWithTheUnknownLast() throws {
        try fill()
        let all = Array(0..<30)
        #expect(try numbers { $0.sort = .relevance } == all)
        #expect(try numbers { $0.sort = .downloads } == all)
        #expect(try numbers { $0.sort = .likes } == all.reversed().filter { $0 != 7 } + [7])
        #expect(try numbers { $0.sort = .trending } == [4, 3, 2, 1, 0] + Array(5..<30))
        #expect(try numbers { $0.sort = .created } == all.sorted { $0 * 7 % 30 > $1 * 7 % 30 })
        #expect(try numbers { $0.sort = .updated } == all.sorted { $0 * 11 % 30 > $1 * 11 % 30 })
    }

    @Test func theLimitCutsTheOrderedAnswer() throws {
        try fill()
        #expect(try numbers { $0.limit = 3 } == [0, 1, 2])
        #expect(try numbers { ($0.limit, $0.sort) = (2, .trending) } == [4, 3])
        #expect(try numbers { $0.limit = 0 } == [])
        #expect(try numbers { $0.limit = -1 }.count == 30)
        #expect(try numbers { $0.limit = .max }.count == 30)
        #expect(ModelQuery().limit == 20)
    }

    @Test func aModelMovesOnceItsDownloadsHaveDriftedFar() throws {
        try catalog.remember([try record("org/a", downloads: 1000), try record("org/b", downloads: 1100)], at: 1)
        #expect(try catalog.ids(query("org")) == ["org/b", "org/a"])
        // Three steps of the scale: stays.
        try catalog.remember([try record("org/a", downloads: 1120)], at: 2)
        #expect(try catalog.ids(query("org")) == ["org/b", "org/a"])
        #expect(try catalog.ids(query("org") { $0.sort = .downloads }) == ["org/a", "org/b"])
        try catalog.remember([try record("org/a", downloads: 1300)], at: 3)
        #expect(try catalog.ids(query("org")) == ["org/a", "org/b"])
        try catalog.remember([try record("org/a", downloads: 0)], at: 4)
        #expect(try catalog.ids(query("org")) == ["org/b", "org/a"])
        #expect(try catalog.ids(query("a")) == ["org/a"])
    }

    @Test func smallDriftsAddUpAndAreNotForgotten() throws {
        try catalog.remember([try record("org/a", downloads: 1000), try record("org/b", downloads: 1500)], at: 1)
        for downloads in stride(from: 1000, through: 2000, by: 50) {
            try catalog.remember([try record("org/a", downloads: Int64(downloads))], at: 2)
        }
        #expect(try catalog.ids(query("org")) == ["org/a", "org/b"])
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func theIndexAgreesWithAPlainFilterAfterManyUpdates(_ seed: UInt64) throws {
        var dice = SeededRandom(state: seed)
        let words = [
            "llama", "llama3", "qwen", "q", "tiny", "gguf", "8bit", "été", "日本", "mlx", "text", "generation", "a1",
        ]
        var models: [String: ModelRecord] = [:]
        for round in 0..<12 {
            var batch: [ModelRecord] = []
            for _ in 0..<25 {
                let name =
                    "\(["org", "llama", "q"].randomElement(using: &dice)!)/m\(Int.random(in: 0..<60, using: &dice))"
                batch.append(
                    try record(name) {
                        if Bool.random(using: &dice) { $0.downloads = .random(in: 0...2000, using: &dice) }
                        if Bool.random(using: &dice) {
                            $0.tags = (0..<Int.random(in: 0...4, using: &dice)).map { _ in
                                words.randomElement(using: &dice)!
                                    + (Bool.random(using: &dice) ? "-" + words.randomElement(using: &dice)! : "")
                            }
                        }
                        if Bool.random(using: &dice) { $0.task = words.randomElement(using: &dice)! }
                        if Int.random(in: 0..<4, using: &dice) == 0 {
                            $0.author = words.randomElement(using: &dice)!
                        }
                    })
            }
            for one in batch {
                models[one.repository.id.name] = models[one.repository.id.name]?.updated(with: one) ?? one
            }
            try catalog.remember(batch, at: Double(round))
            for _ in 0..<20 {
                let text = (0..<Int.random(in: 1...2, using: &dice)).map { _ in
                    let word = words.randomElement(using: &dice)!
                    return String(word.prefix(Int.random(in: 1...word.count, using: &dice)))
                }.joined(separator: " ")
                let expected = models.values.filter { plainlyMatches($0, text) }.map(\.repository.id.name)
                #expect(try catalog.ids(query(text)).sorted() == expected.sorted(), "\(text)")
            }
        }
        let (rows, indexed) = try catalog.write { connection in
            try connection.run("INSERT INTO search (search) VALUES ('integrity-check')")
            try connection.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, search, instance)")
            return (
                try connection.query("SELECT (1023 - step) << 32 | model FROM models ORDER BY 1") { $0.int(0) },
                try connection.query("SELECT DISTINCT doc FROM terms ORDER BY doc") { $0.int(0) }
            )
        }
        #expect(rows == indexed && rows.count == models.count)
    }

    /// What a search should find, without an index.
    private func plainlyMatches(_ record: ModelRecord, _ text: String) -> Bool {
        func words(_ text: String) -> [Substring] {
            text.lowercased().replacing("é", with: "e").split { !($0.isLetter || $0.isNumber) }
        }
        let document = words(
            ([record.repository.id.name, record.author ?? record.repository.id.owner ?? "", record.task ?? ""]
                + (record.tags ?? [])).joined(separator: " "))
        return words(text).allSatisfy { word in
            word.utf8.count == 1 ? document.contains(word) : document.contains { $0.hasPrefix(word) }
        }
    }
}

@Suite struct PopularityTests {
    @Test func moreDownloadsComeFirst() {
        let downloads: [Int64?] = [nil, 0, 1, 10, 31, 32, 33, 1000, 1_000_000_000, 1 << 40]
        for (few, many) in zip(downloads, downloads.dropFirst()) {
            #expect(row(many, 9) <= row(few, 9))
        }
        #expect(row(.min, 1) == row(0, 1) && row(.max, 1) == row(1 << 40, 1))
        #expect(row(6, 4_000_000_000) < row(5, 1))
        #expect(row(5, 1) < row(5, 2))
        #expect(row(.max, 1) > 0)
    }

    private func row(_ downloads: Int64?, _ model: Int64) -> Int64 {
        Popularity.row(step: Popularity.step(downloads: downloads), model: model)
    }

    @Test func stepsFollowEachOtherAndAreASixteenthWide() {
        var last: Int64 = -1
        for downloads in Int64(0)...5000 {
            let step = Popularity.step(downloads: downloads)
            #expect(step == last || step == last + 1)
            last = step
            let least = Popularity.downloads(ofStep: step)
            #expect(Popularity.step(downloads: least) == step && least <= downloads)
            #expect((downloads - least) * 16 <= least)
        }
    }

    @Test(
        arguments: [
            (0, nil, false), (0, 10, false), (0, 11, true), (80, 90, false), (1000, 1125, false),
            (1000, 1300, true), (1000, 700, true), (1000, nil, true), (0, .min, false), (0, -1, false),
            (1 << 40, .max, false),
        ] as [(Int64, Int64?, Bool)])
    func aModelMovesPastAQuarterAndPastTen(_ before: Int64, _ after: Int64?, _ moves: Bool) {
        let old = Popularity.step(downloads: before)
        #expect((Popularity.step(from: old, downloads: after) != old) == moves)
    }
}
