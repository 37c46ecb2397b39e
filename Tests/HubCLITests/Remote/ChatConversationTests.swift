import HubCore
import HubServer
import Libc
import Support
import Testing

@testable import HubCLI

/// A conversation with a remote model on the terminal.
@Suite struct ChatConversationTests {
    private func start(_ stage: RemoteStage, _ words: [String] = []) throws -> RunningProcess {
        let variables = stage.variables.merging(["TERM": "xterm"]) { $1 }.map { "\($0)=\($1)" }.joined(
            separator: " ")
        let flags = (["--provider", "hf", "--color", "never"] + words).map(ShellQuoting.posix).joined(
            separator: " ")
        return try stage.stage.shell(
            "exec env \(variables) \"$hub\" chat \(RemoteStage.chat) \(flags)", terminal: .init(columns: 100))
    }

    /// Waits until the program has asked so many times; see ``ChatSessionTests``.
    private func prompts(_ count: Int, _ process: RunningProcess) async throws {
        _ = try await process.waitForTerminal("prompt \(count)") { bytes in
            String(decoding: bytes, as: UTF8.self).ranges(of: ChatTerminal.prompt).count >= count ? true : nil
        }
    }

    @Test func whatWasSaidIsSentAgain() async throws {
        let stage = try RemoteStage()
        let process = try start(stage, ["--system", "Be kind."])
        try await prompts(1, process)
        for (number, line) in ["One", "Two", "/stats", "/quit"].enumerated() {
            process.write(line + "\n")
            if line != "/quit" { try await prompts(number + 2, process) }
        }
        let result = try await process.wait()
        #expect(result.status == 0)
        #expect(result.terminal.contains("You said: One 🙂") && result.terminal.contains("You said: Two 🙂"))
        #expect(result.terminal.contains(#/prompt +7 tokens/#))
        let turns = stage.calls.last?.json["messages"]?.array ?? []
        #expect(turns.compactMap { $0["role"]?.string } == ["system", "user", "assistant", "user"])
        #expect(turns.compactMap { $0["content"]?.string } == ["Be kind.", "One", "You said: One 🙂", "Two"])
    }

    @Test func aFileBelongsToTheFirstMessage() async throws {
        let stage = try RemoteStage()
        let place = try TemporaryFolder("attached")
        let notes = try place.write("notes.txt", Array("Blue.".utf8))
        let process = try start(stage, ["--attach", notes, "--yes"])
        try await prompts(1, process)
        process.write("One\n")
        try await prompts(2, process)
        process.write("Two\n")
        try await prompts(3, process)
        process.write("\u{4}")
        #expect(try await process.wait().status == 0)
        let said = stage.calls.map { $0.json["messages"]?.array?.last?["content"]?.string ?? "" }
        #expect(said == ["<file name=\"notes.txt\">\nBlue.\n</file>\n\nOne", "Two"])
    }

    @Test func interruptingClosesTheConnectionAndNotTheProgram() async throws {
        let stage = try RemoteStage.chatting { request in
            request.text.contains("Speak") && !request.text.contains("again")
                ? .events([.text("data: \(piece("Well, "))\n\n"), .silence]) : HonestRouter().answer(request)
        }
        let process = try start(stage)
        try await prompts(1, process)
        process.write("Speak\n")
        try await process.wait(forText: "Well, ")
        process.write("\u{3}")
        try await prompts(2, process)
        try await stage.server.abandoned()
        process.write("again\n")
        try await prompts(3, process)
        process.write("\u{4}")
        let result = try await process.wait()
        #expect(result.status == 0 && result.terminal.contains("You said: again 🙂"))
        // What there was of the answer was said.
        let turns = stage.calls.last?.json["messages"]?.array ?? []
        #expect(turns.compactMap { $0["content"]?.string } == ["Speak", "Well, ", "again"])
    }

    @Test func aFailureIsSaidAndTheConversationContinues() async throws {
        let stage = try RemoteStage.chatting { request in
            request.text.contains("bad")
                ? .json(#"{"error":"no such luck"}"#, status: 400) : HonestRouter().answer(request)
        }
        let process = try start(stage)
        try await prompts(1, process)
        process.write("bad\n")
        try await process.wait(forText: "no such luck")
        try await prompts(2, process)
        process.write("good\n")
        try await prompts(3, process)
        process.write("\u{4}")
        let result = try await process.wait()
        #expect(result.status == 0 && result.terminal.contains("You said: good 🙂"))
        let turns = stage.calls.last?.json["messages"]?.array ?? []
        #expect(turns.compactMap { $0["content"]?.string } == ["good"])
    }

    @Test func withoutATerminalItSaysWhatItNeeds() async throws {
        let stage = try RemoteStage()
        let result = try await stage.run("chat", RemoteStage.chat, "--json", terminal: .init(columns: 200))
        #expect(result.status == 2 && result.terminal.contains("a conversation needs a terminal"))
        #expect(stage.server.requests.isEmpty)
    }
}
