import HubCore
import Support
import Testing

@testable import Catalog

@Suite struct ModelTests {
    private let catalog: Catalog
    private let place: Place
    init() throws {
        place = try Place()
        catalog = try place.open()
    }

    private func full() throws -> ModelRecord {
        try record("org/name", downloads: 100, tags: ["b", "a", "b"]) {
            $0.author = "org"
            $0.task = "text-generation"
            $0.library = "transformers"
            $0.license = "mit"
            $0.likes = 5
            $0.trendingScore = 1.5
            $0.parameters = 7
            $0.usedStorage = 8
            $0.gating = .manual
            $0.isPrivate = false
            $0.isDisabled = true
            $0.createdAt = 1.25
            $0.updatedAt = 2.5
        }
    }

    @Test func everyFieldIsKept() throws {
        try catalog.remember([try full()], at: 10)
        let known = try #require(try catalog.model(repository("org/name")))
        #expect(known.record == (try full()))
        #expect(known.seenAt == 10 && known.detailedAt == nil)
    }

    @Test func whatAnAnswerLeavesOutStaysAsItWasKnown() throws {
        try catalog.remember([try full()], detailed: true, at: 10)
        try catalog.remember([try record("org/name")], at: 20)
        let known = try #require(try catalog.model(repository("org/name")))
        #expect(known.record == (try full()))
        #expect(known.seenAt == 20 && known.detailedAt == 10)
    }

    @Test func whatAnAnswerSaysReplacesWhatWasKnown() throws {
        try catalog.remember([try full()], at: 10)
        try catalog.remember(
            [
                try record("org/name", downloads: 0, tags: ["c"]) {
                    $0.gating = .open
                    $0.isDisabled = false
                    $0.task = "fill-mask"
                }
            ], at: 20)
        let known = try #require(try catalog.model(repository("org/name"))).record
        #expect(known.downloads == 0 && known.tags == ["c"] && known.gating == .open && known.isDisabled == false)
        #expect(known.task == "fill-mask" && known.license == "mit")
        #expect(try catalog.ids(query("fill")) == ["org/name"])
        #expect(try catalog.ids(query("generation")) == [])
        try catalog.remember([try record("org/name", tags: [])], at: 30)
        #expect(try catalog.model(repository("org/name"))?.record.tags == nil)
    }

    /// A field that no column writes, reads or compares would be found here.
    @Test(arguments: ModelTests.changes.indices) func aChangeOfOneFieldAloneIsKept(_ number: Int) throws {
        let before = try full()
        var changed = before
        try catalog.remember([before], at: 10)
        Self.changes[number](&changed)
        #expect(changed != before)
        try catalog.remember([changed], at: 20)
        #expect(try catalog.model(repository("org/name"))?.record == changed)
    }

    private static let changes: [@Sendable (inout ModelRecord) -> Void] = [
        { $0.author = "other" }, { $0.task = "fill-mask" }, { $0.library = "mlx" }, { $0.license = "bsd" },
        { $0.tags = ["b"] }, { $0.downloads = 101 }, { $0.likes = 6 }, { $0.trendingScore = 2.5 },
        { $0.parameters = 8 }, { $0.usedStorage = 9 }, { $0.gating = .open }, { $0.isPrivate = true },
        { $0.isDisabled = false }, { $0.createdAt = 1.5 }, { $0.updatedAt = 3.5 },
        { $0.modelType = "llama" }, { $0.modelClass = "LlamaModel" }, { $0.ggufArchitecture = "llama" },
    ]

