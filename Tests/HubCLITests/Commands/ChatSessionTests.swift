import HubCore
import Libc
import Support
import Testing

@testable import HubCLI

/// `hub try --chat` on a terminal.
@Suite struct ChatSessionTests {
    let stage: Stage
    let folder: String

    init() throws {
        stage = try Stage()
        folder = try Fixtures.path("tiny-shakespeare")
    }

    private static let variables = ["TERM": "xterm", "HUB_THREADS": "1", "SWIFT_BACKTRACE": "enable=no"]

    private func start(_ words: String..., model: String? = nil) throws -> RunningProcess {
        let flags = (["--chat", "--seed", "1", "--color", "never"] + words).joined(separator: " ")
        let variables = Self.variables.map { "\($0)=\($1)" }.joined(separator: " ")
        return try stage.shell(
            "ulimit -c 0; exec env \(variables) \"$hub\" try \(ShellQuoting.posix(model ?? folder)) \(flags)",
            // Wide enough for a message with a path, which is broken where the terminal ends.
            terminal: .init(columns: 400))
    }

    /// Waits until the program has asked so many times. What is typed before is read by the terminal's own rules, by which
    /// ^D is no key.
    private func prompts(_ count: Int, _ process: RunningProcess) async throws {
        _ = try await process.waitForTerminal("prompt \(count)") { bytes in
            String(decoding: bytes, as: UTF8.self).ranges(of: ChatTerminal.prompt).count >= count ? true : nil
        }
    }

    /// The figures of `/stats`: the tokens of the prompt, and those of them that were computed before.
    private func figures(_ text: String) -> [(prompt: Int, reused: Int)] {
        text.matches(of: /prompt +(\d+) tokens?, (\d+) of them reused/).map { (Int($0.1) ?? 0, Int($0.2) ?? 0) }
    }

    @Test func aConversationGoesFromLineToLine() async throws {
        let process = try start("--max-tokens", "12")
        try await prompts(1, process)
        let lines = [
            "/stats", "/retry", "Who goes thére?", "/stats", "And then?", "/stats", "/retry", "/nonsense", "/help",
            "/system Be brief.", "/quit",
        ]
        for (number, line) in lines.enumerated() {
            process.write(line + "\n")
            if line != "/quit" { try await prompts(number + 2, process) }
        }
        let result = try await process.wait()
        #expect(result.status == 0)
        let text = result.terminal
        #expect(text.contains("there is no answer yet") && text.contains("there is no message to answer again"))
        #expect(text.contains("unknown command /nonsense; /help lists them") && text.contains("/system [TEXT]  "))
        // The second turn begins with the first, which is not computed again.
        let figures = figures(text)
        #expect(figures.count == 2 && figures[0].reused == 0)
        #expect(figures[1].reused >= figures[0].prompt && figures[1].prompt > figures[1].reused)
    }

