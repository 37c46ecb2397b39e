import HubCore
import Support
import Testing

@testable import HubCLI

/// What a person may type in a conversation.
@Suite struct ChatCommandsTests {
    let remote: RemoteStage
    let place: TemporaryFolder

    init() throws {
        remote = try RemoteStage()
        place = try TemporaryFolder("typed")
    }

    private func chat(_ flags: [String] = []) async throws -> ChatTerminal {
        try await ChatTerminal(
            remote.stage, [RemoteStage.chat, "--provider", "hf"] + flags, with: remote.variables)
    }
    private var said: [String] {
        remote.calls.last?.json["messages"]?.array?.compactMap { $0["content"]?.string } ?? []
    }

    @Test func messagesMayHaveSeveralLines() async throws {
        let chat = try await chat()
        chat.process.write("one\\\n")
        try await chat.process.wait(forText: ". ")
        try await chat.say("two")
        #expect(said == ["one\ntwo"])
        chat.process.write("\"\"\"\nthree\n\n  four \\\n")
        try await chat.say("five\"\"\"")
        #expect(said.last == "three\n\n  four \\\nfive")
        try await chat.say("\"\"\"six\"\"\"")
        #expect(said.last == "six")
        try await chat.say("C:\\\\")
        #expect(said.last == "C:\\\\")
        #expect(try await chat.end().status == 0)
    }

    /// A terminal marks what is pasted; a line end in it ends no message.
    @Test func aPastedTextIsOneMessage() async throws {
        let chat = try await chat()
        chat.process.write("\u{1B}[200~def f():\r\treturn 1\r\u{1B}[201~")
        try await chat.process.wait(forText: "return 1")
        try await chat.say("")
        #expect(said == ["def f():\n return 1\n"])
        // Quotes and a backslash in it are its own, and /edit has it as one line.
        chat.process.write("\u{1B}[200~\"\"\"\rtext\"\"\"\rmore\\\u{1B}[201~")
        try await chat.process.wait(forText: "more\\")
        try await chat.say("")
        #expect(said.last == "\"\"\"\ntext\"\"\"\nmore\\")
        // CR LF is one line end, and so is each half of it alone.
        chat.process.write("\u{1B}[200~one\r\ntwo\rthree\nfour\r\n\r\nfive\u{1B}[201~")
        try await chat.process.wait(forText: "five")
        try await chat.say("")
        #expect(said.last == "one\ntwo\nthree\nfour\n\nfive")
        chat.process.write("before \u{1B}[200~a[2]\u{1B}[201~")
        try await chat.process.wait(forText: "a[2]")
        try await chat.say(" after")
        #expect(said.last == "before a[2] after")
        #expect(try await chat.end().terminal.contains("\u{1B}[?2004l"))
    }

    /// ^C at a question is a no, and what is typed next is a message.
    @Test func aQuestionEndsWithCtrlC() async throws {
        let file = try place.write("notes.txt", Array("blue".utf8))
        let chat = try await chat()
        chat.process.write("What is in @\(file)?\n")
        try await chat.process.wait(forText: "[y/N]")
        chat.process.interrupt()
        try await chat.process.wait(forText: "nothing was sent")
        try await chat.prompt()
        try await chat.say("y")
        #expect(said == ["y"])
        #expect(try await chat.end().status == 0)
    }

    @Test func theFirstLineSaysWhoAnswers() async throws {
        let chat = try await chat()
        #expect(try await chat.end().terminal.contains("\(RemoteStage.chat) answers at hf\r\n"))
    }

    @Test func aFileIsNamedByItsMark() async throws {
        let file = try place.write("notes.txt", Array("blue".utf8))
        let chat = try await chat()
        chat.process.write("What is in @\(file)?\n")
        try await chat.process.wait(forText: "Send notes.txt (4 B) to hf? [y/N]")
        chat.process.write("n\n")
        try await chat.process.wait(forText: "nothing was sent")
        try await chat.prompt()
        #expect(remote.calls.isEmpty)
        chat.process.write("What is in @\(file)?\n")
        _ = try await chat.process.waitForTerminal("a second question") { bytes in
            String(decoding: bytes, as: UTF8.self).components("[y/N]") == 3 ? true : nil
        }
        try await chat.say("y")
        #expect(said == ["<file name=\"notes.txt\">\nblue\n</file>\n\nWhat is in @\(file)?"])
        try await chat.say("And @\(place.path)/none.txt?")
        let result = try await chat.end()
        #expect(result.terminal.contains("/none.txt is not a file; it stays a word"))
    }