    @Test func everyColumnHasAChange() { #expect(Self.changes.count == ModelColumn.all.count) }

    @Test func whatAnAnswerThatHasEveryFieldLeavesOutIsGoneWhereTheHubCanTakeItBack() throws {
        try catalog.remember([try full()], at: 10)
        try catalog.remember([try record("org/name") { $0.isExhaustive = true }], at: 20)
        var left = try full()
        left.task = nil
        left.library = nil
        left.license = nil
        left.trendingScore = nil
        left.parameters = nil
        left.usedStorage = nil
        left.gating = nil
        #expect(try catalog.model(repository("org/name"))?.record == left)
    }

    @Test func whatIsNotKnownIsNil() throws {
        #expect(try catalog.model(repository("org/name")) == nil)
        #expect(try catalog.search(query()) == [])
    }

    @Test func idsThatDifferByCaseAreTwoModels() throws {
        try catalog.remember([try record("Org/Name", downloads: 1), try record("org/name", downloads: 2)], at: 1)
        #expect(try catalog.model(repository("Org/Name"))?.record.downloads == 1)
        #expect(try catalog.model(repository("org/name"))?.record.downloads == 2)
        #expect(try catalog.model(repository("ORG/NAME")) == nil)
        #expect(
            try catalog.ids(query("NAME")) == ["org/name", "Org/Name"] || catalog.ids(query("NAME")).count == 2)
    }

    @Test func kindsAreSeparate() throws {
        for kind in RepositoryKind.allCases {
            var one = ModelRecord(try repository("org/name", kind))
            one.task = kind.rawValue
            try catalog.remember([one], at: 1)
        }
        for kind in RepositoryKind.allCases {
            #expect(try catalog.model(repository("org/name", kind))?.record.task == kind.rawValue)
            let found = try catalog.search(query("name") { $0.kind = kind })
            #expect(found.map(\.record.repository.kind) == [kind])
        }
    }

    @Test func aModelMayHaveThousandsOfTags() throws {
        let tags = (0..<2074).map { "tag-\($0)" }
        try catalog.remember([try record("org/name", tags: tags)], at: 1)
        #expect(try catalog.model(repository("org/name"))?.record.tags == tags)
        #expect(try catalog.ids(query { $0.tags = ["tag-0", "tag-2073"] }) == ["org/name"])
        try catalog.remember([try record("org/name", tags: tags.reversed())], at: 2)
        #expect(try catalog.model(repository("org/name"))?.record.tags == tags.reversed())
    }

    @Test func tagsThatDifferOnlyByNormalisationAreTwoTags() throws {
        let tags = ["\u{E9}", "e\u{301}", "한국", "\u{1112}\u{1161}\u{11AB}국"]
        try catalog.remember([try record("org/name", tags: tags)], at: 1)
        let known = try catalog.model(repository("org/name"))?.record.tags
        #expect(known?.map { Array($0.utf8) } == tags.map { Array($0.utf8) })
    }

    @Test func aChangeOfNormalisationAloneIsAChange() throws {
        try catalog.remember([try record("org/name", tags: ["한국"]) { $0.task = "한국" }], at: 1)
        try catalog.remember(
            [try record("org/name", tags: ["\u{1112}\u{1161}\u{11AB}"]) { $0.task = "\u{1112}\u{1161}\u{11AB}국" }],
            at: 2)
        try catalog.remember([try record("org/name", tags: ["x"]) { $0.task = "x" }], at: 3)
        #expect(try catalog.ids(query("한국")) == [])
        #expect(try catalog.ids(query("x")) == ["org/name"])
        #expect(try catalog.model(repository("org/name"))?.record.tags == ["x"])
    }

    @Test(arguments: [Int64.min, -1, 0, Int64(Int32.max), Int64(UInt32.max), .max])
    func anyNumberOfDownloadsCanBeKept(_ downloads: Int64) throws {
        try catalog.remember([try record("org/a", downloads: 1000)], at: 1)
        for _ in 0..<2 {
            try catalog.remember(
                [try record("org/a", downloads: downloads), try record("org/b", downloads: downloads)], at: 2)
        }
        #expect(try catalog.model(repository("org/a"))?.record.downloads == downloads)
        #expect(try Set(catalog.ids(query("org"))) == ["org/a", "org/b"])
    }

