import HubCore
import Libc
import Support
import Testing

/// What is typed at `hub auth login` never shows, and the terminal is given back as it was however that ends.
@Suite struct SecretPromptTests {
    static let secret = "hf_loopback"
    let stage: Stage

    init() throws { stage = try Stage() }

    private var file: String { stage.machine("hf/token") }
    private var prompt: String { "Token for \(stage.hub.endpoint) (input hidden): " }

    /// `hub auth login`, waiting at its prompt.
    private func atPrompt(
        _ flags: String..., streams: RunningProcess.Terminal.Streams = .all
    ) async throws -> RunningProcess {
        // Without a file for the memory of a program that SIGQUIT ends.
        let words = (["auth", "login", "--color=never"] + flags).joined(separator: " ")
        let process = try stage.shell("ulimit -c 0; exec \"$hub\" \(words)", terminal: .init(streams))
        try await process.wait(forText: prompt)
        #expect(process.terminalEchoes == false)
        return process
    }

    @Test func nothingShowsWhileTyping() async throws {
        let process = try await atPrompt()
        process.write("\(Self.secret)\n")
        let result = try await process.wait()
        #expect(result.status == 0)
        // A line is broken between words where the terminal ends, and no word is.
        let words = result.terminal.dropFirst(prompt.count).split(whereSeparator: \.isWhitespace)
        #expect(result.terminal.hasPrefix("\(prompt)\r\nLogged in as local; the token is in"))
        #expect(words.suffix(2).joined(separator: " ") == "in \(file)")
        #expect(process.terminalEchoes == true)
        #expect(try FileSystem.text(file) == Self.secret)
    }

    /// stdout and stderr are for programs and logs; the question goes where the answer is typed.
    @Test(arguments: ["--json", "-q", "--progress=json", "--verbose"])
    func theQuestionIsOnTheTerminalAlone(flag: String) async throws {
        let process = try await atPrompt(flag, streams: .input)
        process.write("\(Self.secret)\n")
        let result = try await process.wait()
        #expect(result.status == 0 && result.terminal == "\(prompt)\r\n")
        #expect(!result.output.contains("Token for") && !result.error.contains("Token for"))
        #expect(!result.error.contains(Self.secret))
        if flag == "--json" { #expect(try result.document()["user"] == "local") }
    }

    /// It promised a way in that needs an app, which hub has not.
    @Test func anotherWayInIsOfferedWhereThereIsOne() async throws {
        try FileSystem.createDirectories(stage.machine("state"))
        try FileSystem.replace(stage.machine("state/oauth-client-id"), with: Array("app\n".utf8))
        let process = try stage.shell("exec \"$hub\" auth login", terminal: .init(columns: 200))
        try await process.wait(forText: "Token for \(stage.hub.endpoint) (input hidden; --browser needs none): ")
        process.write("\n")
        let result = try await process.wait()
        #expect(result.status == 2 && result.terminal.contains("--browser and --device sign in without one"))
        #expect("Token for https://huggingface.co (input hidden; --browser needs none): ".count < 80)
        let piped = try await stage.run("auth", "login", with: ["HUB_HOME": stage.machine("other")])
        #expect(piped.status == 2 && !piped.error.contains("--browser"))
    }

    @Test func aWrongOneDoesNotShowEither() async throws {
        let process = try await atPrompt()
        process.write("hf_wrong-one\n")
        let result = try await process.wait()
        #expect(result.status == 4 && !result.terminal.contains("wrong"))
        #expect(process.terminalEchoes == true)
    }

    @Test func theEndOfInputIsNoToken() async throws {
        let process = try await atPrompt()
        process.write("\u{4}")
        let result = try await process.wait()
        #expect(result.status == 2 && result.terminal.contains("no token was given"))
        #expect(process.terminalEchoes == true)
    }

    /// What was pasted behind the token is not left for the shell to run, nor shown.
    @Test func whatFollowsTheTokenIsDropped() async throws {
        let gate = Gate()
        stage.hub.fail("whoami", .holdHead(gate))
        let process = try stage.shell(
            "\"$hub\" auth login; echo ready; read line; echo \"read $line\"", terminal: .init())
        try await process.wait(forText: prompt)
        process.write("\(Self.secret)\nrm -rf important\n")
        try await gate.reached()
        #expect(process.terminalEchoes == true, "the prompt is over as soon as the line is there")
        gate.release()
        try await process.wait(forText: "ready")
        process.write("typed\n")
        let result = try await process.wait()
        #expect(result.terminal.hasSuffix("ready\r\ntyped\r\nread typed\r\n"))
        #expect(!result.terminal.contains("important") && !result.terminal.contains(Self.secret))
    }

    @Test(arguments: ["\u{3}", "hf_half\u{3}"]) func anInterruptionGivesTheTerminalBack(keys: String) async throws {
        let process = try await atPrompt()
        process.write(keys)
        let result = try await process.wait()
        #expect(result.status == 130 && !result.wasKilled)
        #expect(result.terminal == "\(prompt)\r\nhub: interrupted\r\n     no token was saved\r\n")
        #expect(process.terminalEchoes == true)
        #expect(!FileSystem.exists(file) && stage.hub.requests.isEmpty)
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGQUIT]) func soDoesASignal(number: Int32) async throws {
        let process = try await atPrompt()
        process.send(number)
        let result = try await process.wait()
        // SIGTERM is an interruption like another; the others do what they always do.
        #expect(result.status == (number == SIGTERM ? 130 : 128 + number))
        #expect(result.wasKilled == (number != SIGTERM))
        #expect(process.terminalEchoes == true)
        #expect(!FileSystem.exists(file))
    }

    @Test func aKeyThatQuitsGivesTheTerminalBack() async throws {
        let process = try await atPrompt()
        process.write("\u{1C}")
        #expect(try await process.wait().status == 128 + SIGQUIT)
        #expect(process.terminalEchoes == true)
    }

    /// With a shell that controls jobs: without one, a stop has no effect.
    @Test func aStopGivesTheTerminalBackAndContinuingHidesItAgain() async throws {
        let process = try stage.shell(
            """
            set -m
            "$hub" auth login
            echo "stopped $?"
            stty -a | tr ' ;' '\\n\\n' | grep -x -e echo -e -echo
            read line
            fg >/dev/null
            echo "ended $?"
            """, terminal: .init())
        try await process.wait(forText: prompt)
        process.write("hf_half\u{1A}")
        let stopped = try await process.wait(forText: "stopped \(128 + SIGTSTP)\r\necho\r\n")
        #expect(!stopped.contains("half"))
        #expect(process.terminalEchoes == true)
        process.write("shown\n")
        try await process.wait(forText: "shown\r\n")
        // The prompt comes again; what was typed before the stop is gone.
        try await process.wait(forText: "shown\r\n\(prompt)")
        #expect(process.terminalEchoes == false)
        process.write("\(Self.secret)\n")
        let result = try await process.wait()
        #expect(result.terminal.contains("ended 0\r\n"), "\(result.terminal)")
        #expect(!result.terminal.contains("half") && !result.terminal.contains(Self.secret))
        #expect(process.terminalEchoes == true)
        #expect(try FileSystem.text(file) == Self.secret)
    }

    /// A terminal that showed nothing before shows nothing afterwards.
    @Test func theTerminalIsGivenBackAsItWas() async throws {
        let process = try stage.shell("stty -echo; exec \"$hub\" auth login", terminal: .init())
        try await process.wait(forText: prompt)
        process.write("\(Self.secret)\n")
        #expect(try await process.wait().status == 0)
        #expect(process.terminalEchoes == false)
    }
}