    @Test func theLastMessageIsEdited() async throws {
        let chat = try await chat()
        try await chat.say("/edit")
        try await chat.say("Hello thare")
        try await chat.say("/edit Hello there")
        #expect(said == ["Hello there"])
        // It stands in the line, and is changed there.
        try await chat.say("/edit")
        try await chat.process.wait(forText: "> Hello there")
        chat.process.write("!\n")
        try await chat.process.wait(forText: "You said: Hello there!")
        try await chat.prompt()
        try await chat.say("Next")
        let result = try await chat.end()
        #expect(result.terminal.contains("there is no message to change"))
        #expect(said == ["Hello there!", "You said: Hello there! 🙂", "Next"])
    }

    @Test func theModelIsChanged() async throws {
        let chat = try await chat()
        try await chat.say("One")
        try await chat.say("/model \(RemoteStage.chat):together")
        try await chat.say("Two")
        #expect(remote.calls.last?.json["model"]?.string == "\(RemoteStage.chat):together")
        #expect(said == ["One", "You said: One 🙂", "Two"])
        try await chat.say("/model")
        try await chat.say("/model no such model")
        let result = try await chat.end()
        #expect(result.terminal.contains("\(RemoteStage.chat), hf:together"))
        #expect(result.status == 0)
        // It goes on with the model that answered last.
        let kept = try await remote.stage.run("chats", "--json").document().objects("conversations")
        #expect(kept.first?["model"]?.string == "\(RemoteStage.chat):together")
    }

    /// What one provider may see, another may not.
    @Test func filesGoToAnotherModelAfterAYes() async throws {
        let file = try place.write("notes.txt", Array("blue".utf8))
        let chat = try await chat()
        chat.process.write("What is in @\(file)?\n")
        try await chat.process.wait(forText: "Send notes.txt (4 B) to hf? [y/N]")
        try await chat.say("y")
        chat.process.write("/model \(RemoteStage.chat):together\n")
        try await chat.process.wait(
            forText: "Send this conversation with what it has of files to hf:together? [y/N]")
        chat.process.write("n\n")
        try await chat.process.wait(forText: "nothing was sent")
        try await chat.prompt()
        try await chat.say("And now?")
        #expect(remote.calls.last?.json["model"]?.string?.hasSuffix(":together") == false)
        #expect(try await chat.end().status == 0)
    }

    @Test func theConversationIsSaved() async throws {
        let chat = try await chat(["--no-keep"])
        try await chat.say("One")
        try await chat.say("/save \(place("chat.md"))")
        try await chat.say("/save \(place("chat.json"))")
        try await chat.say("/save \(place("chat.md"))")
        try await chat.say("/save")
        let result = try await chat.end()
        #expect(
            result.terminal.contains("chat.md is there already") && result.terminal.contains("write /save FILE"))
        #expect(try FileSystem.text(place("chat.md"))?.contains("## You\n\nOne\n") == true)
        let document = try JSON.parse(try #require(try FileSystem.contents(place("chat.json"))))
        #expect(document["messages"]?.array?.count == 2)
    }

    @Test func otherCommandsAnswer() async throws {
        let chat = try await chat()
        for line in [
            "/tools", "/help", "/json \(place("none.json"))", "/json", "/reasoning", "/reasoning", "/retry",
        ] {
            try await chat.say(line)
        }
        let text = try await chat.end().terminal
        #expect(text.contains("there are none; --tool and --web") && text.contains("/edit [TEXT]"))
        #expect(text.contains("does not exist") && text.contains("reasoning is shown as it comes"))
        #expect(text.contains("reasoning is folded") && text.contains("there is no message to answer again"))
        // A path is a message.
        #expect(remote.calls.isEmpty)
    }

    @Test func answersAreShownAsMarkdown() async throws {
        let stage = try RemoteStage.chatting { _ in
            .chunks([
                piece("# He"), piece("ad\n\nSome **bo"), piece("ld** text"), piece("\n- item", reason: "stop"),
            ])
        }
        let words = ["chat", RemoteStage.chat, "Hi", "--provider", "hf"]
        let shown = try await stage.stage.run(words, with: stage.variables, terminal: .init(columns: 40))
        #expect(shown.terminal.contains("\u{1B}[1mbold\u{1B}[0m"))
        #expect(Screen(shown.terminal, columns: 40).text == "Head\n\nSome bold text\n• item")
        let plain = try await stage.stage.run(
            words, with: stage.variables.merging(["NO_COLOR": "1"]) { $1 }, terminal: .init())
        #expect(plain.terminal == "# Head\r\n\r\nSome **bold** text\r\n- item\r\n")
        #expect(
            try await stage.stage.run(words, with: stage.variables).output
                == "# Head\n\nSome **bold** text\n- item\n")
    }
}

extension String {
    /// How many parts a separator makes.
    fileprivate func components(_ separator: String) -> Int {
        var (count, rest) = (1, Substring(self))
        while let range = String(rest).range(of: separator) {
            count += 1
            rest = Substring(String(rest)[range.upperBound...])
        }
        return count
    }
}