    @Test func realMetadataIsKeptWhole() throws {
        let records = try RealModels.load()
        #expect(records.contains { ($0.tags?.count ?? 0) == 2074 })
        #expect(records.contains { $0.repository.id.name.utf8.count == 116 })
        #expect(Set(records.map { $0.repository.id.name.lowercased() }).count == records.count - 3)
        for now in [1.0, 2.0] { try catalog.remember(records, at: now) }
        for record in records { #expect(try catalog.model(record.repository)?.record == record) }
        #expect(try catalog.search(query()).count == records.count)
        #expect(try catalog.search(query("huggingface")).count < records.count)
    }
}

@Suite struct ModelWriterTests {
    private let catalog: Catalog
    init() throws { catalog = try Place().open() }

    private func write(_ records: [ModelRecord], detailed: Bool = false) throws -> (ModelChanges, rows: Int) {
        try catalog.write { connection in
            let before = connection.totalChanges
            let changes = try Catalog.write(records, detailed: detailed, now: 1, connection)
            return (changes, connection.totalChanges - before)
        }
    }

    @Test func onlyWhatIsNewOrDifferentIsWritten() throws {
        let records = try RealModels.load()
        #expect(try write(records).0.added == records.count)
        let (again, none) = try write(records)
        #expect(again.unchanged == records.count && again.changed == 0 && none == 0)
        var changed = records
        changed[7].likes = 4_711
        changed[9].tags = ["other"]
        let (third, rows) = try write(changed)
        #expect(third.changed == 2 && third.unchanged == records.count - 2)
        // The two rows, a new name and its word, and what one of them is in the index.
        #expect(rows < 20)
        #expect(third.rows == again.rows)
    }

    @Test func aModelMayComeTwiceInOnePage() throws {
        let (changes, _) = try write([
            try record("org/a", downloads: 1, tags: ["x"]), try record("org/b"),
            try record("org/a", downloads: 90_000, tags: ["y"]), try record("org/a", tags: ["z"]),
        ])
        #expect(changes.added == 2 && changes.changed == 2)
        #expect(try catalog.ids(query("z")) == ["org/a"] && catalog.ids(query("x")) == [])
        #expect(try catalog.ids(query("org")) == ["org/a", "org/b"])
    }

    @Test func namesOfATransactionThatFailedAreForgotten() throws {
        #expect(throws: AIError.self) {
            try catalog.write { connection in
                _ = try Catalog.write([try record("org/a", tags: ["new"])], detailed: false, now: 1, connection)
                throw AIError(.cancelled, "no")
            }
        }
        try catalog.remember([try record("org/b", tags: ["other", "new"])], at: 1)
        #expect(try catalog.model(repository("org/b"))?.record.tags == ["other", "new"])
        #expect(try catalog.ids(query("new")) == ["org/b"] && catalog.ids(query("oth")) == ["org/b"])
    }

    @Test func theSearchIndexIsTidiedAndStaysWhatItIs() throws {
        for record in try RealModels.load().prefix(40) { try catalog.remember([record], at: 1) }
        let before = try catalog.ids(query("t"))
        try catalog.tidySearch()
        #expect(try catalog.ids(query("t")) == before)
        try catalog.write { try $0.run("INSERT INTO search (search) VALUES ('integrity-check')") }
    }
}

@Suite struct TreeTests {
    private let catalog: Catalog
    private let place: Place
    init() throws {
        place = try Place()
        catalog = try place.open()
    }

    private let oid = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

    private func tree(_ commit: Commit, _ paths: [String]) -> RepositoryTree {
        RepositoryTree(
            commit: commit,
            files: paths.enumerated().map { number, path in
                RepositoryFile(
                    path: path, size: Int64(number), oid: oid,
                    sha256: number % 2 == 0 ? String(repeating: "a", count: 64) : nil,
                    xetHash: number % 3 == 0 ? String(repeating: "b", count: 64) : nil)
            })
    }

