import HubCore
import Support
import Testing

@testable import Catalog

/// What comes in, byte for byte, and the tables in memory that make it quick.
@Suite struct WrittenModelTests {
    /// Served so, it is no name: the owner in the id is the author.
    @Test func anEmptyAuthorIsNone() throws {
        let catalog = try Place().open()
        let strange = try record("org/name", tags: ["llama"]) { $0.author = "" }
        try catalog.remember([strange], at: 1)
        #expect(try catalog.model(repository("org/name"))?.record.author == nil)
        #expect(try catalog.ids(query { $0.author = "org" }) == ["org/name"])
        let again = try catalog.write { try Catalog.write([strange], detailed: false, now: 2, $0) }
        #expect(again.unchanged == 1 && again.changed == 0)
        // And the index has nothing left of it once it has an owner.
        try catalog.remember([try record("org/name") { $0.author = "other" }], at: 3)
        #expect(try catalog.ids(query { $0.author = "org" }) == [])
        #expect(try catalog.ids(query { $0.author = "other" }) == ["org/name"])
        try catalog.read { try $0.execute("INSERT INTO search (search) VALUES ('integrity-check')") }
    }

    /// A cached model is not news from the Hub.
    @Test func aTreeOrACardOfAModelThatIsGoneDoesNotBringItBack() throws {
        let catalog = try Place().open()
        let gone = try repository("org/gone")
        try catalog.remember([try record("org/gone")], at: 1)
        try catalog.write { try $0.run("UPDATE models SET vanished_at = 2.0") }
        try catalog.remember(RepositoryTree(commit: commit("a"), files: []), of: gone, at: 3)
        try catalog.remember(card: "words", of: gone, at: commit("a"), now: 3)
        try catalog.remember(
            [KnownRevision(name: "main", kind: .branch, commit: commit("a"))], of: gone, complete: true, at: 3)
        let known = try #require(try catalog.model(gone))
        #expect(known.vanishedAt == 2 && known.seenAt == 1)
        #expect(try catalog.ids(query()) == [])
        // Of another nothing is known but that it is there.
        try catalog.remember(RepositoryTree(commit: commit("a"), files: []), of: try repository("org/new"), at: 3)
        #expect(try catalog.model(repository("org/new"))?.seenAt == 0)
    }

    /// The index of names holds a number of each; here all have the same.
    @Test func modelsWhoseNumbersCollideAreTold() throws {
        let catalog = try Place().open()
        try catalog.remember([try record("org/one", downloads: 1), try record("org/two", downloads: 2)], at: 1)
        let two = try ModelRow.name(repository("org/two"))
        try catalog.write { try $0.run("UPDATE models SET name = ? WHERE id = 'org/one'", two) }
        #expect(try catalog.model(repository("org/two"))?.record.downloads == 2)
        #expect(try catalog.ids(query { $0.ids = ["org/two"] }) == ["org/two"])
        #expect(try catalog.model(repository("org/one")) == nil)
    }

    @Test func anIdThatIsAskedForTwiceIsFoundOnce() throws {
        let catalog = try Place().open()
        try catalog.remember([try record("org/one"), try record("org/two")], at: 1)
        #expect(
            try catalog.ids(query { $0.ids = ["org/one", "org/two", "org/one", "no id"] }).sorted() == [
                "org/one", "org/two",
            ])
    }

    @Test func whatIsTypedLikeAnIdComesFirstHoweverManyThereAre() throws {
        let catalog = try Place().open()
        try catalog.remember(
            [try record("org/llama", downloads: 1), try record("org/llama-2", downloads: 1000)], at: 1)
        for limit in [-1, 1, 2, 20] {
            #expect(try catalog.ids(query("org/llama", limit: limit)).first == "org/llama")
            #expect(try catalog.ids(query("ORG/Llama", limit: limit)).first == "org/llama")
        }
    }

    @Test func aCapabilityIsFoundByTheWordsOfItsTasksAndTags() throws {
        let catalog = try Place().open()
        var models = try (0..<50).map { try record("org/other\($0)", downloads: 1000, tags: ["code", "thinking"]) }
        models.append(try record("org/vector", downloads: 1) { $0.task = "sentence-similarity" })
        models.append(try record("org/coder", downloads: 2, tags: ["code-generation"]))
        models.append(try record("org/split", downloads: 3, tags: ["generation", "codex"]))
        try catalog.remember(models, at: 1)
        #expect(try catalog.ids(query { $0.capability = .embeddings }) == ["org/vector"])
        #expect(try catalog.ids(query("coder") { $0.capability = .codeGeneration }) == ["org/coder"])
        #expect(try catalog.ids(query { $0.capability = .codeGeneration }).count == 51)
        #expect(try catalog.ids(query { $0.capability = .transcription }) == [])
    }

    @Test func theLastPinIsGoneFromTheBackupsToo() throws {
        let place = try Place()
        let catalog = try place.open()
        try catalog.pin(cache: "/c", folder: "f", commit: commit("a"), note: nil, at: 7)
        // As if that had been yesterday.
        let today = try #require(try place.backups().first)
        try FileSystem.rename(
            place.folder("state/\(today)"), to: place.folder("state/catalog.sqlite3.backup-2025-01-01"))
        try catalog.unpin(cache: "/c", folder: "f", commit: commit("a"))
        try FileSystem.remove(place.path)
        #expect(try place.open().pins(ofCache: "/c") == [])
    }

    // MARK: Tables in memory

    @Test func textsHaveTheirNumbersByteForByte() {
        var numbers = TextNumbers()
        var random = SeededRandom(number: 7)
        var expected: [[UInt8]: Int64] = [:]
        func bytes(_ text: [UInt8], _ body: (UnsafeRawBufferPointer) -> Void) { text.withUnsafeBytes(body) }
        for number in 0..<5000 as Range<Int64> {
            let text = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                UInt8.random(in: 97...100, using: &random)
            }
            let isNew = expected[text] == nil
            if isNew { expected[text] = number }
            bytes(text) { #expect(numbers.insert($0, number) == isNew) }
        }
        #expect(numbers.count == expected.count)
        for (text, number) in expected { bytes(text) { #expect(numbers.number(of: $0) == number) } }
        // A letter and the same with its accent apart are two.
        bytes(Array("\u{E9}".utf8)) { numbers.insert($0, -1) }
        bytes(Array("e\u{301}".utf8)) { #expect(numbers.number(of: $0) == nil) }
    }

    /// Through FTS5 itself, with a letter before it that is not ASCII.
    @Test func textInASCIIIsTakenApartAsFTS5Does() throws {
        let place = try Place()
        _ = try place.open()
        let tokenizer = try Connection(place.path).tokenizer()
        var random = SeededRandom(number: 3)
        for _ in 0..<500 {
            let text = String(
                decoding: (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    UInt8.random(in: 1...127, using: &random)
                }, as: UTF8.self)
            #expect(["e"] + tokenizer.words(text) == tokenizer.words("é " + text))
        }
        let all = String(decoding: Array(1...127 as ClosedRange<UInt8>), as: UTF8.self)
        #expect(["e"] + tokenizer.words(all) == tokenizer.words("é " + all))
    }
}
