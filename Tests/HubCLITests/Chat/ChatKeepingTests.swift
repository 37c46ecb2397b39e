import HubChatTemplates
import HubCore
import Libc
import MemoryKit
import Support
import Testing

@testable import HubCLI

/// Conversations that are kept: `hub chats`, `hub chat --continue`.
@Suite struct ChatKeepingTests {
    let remote: RemoteStage
    var stage: Stage { remote.stage }

    init() throws { remote = try RemoteStage() }

    private func once(_ prompt: String, _ flags: [String] = []) async throws -> JSONObject {
        let words = ["chat", RemoteStage.chat, prompt, "--provider", "hf", "--json"] + flags
        return try await stage.run(words, with: remote.variables).document()
    }

    private func archive() throws -> ConversationArchive {
        try ConversationArchive(path: ConversationArchive.path(in: stage.machine("state")))
    }

    private func terminal(_ flags: [String] = []) async throws -> ChatTerminal {
        try await ChatTerminal(stage, [RemoteStage.chat, "--provider", "hf"] + flags, with: remote.variables)
    }

    @Test func whatWasSaidIsListedFoundAndShown() async throws {
        let none = try await stage.run("chats")
        #expect(none.status == 0 && none.output == "no conversation is kept\n")
        #expect(!FileSystem.exists(stage.machine("state/conversations.sqlite3")))
        let first = try #require(
            try await once("The kraken sleeps", ["--system", "Be kind."])["conversation"]?.string)
        let second = try #require(try await once("Sheep graze")["conversation"]?.string)
        let list = try await stage.run("chats", "--json").document()
        let entries = list.objects("conversations")
        #expect(entries.compactMap { $0["id"]?.string } == [second, first])
        entries[1].expectKeys("id created_at updated_at model provider turns title")
        #expect(entries[1]["title"]?.string == "The kraken sleeps" && entries[1]["turns"]?.int == 2)
        #expect(entries[1]["model"]?.string == RemoteStage.chat && entries[1]["provider"]?.string == "hf")
        #expect(try await stage.run("chats", "-q").output == "\(second)\n\(first)\n")
        let found = try await stage.run("chats", "search", "krak", "--json").document().objects("conversations")
        #expect(
            found.compactMap { $0["id"]?.string } == [first]
                && found[0]["excerpt"]?.string?.contains("kraken") == true)
        let shown = try await stage.run("chats", "show", String(first.prefix(5)))
        #expect(shown.output.contains("> The kraken sleeps\n\nYou said: The kraken sleeps 🙂\n"))
        let exported = try await stage.run("chats", "export", first)
        #expect(
            exported.output.hasPrefix("# The kraken sleeps\n")
                && exported.output.contains("## System\n\nBe kind.\n"))
        let document = try await stage.run("chats", "export", first, "--json").document()
        #expect(document.objects("messages").compactMap { $0["role"]?.string } == ["user", "assistant"])
    }

    @Test func removingAsks() async throws {
        let id = try #require(try await once("One")["conversation"]?.string)
        let refused = try await stage.run("chats", "rm", id)
        #expect(
            refused.status == 2 && refused.error.contains("refusing to remove conversations without confirmation"))
        let no = try stage.shell("exec \"$hub\" chats rm \(id)", terminal: .init(columns: 200))
        try await no.wait(forText: "Remove \(id) (One)? [y/N]")
        no.write("n\n")
        #expect(try await no.wait().status == 2)
        #expect(try archive().entries().count == 1)
        let removed = try await stage.run("chats", "rm", id, "--yes", "--json").document()
        #expect(removed.strings("removed") == [id])
        #expect(try archive().entries().isEmpty)
        let absent = try await stage.run("chats", "rm", id, "--yes")
        #expect(absent.status == 3 && absent.error.contains("there is no conversation \(id)"))
    }

    @Test func wrongWordsAreSaid() async throws {
        for (words, text) in [
            (["chats", "ls", "x"], "unexpected argument \"x\""), (["chats", "show"], "missing ID"),
            (["chats", "search"], "missing TEXT"), (["chats", "show", "a", "b"], "unexpected argument \"b\""),
            (["chats", "lst"], "hub chats does not know \"lst\""), (["chats", "rm"], "missing ID"),
            (["chats", "rm", "a", "--all"], "an ID and --all cannot be used together"),
            (["chats", "ls", "--yes"], "--yes is not a flag of hub chats ls"),
        ] {
            let result = try await stage.run(words)
            #expect(result.status == 2 && result.error.contains(text), "\(words): \(result.error)")
        }
        let absent = try await stage.run("chat", "--continue=zz", "Hi")
        #expect(absent.status == 3 && absent.error.contains("there is no conversation zz"))
        // What is advised fits what was typed.
        for (words, meant) in [
            (["--continue"], "--continue"), (["--continue=zz"], "--continue=zz"), (["org/a b"], "'org/a b'"),
            (["-m", RemoteStage.chat], RemoteStage.chat),
        ] {
            let empty = try await stage.run(["chat"] + words)
            #expect(
                empty.status == 2
                    && empty.error.contains("stdin has no text\n     write hub chat \(meant) PROMPT, or pipe"),
                "\(words): \(empty.error)")
        }
        let none = try await stage.run("chat", "--continue", "Hi")
        #expect(none.status == 3 && none.error.contains("no conversation is kept"))
    }

    @Test func aConversationGoesOn() async throws {
        let first = try #require(try await once("One", ["--system", "Be kind."])["conversation"]?.string)
        _ = try await once("Other")
        let words = ["chat", "--continue=\(first.prefix(6))", "Two", "words", "--json"]
        let document = try await stage.run(words, with: remote.variables).document()
        #expect(document["conversation"]?.string == first && document["model"]?.string == RemoteStage.chat)
        let sent = try #require(remote.calls.last).json["messages"]?.array ?? []
        #expect(
            sent.compactMap { $0["content"]?.string } == ["Be kind.", "One", "You said: One 🙂", "Two words"])
        #expect(try archive().conversation(first)?.turns.count == 4)
        // The last one is the one that was said to last.
        let chat = try await ChatTerminal(stage, ["--continue"], with: remote.variables)
        try await chat.say("Three")
        try await chat.say("/retry")
        let result = try await chat.end()
        #expect(result.status == 0 && result.terminal.contains("\(first): One"))
        #expect(result.terminal.contains("kept as \(first); hub chat --continue=\(first) continues it"))
        let turns = try #require(try archive().conversation(first)).turns.map(\.message.content)
        #expect(turns.count == 6 && turns[4] == "Three")
    }

    /// A yes is for one provider.
    @Test func filesOfAConversationGoToAnotherProviderAfterAYes() async throws {
        let folder = try TemporaryFolder("files")
        let file = try folder.write("secret.txt", Array("SECRET".utf8))
        let id = try #require(try await once("One", ["--attach", file, "--yes"])["conversation"]?.string)
        let same = try await stage.run(["chat", "--continue=\(id)", "Two"], with: remote.variables)
        #expect(same.status == 0)
        let count = remote.calls.count
        let words = ["chat", "--continue=\(id)", "-m", "\(RemoteStage.chat):together", "--provider", "hf", "Three"]
        let refused = try await stage.run(words, with: remote.variables)
        #expect(refused.status == 2 && remote.calls.count == count)
        #expect(
            refused.error.contains(
                "sending this conversation with what it has of files to hf:together needs a yes"))
        #expect(try await stage.run(words + ["--yes"], with: remote.variables).status == 0)
        #expect(try await stage.run(words, with: remote.variables).status == 0)
    }

    @Test func whatWasSaidOnThisMachineAloneLeavesItAfterAYes() async throws {
        var kept = KeptConversation(model: RemoteStage.chat, provider: "auto", at: 1)
        kept.turns = [
            .init(.user("A secret"), at: 1),
            .init(.assistant("I see"), at: 2, model: RemoteStage.chat, provider: "local"),
        ]
        try FileSystem.createDirectories(stage.machine("state"))
        try archive().keep(&kept, at: 3)
        // Nobody named a provider.
        let unnamed = try await stage.run(["chat", "--continue", "Two"], with: remote.variables)
        #expect(unnamed.status == 2 && unnamed.error.contains("no provider was named"))
        // --yes fetches the model; it chooses no provider.
        #expect(try await stage.run(["chat", "--continue", "Two", "--yes"], with: remote.variables).status != 0)
        #expect(remote.calls.isEmpty)
        let words = ["chat", "--continue", "--provider", "hf", "Two"]
        let refused = try await stage.run(words, with: remote.variables)
        #expect(refused.status == 2 && refused.error.contains("sending this conversation to hf needs a yes"))
        #expect(remote.calls.isEmpty)
        #expect(try await stage.run(words + ["--yes"], with: remote.variables).status == 0)
    }

    @Test func whatIsNotToBeKeptIsNot() async throws {
        #expect(try await once("Secret", ["--no-keep"])["conversation"] == nil)
        let chat = try await terminal(["--no-keep"])
        try await chat.say("Secret")
        #expect(try await !chat.end().terminal.contains("kept as"))
        #expect(!FileSystem.exists(stage.machine("state/conversations.sqlite3")))
        // An answer that failed was never said.
        let failing = try RemoteStage.chatting { _ in .json(#"{"error":"no"}"#, status: 400) }
        _ = try await failing.run("chat", RemoteStage.chat, "Hi", "--provider", "hf")
        #expect(try await failing.stage.run("chats").output == "no conversation is kept\n")
    }

    @Test func twoAtOnceAreTwo() async throws {
        let (one, two) = (try await terminal(), try await terminal())
        for number in 1...3 {
            try await one.say("one \(number)")
            try await two.say("two \(number)")
        }
        _ = try await (one.end(), two.end())
        let entries = try archive().entries()
        #expect(Set(entries.map(\.title)) == ["one 1", "two 1"] && entries.allSatisfy { $0.turns == 6 })
        // Both go on with the same one: what both say is there.
        let id = entries[0].id
        let (left, right) = (
            try await ChatTerminal(stage, ["--continue=\(id)"], with: remote.variables),
            try await ChatTerminal(stage, ["--continue=\(id)"], with: remote.variables)
        )
        try await left.say("left")
        try await right.say("right")
        _ = try await left.end()
        let result = try await right.end()
        #expect(result.terminal.contains("conversation \(id) was changed elsewhere; this one is kept as"))
        let all = try archive().entries()
        #expect(all.count == 3 && all.filter { $0.turns == 8 }.count == 2)
    }

    /// What a person has seen to the end is there, whenever the program is killed.
    @Test(arguments: 0..<6)
    func killingLosesNoFinishedTurn(_ round: Int) async throws {
        let gate = Gate()
        let remote = try RemoteStage.chatting { request in
            request.text.contains("last")
                ? .events([.text("data: \(piece("Half "))\n\n"), .wait(gate)]) : HonestRouter().answer(request)
        }
        defer { gate.release() }
        let chat = try await ChatTerminal(
            remote.stage, [RemoteStage.chat, "--provider", "hf"], with: remote.variables)
        for number in 0..<round { try await chat.say("said \(number)") }
        chat.process.write("last\n")
        if round % 2 == 0 { try await chat.process.wait(forText: "Half") }
        chat.process.killHard()
        _ = try await chat.process.wait()
        let archive = try ConversationArchive(path: ConversationArchive.path(in: remote.stage.machine("state")))
        let entries = try archive.entries()
        guard round > 0 else { return #expect(entries.isEmpty) }
        let kept = try #require(try archive.conversation(entries[0].id))
        let said = kept.turns.compactMap(\.message.content)
        #expect(said == (0..<round).flatMap { ["said \($0)", "You said: said \($0) 🙂"] })
        #expect(try archive.search("said").count == 1)
    }

    #if os(Linux)
    /// Killed at each step of writing the file: what was kept before is there, and the file is whole.
    @Test func killedWhileItIsKept() async throws {
        let library = try await FaultyDisk.library(in: stage.machine)
        let id = try #require(try await once("One")["conversation"]?.string)
        var kills = 0
        for step in 1...400 {
            let variables = remote.variables.merging(
                ["LD_PRELOAD": library, "FAULTY_DISK": "crash:\(step)", "SWIFT_BACKTRACE": "enable=no"]) { $1 }
            let result = try await stage.run(["chat", "--continue=\(id)", "word \(step)"], with: variables)
            let turns = try #require(try archive().conversation(id)).turns
            // Whole exchanges, the first one among them.
            #expect(turns.count % 2 == 0 && turns.first?.message.content == "One")
            #expect(try archive().search("one").map(\.id) == [id])
            if result.wasKilled {
                kills += 1
            } else {
                #expect(turns.last?.message.content == "You said: word \(step) 🙂")
                break
            }
        }
        #expect(kills > 3)
    }

    /// A full disk: it is said, what was kept stays, and what was said meanwhile is kept once there is room.
    @Test func aFullDiskLosesNoFinishedTurn() async throws {
        let library = try await FaultyDisk.library(in: stage.machine)
        let id = try #require(try await once("One")["conversation"]?.string)
        for room in [0, 4096, 9000, 20_000] {
            let variables = remote.variables.merging(["LD_PRELOAD": library, "FAULTY_DISK": "full:\(room)"]) { $1 }
            let before = try #require(try archive().conversation(id)).turns.count
            let result = try await stage.run(["chat", "--continue=\(id)", "more \(room)"], with: variables)
            #expect(result.status == 0 && result.output == "You said: more \(room) 🙂\n")
            let after = try #require(try archive().conversation(id)).turns
            if after.count == before {
                #expect(
                    result.error.contains("the last turn is not kept: no space left for the file of conversations"))
            } else {
                #expect(after.last?.message.content == "You said: more \(room) 🙂")
            }
        }
        #expect(try archive().conversation(id)?.turns.first?.message.content == "One")
    }
    #endif

    @Test func aFaultyFileIsSaidAndTheAnswerComes() async throws {
        try FileSystem.createDirectories(stage.machine("state"))
        try FileSystem.replace(stage.machine("state/conversations.sqlite3"), with: Array("no database".utf8))
        let result = try await stage.run(
            ["chat", RemoteStage.chat, "Hi", "--provider", "hf"], with: remote.variables)
        #expect(result.status == 0 && result.output == "You said: Hi 🙂\n")
        #expect(result.error.contains("the last turn is not kept"))
        #expect(try FileSystem.text(stage.machine("state/conversations.sqlite3")) == "no database")
        #expect(try await stage.run("chats").status == 6)
    }
}