    @Test func aTreeIsRememberedAsItWas() throws {
        let paths = ["config.json", "a/b/c", "Z", "😀", "\u{E9}", "e\u{301}", "a'\"b", ".gitattributes", "a/b.c"]
        let wanted = tree(commit("1"), paths)
        let name = try repository("org/name")
        for now in [1.0, 2.0] { try catalog.remember(wanted, of: name, at: now) }
        let found = try #require(try catalog.tree(of: name, at: commit("1")))
        #expect(found == wanted)
        #expect(found.files.map { Array($0.path.utf8) } == wanted.files.map { Array($0.path.utf8) })
        #expect(found.files.count == paths.count)
    }

    @Test func treesOfOtherCommitsKindsAndRepositoriesAreOtherTrees() throws {
        let (one, two) = (tree(commit("1"), ["a"]), tree(commit("2"), []))
        try catalog.remember(one, of: repository("org/name"), at: 1)
        try catalog.remember(two, of: repository("org/name"), at: 1)
        try catalog.remember(tree(commit("1"), ["b"]), of: repository("org/name", .dataset), at: 1)
        #expect(try catalog.tree(of: repository("org/name"), at: commit("1")) == one)
        #expect(try catalog.tree(of: repository("org/name"), at: commit("2")) == two)
        #expect(try catalog.tree(of: repository("org/name", .dataset), at: commit("1"))?.files.map(\.path) == ["b"])
        #expect(try catalog.tree(of: repository("org/name"), at: commit("3")) == nil)
        #expect(try catalog.tree(of: repository("org/other"), at: commit("1")) == nil)
    }

    @Test func aTreeOutlivesEverythingElseThatIsLearnedOfItsModel() throws {
        let name = try repository("org/name")
        let wanted = tree(commit("1"), ["a", "b"])
        try catalog.remember(wanted, of: name, at: 1)
        try catalog.remember([try record("org/name", downloads: 1_000_000, tags: ["x"])], detailed: true, at: 2)
        try catalog.remember([], of: name, complete: true, at: 3)
        #expect(try place.open().tree(of: name, at: commit("1")) == wanted)
        #expect(try catalog.model(name)?.record.downloads == 1_000_000)
    }

    @Test func aListOfRevisionsReplacesTheOldOneOnlyWhereItIsComplete() throws {
        let name = try repository("org/name")
        func remember(_ revisions: [KnownRevision], complete: Bool) throws {
            try catalog.remember(revisions, of: name, complete: complete, at: 1)
        }
        let main = KnownRevision(name: "main", kind: .branch, commit: commit("1"))
        let tag = KnownRevision(name: "v1", kind: .tag, commit: commit("1"))
        let pull = KnownRevision(name: "refs/convert/parquet", kind: .convert, commit: commit("2"))
        try remember([main, tag, pull], complete: true)
        #expect(try catalog.revisions(of: name) == [main, pull, tag])
        let moved = KnownRevision(name: "main", kind: .branch, commit: commit("3"))
        try remember([moved], complete: false)
        #expect(try catalog.revisions(of: name) == [moved, pull, tag])
        try remember([moved], complete: true)
        #expect(try catalog.revisions(of: name) == [moved])
        #expect(try catalog.revisions(of: repository("org/name", .dataset)) == [])
    }
}

@Suite struct CacheTests {
    private let catalog: Catalog
    init() throws { catalog = try Place().open() }

    private func remember(_ scans: [RememberedScan], gone: [String] = [], cache: String = "/cache") throws {
        try catalog.remember(scans: scans, gone: gone, ofCache: cache)
    }

    private func scan(_ folder: String, _ text: String) -> RememberedScan {
        RememberedScan(folder: folder, summary: Array(text.utf8), details: Array("all of \(text)".utf8))
    }

    private func check(_ texts: [String: String], cache: String = "/cache") throws {
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        var summaries: [String: String] = [:]
        try catalog.scans(ofCache: cache) { summaries[$0] = String(decoding: $1, as: UTF8.self) }
        #expect(summaries == texts)
        #expect(try catalog.scanDetails(ofCache: cache).mapValues(text) == texts.mapValues { "all of \($0)" })
    }