    @Test func anAnswerFitsTheSchemaOfTheLastJSON() async throws {
        try FileSystem.replace(stage.machine("two.json"), with: Array(#"{"enum":[41,42]}"#.utf8))
        let process = try start("--max-tokens", "12")
        try await prompts(1, process)
        let lines = [
            "/json \(stage.machine("two.json"))", "How many?", "/json \(stage.machine("none.json"))", "/quit",
        ]
        for (number, line) in lines.enumerated() {
            process.write(line + "\n")
            if line != "/quit" { try await prompts(number + 2, process) }
        }
        let text = try await process.wait().terminal
        let answers = text.split(whereSeparator: \.isNewline).filter {
            ["2004l41", "2004l42"].contains($0.suffix(7))
        }
        #expect(answers.count == 1 && text.contains("none.json does not exist"), "\(text)")
    }

    @Test func theTemplateMayBeAnother() async throws {
        try FileSystem.replace(stage.machine("short.jinja"), with: Array("{{ messages[0].content }}".utf8))
        let process = try start("--max-tokens", "2", "--template", ShellQuoting.posix(stage.machine("short.jinja")))
        try await prompts(1, process)
        for (number, line) in ["a", "/stats", "/quit"].enumerated() {
            process.write(line + "\n")
            if line != "/quit" { try await prompts(number + 2, process) }
        }
        #expect(figures(try await process.wait().terminal).first?.prompt == 1)
    }

    @Test func otherCharactersAreReadInAnyLocale() async throws {
        for locale in ["C", "C.UTF-8"] {
            let process = try stage.start(
                "try", folder, "--chat", "--color", "never",
                with: Self.variables.merging(["LC_ALL": locale]) { $1 },
                terminal: .init())
            try await prompts(1, process)
            process.write("/thére\u{7F}\u{7F}世\n")
            try await process.wait(forText: "unknown command /thé世; ")
            try await prompts(2, process)
            process.write("\u{4}")
            #expect(try await process.wait().status == 0)
        }
    }

    /// What does not fit was not said, so that the conversation is not stuck.
    @Test func aMessageThatDoesNotFitIsNotSaid() async throws {
        let process = try start("--max-tokens", "2", "--context", "40")
        try await prompts(1, process)
        process.write(String(repeating: "and so on ", count: 30) + "\n")
        try await process.wait(forText: "the context has room for 40")
        try await prompts(2, process)
        process.write("Ho!\n")
        try await prompts(3, process)
        process.write("/stats\n")
        try await prompts(4, process)
        process.write("\u{4}")
        let result = try await process.wait()
        #expect(result.status == 0 && figures(result.terminal).first.map { $0.prompt < 40 } == true)
    }

    /// Reading weights that are not there any more would end the program (SIGBUS), whose terminal is guarded against faults, too.
    @Test func weightsThatAreCutMakeNoAnswer() async throws {
        let copy = try TemporaryFolder(linking: "tiny-shakespeare", except: ["model.safetensors"])
        try copy.write("model.safetensors", Fixtures.bytes("tiny-shakespeare/model.safetensors"))
        let process = try start("--max-tokens", "2", model: copy.path)
        try await prompts(1, process)
        process.write("Ho!\n")
        try await prompts(2, process)
        #expect(truncate(copy("model.safetensors"), 0) == 0)
        process.write("Who goes there?\n")
        try await process.wait(forText: "the file was cut, or could not be read, while it was in use")
        try await prompts(3, process)
        process.write("\u{4}")
        #expect(try await process.wait().status == 0)
    }

    @Test func interruptingEndsTheAnswerAndNotTheProgram() async throws {
        // The end token is banned, and a state space takes a text of any length: the answer would last for minutes.
        let process = try start(
            "--max-tokens", "1000000", "--context", "1000000", "--logit-bias", "1:-1000", "--speculate", "off",
            model: try Fixtures.path("micro/mamba"))
        try await prompts(1, process)
        process.write("Speak!\n")
        // Something of the answer stands below the message.
        _ = try await process.waitForTerminal("a beginning") { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            return text.range(of: "Speak!\r\n").flatMap { text[$0.upperBound...].count > 5 ? true : nil }
        }
        process.write("\u{3}")
        try await prompts(2, process)
        process.write("/stats\n")
        try await prompts(3, process)
        process.write("\u{4}")
        let result = try await process.wait()
        #expect(result.status == 0 && !result.terminal.contains("the answer was cut"))
        #expect(figures(result.terminal).count == 1)
    }

    @Test func atThePromptAnInterruptionClearsTheLine() async throws {
        let process = try start("--max-tokens", "2")
        try await prompts(1, process)
        let before = process.terminalMode
        process.write("half a line")
        try await process.wait(forText: "half a line")
        process.write("\u{3}/nonsense\n")
        try await process.wait(forText: "unknown command /nonsense; ")
        try await prompts(2, process)
        // The last line comes back, and is edited.
        process.write("\u{1B}[A")
        process.write("!\n")
        try await process.wait(forText: "unknown command /nonsense!; ")
        try await prompts(3, process)
        #expect(before != nil)
        process.write("\u{4}")
        #expect(try await process.wait().status == 0)
    }

    @Test func theTerminalIsGivenBack() async throws {
        for (signal, status) in [(SIGTERM, Int32(130)), (SIGQUIT, nil)] {
            let process = try start("--max-tokens", "2")
            try await prompts(1, process)
            // Lines are edited without the terminal's own echo.
            #expect(process.terminalEchoes == false)
            process.send(signal)
            let result = try await process.wait()
            if let status {
                #expect(result.status == status && result.terminal.contains("a conversation is not kept"))
            }
            #expect(process.terminalEchoes == true, "\(signal)")
        }
    }

    @Test func aStoppedConversationContinues() async throws {
        let hub = "\"$hub\" try \(ShellQuoting.posix(folder)) --chat --max-tokens 2 --color never"
        let process = try stage.shell(
            "export TERM=xterm; set -m; \(hub); echo stopped; read x; fg >/dev/null", terminal: .init())
        try await prompts(1, process)
        process.write("/non\u{1A}")
        try await process.wait(forText: "stopped")
        #expect(process.terminalEchoes == true)
        process.write("\n")
        // What was typed before is still there.
        _ = try await process.waitForTerminal("the line again") { bytes in
            String(decoding: bytes, as: UTF8.self).ranges(of: "\u{1B}[?2004h").count >= 2 ? true : nil
        }
        process.write("sense\n")
        try await process.wait(forText: "unknown command /nonsense; ")
        process.write("\u{4}")
        #expect(try await process.wait().status == 0)
    }

    @Test func withoutATerminalItSaysWhatItNeeds() async throws {
        let result = try await stage.run("try", folder, "--chat", input: "Hello\n")
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(
            result.error == """
                hub: a conversation needs a terminal, and no --json or --quiet
                     with a PROMPT it answers once: hub try REF PROMPT --chat

                """)
        #expect(try await stage.run("try", folder, "--chat", "--json").errorCode() == "invalid_input")
    }

    @Test func whatDoesNotConverseIsToldBeforeTheFirstLine() async throws {
        let bare = try TemporaryFolder("bare")
        for name in ["config.json", "tokenizer.json", "model.safetensors"] {
            try bare.write(name, Fixtures.bytes("tiny-shakespeare/\(name)"))
        }
        let plain = try await stage.run("try", bare.path, "--chat", terminal: .init(columns: 200))
        #expect(plain.status == 2 && plain.terminal.contains("has no chat template"))
        let encoder = try await stage.run(
            "try", Fixtures.path("micro/bert"), "--chat", terminal: .init(columns: 200))
        #expect(encoder.status == 7 && encoder.terminal.contains("turns texts into vectors; it does not answer"))
    }
}
