import HubCore
import Support
import Testing

@testable import HubCLI

/// `hub chat --with FOLDER`.
@Suite struct ChatMemoryTests {
    let remote: RemoteStage
    let notes: TemporaryFolder

    init() throws {
        remote = try RemoteStage()
        notes = try TemporaryFolder("notes")
        try notes.write("sea.md", Array("# Sea\n\nThe kraken sleeps at 4000 meters.\n".utf8))
        try notes.write("land.md", Array("# Land\n\nSheep graze.\n".utf8))
        try notes.write(".hidden.md", Array("kraken\n".utf8))
    }

    private var words: [String] { ["chat", RemoteStage.chat, "Where is the kraken?", "--with", notes.path] }
    private func remotely(_ flags: [String]) async throws -> ProcessResult {
        try await remote.stage.run(words + ["--provider", "hf"] + flags, with: remote.variables)
    }

    @Test func excerptsGoAwayOnlyAfterAYes() async throws {
        let refused = try await remotely([])
        #expect(
            refused.status == 2 && refused.error.contains("sending excerpts of \(notes.path) to hf needs a yes"))
        #expect(remote.calls.isEmpty && !FileSystem.exists(remote.stage.machine("state/memory.sqlite3")))
        let document = try await remotely(["--yes", "--json"]).document()
        let sources = document.objects("sources")
        #expect(sources.first?["path"]?.string == "\(notes.path)/sea.md" && sources.first?["score"]?.double == 1)
        #expect(sources.first?["first_line"]?.int == 1 && sources.first?["last_line"]?.int == 3)
        let sent = try #require(remote.calls.last?.json["messages"]?.array?.last?["content"]?.string)
        #expect(
            sent.contains("<excerpt number=\"1\" source=\"\(notes.path)/sea.md:1-3\">")
                && sent.hasSuffix("\n\nWhere is the kraken?"))
        #expect(!sent.contains("hidden"))
        // What is kept is what was said, and where the answer is from.
        let id = try #require(document["conversation"]?.string)
        let shown = try await remote.stage.run("chats", "show", id)
        #expect(
            shown.output.contains("> Where is the kraken?\n")
                && shown.output.contains("[1] \(notes.path)/sea.md:1-3"))
    }

    @Test func itSaysWhatItFoundAndHow() async throws {
        let result = try await remotely(["--yes"])
        #expect(
            result.status == 0
                && result.error.contains("\(notes.path): 2 documents, 2 excerpts; left out: 1 hidden\n"))
        #expect(result.error.contains("excerpts are found by words alone"))
        #expect(result.error.contains("hub: [1] \(notes.path)/sea.md:1-3\n"))
        let embedder = try Fixtures.path("micro/bert")
        let both = try await remotely(["--yes", "--embedder", embedder])
        #expect(both.status == 0 && both.error.contains("excerpts are found by meaning (bert) and by words"))
        let sources = try await remotely(["--yes", "--embedder", embedder, "--json"]).document().objects("sources")
        // Every excerpt is more or less near.
        #expect(sources.count == 2)
    }

    @Test func theCachedEmbedderIsUsed() async throws {
        let stage = remote.stage
        let folder = try Fixtures.path("micro/bert")
        let snapshot = try stage.plant("models--org--embedder", commit: commit("e"), files: [:])
        func copy(_ from: String, _ to: String) throws {
            try FileSystem.createDirectories(to)
            for name in try FileSystem.entries(from) ?? [] {
                let (source, target) = (Path.join(from, name), Path.join(to, name))
                if try FileSystem.status(source)?.kind == .directory {
                    try copy(source, target)
                } else {
                    try FileSystem.replace(target, with: try #require(try FileSystem.contents(source)))
                }
            }
        }
        try copy(folder, snapshot)
        try #require(FileSystem.exists(Path.join(snapshot, "modules.json")))
        let result = try await remotely(["--yes"])
        #expect(
            result.error.contains("excerpts are found by meaning (org/embedder) and by words"), "\(result.error)")
    }

    /// A model with a small context gets what fits, and is not asked what does not.
    @Test func excerptsFitIntoTheContext() async throws {
        let model = try Fixtures.path("tiny-shakespeare")
        let words = ["chat", model, "kraken or sheep?", "--max-tokens", "4", "--with", notes.path, "--json"]
        let both = try await remote.stage.run(words + ["--context", "400"])
        #expect(both.status == 0, "\(both.error)")
        #expect(try both.document().objects("sources").count == 2)
        let none = try await remote.stage.run(words + ["--context", "16"])
        #expect(none.status == 2 && none.error.isEmpty == false)
        let message = try none.document()["error"]?["message"]?.string ?? ""
        #expect(message.contains("half of the context has room for 8"), "\(message)")
    }

    @Test func whatCannotBeIsSaid() async throws {
        let absent = try await remote.stage.run(
            ["chat", RemoteStage.chat, "Hi", "--with", "/no/such", "--provider", "hf", "--yes"],
            with: remote.variables)
        #expect(absent.status == 3 && absent.error.contains("/no/such does not exist"))
        let alone = try await remote.stage.run(["chat", "m", "Hi", "--embedder", "x"])
        #expect(alone.status == 2 && alone.error.contains("--embedder is about the documents of --with"))
        let wrong = try await remotely(["--yes", "--embedder", Fixtures.path("tiny-shakespeare")])
        #expect(wrong.status == 7 && wrong.error.contains("tiny-shakespeare cannot be the embedder"))
    }

    @Test func aConversationLooksThingsUpForEachMessage() async throws {
        let chat = try await ChatTerminal(
            remote.stage, [RemoteStage.chat, "--provider", "hf", "--yes", "--with", notes.path],
            with: remote.variables)
        try await chat.say("Where is the kraken?")
        try await chat.say("And sheep?")
        let result = try await chat.end()
        #expect(result.status == 0 && result.terminal.contains("[1] \(notes.path)/sea.md:1-3"))
        #expect(result.terminal.contains("[1] \(notes.path)/land.md:1-3"))
        let turns = remote.calls.last?.json["messages"]?.array?.compactMap { $0["content"]?.string } ?? []
        // Excerpts of earlier messages are not sent again.
        #expect(turns.first == "Where is the kraken?" && turns.last?.contains("Sheep graze.") == true)
    }
}