    @Test func scansAreReplacedAndForgottenOneByOne() throws {
        try remember([scan("models--a", "one"), scan("models--b", "")])
        try check(["models--a": "one", "models--b": ""])
        try remember([scan("models--a", "newer")], gone: ["models--b", "models--never"])
        try check(["models--a": "newer"])
        try check([:], cache: "/other")
        try remember([scan("models--b", "two")], cache: "/other")
        try check(["models--a": "newer"])
        let details = try catalog.read { try $0.first("SELECT count(*) FROM scans") { $0.int(0) } }
        #expect(details == 2, "what is forgotten leaves nothing")
        try remember([RememberedScan(folder: "models--b", summary: [1], details: nil)], cache: "/other")
        #expect(try catalog.scanDetails(ofCache: "/other") == [:])
    }

    @Test func knownTreesAreNamedByRepositoryAndCommit() throws {
        #expect(try catalog.knownTrees() == [])
        let tree = RepositoryTree(commit: commit("1"), files: [])
        try catalog.remember(tree, of: repository("org/name", .dataset), at: 1)
        try catalog.remember(tree, of: repository("gpt2"), at: 1)
        #expect(
            try catalog.knownTrees() == [
                Catalog.treeName(repository("org/name", .dataset), commit("1")),
                Catalog.treeName(repository("gpt2"), commit("1")),
            ])
    }

    @Test func aUseIsRememberedEvenWhenTheFolderIsScannedAgain() throws {
        try catalog.markUsed(cache: "/cache", folder: "models--a", commit: commit("1"), at: 5)
        try catalog.markUsed(cache: "/cache", folder: "models--a", commit: commit("2"), at: 6)
        try catalog.markUsed(cache: "/cache", folder: "models--a", commit: commit("1"), at: 7)
        try catalog.markUsed(cache: "/other", folder: "models--a", commit: commit("1"), at: 9)
        try remember([scan("models--a", "")])
        #expect(
            try catalog.uses(ofCache: "/cache") == [
                "models--a": [commit("1").hash: 7, commit("2").hash: 6]
            ])
        #expect(try catalog.uses(ofCache: "/none") == [:])
    }

    @Test func theRateIsThatOfTheLastTenPullsFromAnOrigin() throws {
        #expect(try catalog.bandwidth(origin: "a") == nil)
        try catalog.remember(bytes: 100, seconds: 0, origin: "a", at: 1)
        #expect(try catalog.bandwidth(origin: "a") == nil)
        for number in 2...14 { try catalog.remember(bytes: 100, seconds: 2, origin: "a", at: Double(number)) }
        try catalog.remember(bytes: 1000, seconds: 2, origin: "a", at: 15)
        try catalog.remember(bytes: 1, seconds: 1, origin: "b", at: 16)
        let rate = try #require(try catalog.bandwidth(origin: "a"))
        #expect(rate.bytesPerSecond == 1900.0 / 20 && rate.pulls == 10)
        #expect(try catalog.bandwidth(origin: "b")?.bytesPerSecond == 1)
    }

    @Test func twoPullsThatEndAtOnceAreTwoPulls() throws {
        try catalog.remember(bytes: 100, seconds: 1, origin: "a", at: 1)
        try catalog.remember(bytes: 200, seconds: 1, origin: "b", at: 1)
        #expect(try catalog.bandwidth(origin: "a")?.bytesPerSecond == 100)
        #expect(try catalog.bandwidth(origin: "b")?.bytesPerSecond == 200)
    }

    @Test func onlyTheLastHundredPullsAreKept() throws {
        for number in 1...120 { try catalog.remember(bytes: 1, seconds: 1, origin: "a", at: Double(number)) }
        let kept = try catalog.read { try $0.query("SELECT at FROM bandwidth ORDER BY at") { $0.double(0) } }
        #expect(kept == (21...120).map(Double.init))
    }
}
