import HubChatTemplates
import HubCore
import Support
import Testing

@testable import MemoryKit

@Suite struct ConversationArchiveTests {
    let state: TemporaryFolder
    let archive: ConversationArchive

    init() throws {
        state = try TemporaryFolder("state")
        archive = try ConversationArchive(path: ConversationArchive.path(in: state.path))
    }

    private func conversation(_ texts: [String], at time: Double = 1_000_000) -> KeptConversation {
        KeptConversation(
            model: "org/m", provider: "auto", system: "Be kind.",
            turns: texts.enumerated().map { index, text in
                index % 2 == 0
                    ? .init(.user(text), at: time + Double(index))
                    : .init(
                        .assistant(text), at: time + Double(index), model: "org/m", provider: "local",
                        sources: ["a.md:1-3"])
            }, at: time)
    }

    @Test func whatIsKeptComesBack() throws {
        var kept = conversation(["Hello\nthere", "Hi."])
        kept.turns[0].message.images = [
            .bytes([1, 2, 3], mediaType: "image/png"), .address("https://example.org/a.png"),
        ]
        kept.turns[1].message.reasoning = "He greets."
        kept.turns[1].message.toolCalls = [.init(id: "1", name: "look", arguments: ["at": "sea"])]
        kept.turns.append(.init(.tool("blue", callID: "1", name: "look"), at: 5))
        #expect(try archive.keep(&kept, at: 2_000_000) == false)
        #expect(kept.id.count == 8 && kept.updatedAt == 2_000_000)
        #expect(try archive.conversation(kept.id) == kept)
        #expect(try archive.conversation("0") == nil)
        #expect(try archive.latest() == kept.id)
        let entry = try #require(try archive.entries().first)
        #expect(entry.title == "Hello there" && entry.turns == 3 && entry.updatedAt == 2_000_000)
    }

    @Test func aTitleIsWhatWasTypedBehindFiles() {
        let file = "<file name=\"a.txt\">\nblue\n\n</file>\n\n"
        #expect(conversation([file + file + "What is\nin them?"]).title == "What is in them?")
        #expect(conversation([file]).title == "<file name=\"a.txt\"> blue </file>")
        #expect(conversation(["<file name=\"a"]).title == "<file name=\"a")
    }

    @Test func onlyWhatIsNewIsWritten() throws {
        var kept = conversation(["One", "Two"])
        try archive.keep(&kept, at: 1)
        kept.turns += conversation(["Three", "Four"]).turns
        try archive.keep(&kept, at: 2)
        // Another answer in the place of the last one.
        kept.turns[3].message = .assistant("Five")
        try archive.keep(&kept, at: 3)
        #expect(try archive.conversation(kept.id) == kept)
        #expect(try archive.search("four").isEmpty && archive.search("five").map(\.id) == [kept.id])
        kept.turns.removeLast(2)
        try archive.keep(&kept, at: 4)
        #expect(try archive.conversation(kept.id)?.turns.count == 2 && archive.search("five").isEmpty)
    }

    @Test func twoWhoContinueOneBothKeepTheirs() throws {
        var first = conversation(["One", "Two"])
        try archive.keep(&first, at: 1)
        var second = try #require(try archive.conversation(first.id))
        first.turns += conversation(["of the first", "A"]).turns
        #expect(try archive.keep(&first, at: 2) == false)
        second.turns += conversation(["of the second", "B"]).turns
        #expect(try archive.keep(&second, at: 3) == true)
        #expect(second.id != first.id)
        #expect(try archive.conversation(first.id) == first && archive.conversation(second.id) == second)
        // One that was removed meanwhile is not lost either.
        try archive.remove(second.id)
        second.turns += conversation(["again", "C"]).turns
        #expect(try archive.keep(&second, at: 4) == true)
        #expect(try archive.entries().map(\.id) == [second.id, first.id])
    }

    @Test func wordsAreFoundByTheirBeginnings() throws {
        var (sea, land) = (conversation(["The Kraken sleeps", "Réveille-le!"]), conversation(["Sheep", "Bah"]))
        try archive.keep(&sea, at: 1)
        try archive.keep(&land, at: 2)
        #expect(try archive.search("krak").map(\.id) == [sea.id])
        #expect(try archive.search("reveille").first?.excerpt?.contains("Réveille") == true)
        #expect(try archive.search("kraken sheep").isEmpty && archive.search("\"*").isEmpty)
        #expect(try archive.remove(sea.id) && !archive.remove(sea.id))
        #expect(try archive.search("krak").isEmpty && archive.conversation(sea.id) == nil)
        #expect(try archive.ids(beginning: "") == [land.id])
        #expect(try archive.ids(beginning: String(land.id.prefix(3))) == [land.id])
        #expect(try archive.ids(beginning: "%").isEmpty)
    }

    @Test func markdownHoldsWhatWasSaid() throws {
        var kept = conversation(["Where?", "Here."])
        try archive.keep(&kept, at: 1)
        #expect(
            kept.markdown == """
                # Where?

                \(kept.id), 1970-01-12T13:46:40Z, org/m

                ## System

                Be kind.

                ## You

                Where?

                ## org/m

                Here.

                1. a.md:1-3

                """)
        let messages = kept.json["messages"]?.array ?? []
        #expect(messages.map { $0["role"]?.string } == ["user", "assistant"])
        #expect(messages[1]["model"]?.string == "org/m" && messages[1]["at"]?.string == "1970-01-12T13:46:41Z")
    }

    @Test func othersMayNotRead() throws {
        var kept = conversation(["One", "Two"])
        try archive.keep(&kept, at: 1)
        #expect(try FileSystem.status(ConversationArchive.path(in: state.path))?.mode == 0o600)
    }
}
