import HubCore
import HubServer
import Libc
import Support
import Testing

@testable import HubCLI

/// Programs as tools of `hub chat`. The stand-in calls the first tool with what was said, and repeats the tool's answer.
@Suite struct ChatToolTests {
    let stage: RemoteStage
    let folder: TemporaryFolder

    init() throws {
        stage = try RemoteStage()
        folder = try TemporaryFolder("tools")
    }

    private func program(_ name: String = "weather", _ body: String, sheet: String? = nil) throws -> String {
        let path = try folder.write(name, "#!/bin/sh\n" + body)
        #expect(chmod(path, 0o755) == 0)
        if let sheet { try folder.write(name + ".json", sheet) }
        return path
    }

    private func chat(
        _ words: String..., with variables: [String: String] = [:], input: String = ""
    ) async throws -> ProcessResult {
        try await stage.stage.run(
            ["chat", RemoteStage.chat, "Paris?", "--provider", "hf"] + words,
            with: stage.variables.merging(variables) { $1 }, input: input)
    }

    @Test func aProgramAnswers() async throws {
        let tool = try program(
            "weather.sh", "read line; echo \"got $line in $(basename \"$0\") with $# arguments\"",
            sheet:
                #"{"description":"Tells the weather.","parameters":{"type":"object","properties":{"text":{"type":"string"}}}}"#
        )
        let result = try await chat("--tool", tool, "--allow-tool", "weather", "--json")
        #expect(result.status == 0, "\(result.error)")
        let document = try result.document()
        #expect(document["text"]?.string == #"You said: got {"text":"Paris?"} in weather.sh with 0 arguments 🙂"#)
        let call = try #require(document["tool_calls"]?.array?.first)
        #expect(document["tool_calls"]?.array?.count == 1 && call["name"]?.string == "weather")
        #expect(call["arguments"]?.string == #"{"text":"Paris?"}"# && call["id"]?.string == "call_1")
        #expect(document["finish_reason"]?.string == "stop")
        #expect(result.error.contains(#"the model calls weather {"text":"Paris?"}"#))
        // The model was told of it, and got its answer with the id of the call.
        let function = stage.calls.first?.json["tools"]?.array?.first?["function"]
        #expect(
            function?["description"]?.string == "Tells the weather."
                && function?["parameters"]?["properties"] != nil)
        let last = stage.calls.last?.json["messages"]?.array?.last
        #expect(last?["role"]?.string == "tool" && last?["tool_call_id"]?.string == "call_1")
    }

    @Test func inAPipeNothingRunsThatWasNotAllowed() async throws {
        let tool = try program("weather", "touch '\(folder("ran"))'")
        let other = try program("clock", "true")
        for words in [["--yes"], ["--allow-tool", "clock", "--yes"]] {
            let result = try await stage.stage.run(
                ["chat", RemoteStage.chat, "Paris?", "--provider", "hf", "--tool", tool, "--tool", other] + words,
                with: stage.variables)
            #expect(result.status == 0 && result.output.contains("nobody is there to allow it"))
            #expect(result.error.contains("which was not allowed") && result.error.contains("--allow-tool weather"))
            #expect(!FileSystem.exists(folder("ran")))
        }
    }

    @Test(arguments: [
        ("y", "It rains"), ("n", "the person does not allow this call"),
        ("", "the person does not allow this call"),
    ])
    func onATerminalEachCallIsAsked(answer: String, said: String) async throws {
        let tool = try program("weather", "echo It rains")
        let result = try await stage.answer(
            ["chat", RemoteStage.chat, "Paris?", "--provider", "hf", "--tool", tool, "--color", "never", "--yes"],
            "The model calls weather {\"text\":\"Paris?\"}. Run it? [y/N] ", answer)
        #expect(result.status == 0 && result.terminal.contains("You said: \(said)"), "\(result.terminal)")
    }

    @Test func noSecretIsInItsEnvironment() async throws {
        let tool = try program("weather", "env")
        let secrets = [
            "HF_TOKEN": RemoteStage.token, "HUGGING_FACE_HUB_TOKEN": RemoteStage.token,
            "HUB_PROVIDER_KEY": "s1ngular-abc",
            "HUB_SERVE_TOKEN": "s1ngular-def", "GITHUB_TOKEN": "s1ngular-ghi",
            "AWS_SECRET_ACCESS_KEY": "s1ngular-jkl",
            "PGPASSWORD": "s1ngular-1", "MYSQL_PWD": "s1ngular-2", "SSHPASS": "s1ngular-3", "GH_PAT": "s1ngular-4",
            "npm_config__authToken": "s1ngular-5", "NPM_AUTH": "s1ngular-6", "ACCESSTOKEN": "s1ngular-7",
            "OPENAI_APIKEY": "s1ngular-8", "MY_JWT": "s1ngular-9", "SMTP_PASS": "s1ngular-0",
            "My_Secret": "s1ngular-mno", "DB_PASSWORD": "s1ngular-pqr", "NOTE": "token \(RemoteStage.token)",
            "SOME_PROXY": "http://me:s1ngular-stu@127.0.0.1:9",
        ]
        let result = try await chat(
            "--tool", tool, "--allow-tool", "weather",
            with: secrets.merging(["PLAIN": "stays", "MONKEY": "stays too", "OLDPWD": "/stays"]) { $1 })
        #expect(
            result.status == 0 && result.output.contains("PLAIN=stays")
                && result.output.contains("MONKEY=stays too") && result.output.contains("OLDPWD=/stays"))
        #expect(
            !result.output.contains("s1ngular") && !result.output.contains(RemoteStage.token), "\(result.output)")
        #expect(result.output.contains("PATH=") && result.output.contains("HOME="))
    }

    @Test func whatFailsGoesBackToTheModel() async throws {
        let failing = try program("weather", "echo so far; echo 'no such place' >&2; exit 3")
        let failed = try await chat("--tool", failing, "--allow-tool", "weather")
        #expect(failed.status == 0 && failed.output.contains("weather failed with status 3: no such place"))
        #expect(!failed.error.contains("no such place"))
        let killed = try await chat("--tool", try program("weather", "kill -9 $$"), "--allow-tool", "weather")
        #expect(killed.output.contains("weather was ended by signal 9"))
        let large = try await chat(
            "--tool", try program("weather", "head -c 2097152 /dev/zero; touch '\(folder("end"))'"), "--allow-tool",
            "weather")
        #expect(large.status == 0 && large.output.contains("weather answered with more than 1"))
        let bytes = try await chat("--tool", try program("weather", "printf '\\377'"), "--allow-tool", "weather")
        #expect(bytes.output.contains("bytes that are not UTF-8"))
        let script = try folder.write("nothing", "#!/no/such/interpreter\n")
        #expect(chmod(script, 0o755) == 0)
        let missing = try await chat("--tool", script, "--allow-tool", "nothing")
        #expect(missing.status == 0 && missing.output.contains("cannot start"))
    }

    @Test func whatItSaysOfErrorsIsShownIfAsked() async throws {
        let tool = try program("weather", "echo looking >&2; echo fine")
        let plain = try await chat("--tool", tool, "--allow-tool", "weather")
        #expect(plain.output == "You said: fine 🙂\n" && !plain.error.contains("looking"))
        let verbose = try await chat("--tool", tool, "--allow-tool", "weather", "--verbose")
        #expect(verbose.error.contains("weather: looking"))
    }

    /// The program and what it has started are killed: their pipe closes.
    @Test func interruptingKillsTheWholeGroup() async throws {
        let fifo = folder("alive")
        #expect(mkfifo(fifo, 0o600) == 0)
        let tool = try program("weather", "sleep 1000 3>'\(fifo)' & echo started > '\(fifo)'; wait")
        let process = try stage.stage.start(
            "chat", RemoteStage.chat, "Paris?", "--provider", "hf", "--tool", tool, "--allow-tool", "weather",
            with: stage.variables)
        // At once, on this thread: a tool has a minute.
        let reader = try await Thread.run { [fifo] in
            let file = open(fifo, O_RDONLY)
            var buffer = [UInt8](repeating: 0, count: 100)
            while read(file, &buffer, buffer.count) > 0 {
                if buffer.contains(UInt8(ascii: "s")) { break }
            }
            process.interrupt()
            return file
        }
        let result = try await process.wait()
        #expect(result.status == 130)
        // The end of the file comes when nobody has it open any more.
        let left = try await Thread.run {
            var buffer = [UInt8](repeating: 0, count: 100)
            while true {
                let count = read(reader, &buffer, buffer.count)
                if count <= 0 { return count }
            }
        }
        #expect(left == 0)
        close(reader)
    }

    @Test func whatIsNoToolIsRefusedBeforeAnything() async throws {
        let good = try program("weather", "true")
        let plain = try folder.write("plain", "text")
        let odd = try program("we ather", "true")
        let sheet = try program("sheet", "true", sheet: "[1]")
        let parameters = try program("typed", "true", sheet: #"{"parameters":[]}"#)
        let broken = try program("broken", "true", sheet: "{")
        let twice = try program("other/weather", "true")
        let cases: [([String], String)] = [
            (["--tool", "/no/such/tool"], "there is no program /no/such/tool"),
            (["--tool", plain], "there is no program"),
            (["--tool", folder.path], "there is no program"),
            (["--tool", "no-such-program-anywhere"], "there is no program"),
            (["--tool", odd], "\"we ather\" cannot be the name of a tool"),
            (["--tool", sheet], "is not a JSON object"),
            (["--tool", parameters], "parameters that are not a JSON Schema"), (["--tool", broken], "is not JSON"),
            (["--tool", good, "--tool", twice], "two tools have the name weather"),
            (["--tool", good, "--allow-tool", "clock"], "there is no tool clock"),
            (["--allow-tool", "clock"], "there is no tool clock"),
        ]
        for (words, message) in cases {
            let result = try await stage.stage.run(
                ["chat", RemoteStage.chat, "Hi", "--provider", "hf"] + words, with: stage.variables)
            #expect(result.status == 2 && result.error.contains(message), "\(words): \(result.error)")
        }
        #expect(stage.calls.isEmpty)
    }

    /// Says something, calls the first tool, and ends so.
    private static func calling(_ arguments: String, reason: String) throws -> RemoteStage {
        try RemoteStage.chatting { request in
            if request.json["messages"]?.array?.last?["role"]?.string == "tool" {
                return .chunks([piece("Done", reason: "stop")])
            }
            let call = JSON.object(["name": "weather", "arguments": .string(arguments)]).text()
            return .chunks([
                piece("I look."),
                #"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":\#(call)}]}}]}"#,
                #"{"choices":[{"index":0,"delta":{},"finish_reason":"\#(reason)"}]}"#,
            ])
        }
    }

    @Test func aCallThatWasCutDoesNotRun() async throws {
        let tool = try program("weather", "touch '\(folder("ran"))'")
        for (reason, runs) in [("length", false), ("content_filter", false), ("tool_calls", true)] {
            let stage = try Self.calling("", reason: reason)
            let result = try await stage.run(
                "chat", RemoteStage.chat, "Hi", "--provider", "hf", "--tool", tool, "--allow-tool", "weather",
                "--json")
            #expect(result.status == 0 && FileSystem.exists(folder("ran")) == runs, "\(reason)")
            #expect(try result.document()["finish_reason"]?.string == (runs ? "stop" : reason))
        }
    }

    private func roles(_ messages: [JSON]?) -> [String] { (messages ?? []).compactMap { $0["role"]?.string } }

    /// The calls and what the tools answered are a part of the conversation.
    @Test func theNextTurnKnowsOfTheTools() async throws {
        let tool = try program("weather", "echo It rains")
        let stage = try Self.calling("{}", reason: "tool_calls")
        let words = ["--tool", tool, "--allow-tool", "weather", "--json"]
        let first = try await stage.stage.run(
            ["chat", RemoteStage.chat, "Paris?", "--provider", "hf"] + words, with: stage.variables)
        let document = try first.document()
        #expect(document["text"]?.string == "I look.\n\nDone")
        let id = try #require(document["conversation"]?.string)
        _ = try await stage.stage.run(["chat", "--continue=\(id)", "Rome?"] + words, with: stage.variables)
        let sent = try #require(stage.calls[2].json["messages"]?.array)
        #expect(roles(sent) == ["user", "assistant", "tool", "assistant", "user"])
        #expect(sent[1]["content"]?.string == "I look." && sent[1]["tool_calls"]?.array?.count == 1)
        #expect(sent[2]["content"]?.string == "It rains" && sent[2]["tool_call_id"]?.string == "c1")
        #expect(sent[3]["content"]?.string == "Done")
        // Without tools there are no calls.
        _ = try await stage.stage.run(["chat", "--continue=\(id)", "Oslo?"], with: stage.variables)
        let plain = try #require(stage.calls.last?.json["messages"]?.array)
        #expect(roles(plain) == ["user", "assistant", "user", "assistant", "user"])
        #expect(plain[1]["content"]?.string == "I look.\n\nDone" && plain[1]["tool_calls"] == nil)
        let shown = try await stage.stage.run("chats", "show", id)
        #expect(shown.output.contains("calls weather {}\n") && shown.output.contains("weather answers: It rains\n"))
    }

    /// What a tool did was done.
    @Test func aTurnThatIsInterruptedAfterACallStays() async throws {
        let fifo = folder("started")
        #expect(mkfifo(fifo, 0o600) == 0)
        let tool = try program("weather", "echo > '\(fifo)'; sleep 1000")
        let chat = try await ChatTerminal(
            stage.stage, [RemoteStage.chat, "--provider", "hf", "--tool", tool, "--allow-tool", "weather"],
            with: stage.variables)
        chat.process.write("Paris?\n")
        try await Thread.run { [fifo] in
            let file = open(fifo, O_RDONLY)
            var byte: UInt8 = 0
            _ = read(file, &byte, 1)
            close(file)
            chat.process.write("\u{3}")
        }
        try await chat.prompt()
        #expect(try await chat.end().status == 0)
        let listed = try await stage.stage.run("chats", "--quiet")
        let kept = try await stage.stage.run("chats", "export", listed.output.trimmed, "--json").document()
        #expect(roles(kept["messages"]?.array) == ["user", "assistant", "tool", "assistant"])
        #expect(kept["messages"]?.array?[2]["content"]?.string == "the call was interrupted")
    }

    @Test func aPersonSeesAllThatIsAskedAbout() async throws {
        let tool = try program("weather", "echo It rains")
        let filler = String(repeating: "a", count: 1900)
        let words = ["--provider", "hf", "--tool", tool, "--color", "never"]
        let result = try await stage.answer(
            ["chat", RemoteStage.chat, "\(filler) PAYLOAD \(filler)"] + words, "Run it? [y/N] ", "n")
        #expect(result.terminal.contains(" PAYLOAD ") && !result.terminal.contains(" more ...]"))
        let long = try await stage.stage.run(
            ["chat", RemoteStage.chat, String(repeating: "a", count: 9000)] + words, with: stage.variables,
            terminal: .init(columns: 300))
        #expect(long.status == 0 && long.terminal.contains("too long to look through"))
        #expect(long.terminal.contains("You said: the arguments are too long to be allowed"))
    }

    @Test func aModelWithoutToolsIsRefusedByName() async throws {
        let tool = try program("weather", "true")
        let result = try await stage.run(
            "chat", Fixtures.path("tiny-shakespeare"), "Hi", "--tool", tool, "--allow-tool", "weather", "--json")
        #expect(try result.status == 2 && result.errorCode() == "invalid_input")
        #expect(result.output.contains("the chat template knows no tools"))
    }

    @Test func inAConversationToolsAreAskedToo() async throws {
        let tool = try program("weather", "echo It rains")
        let variables = stage.variables.merging(["TERM": "xterm"]) { $1 }.map { "\($0)=\($1)" }.joined(
            separator: " ")
        let process = try stage.stage.shell(
            "exec env \(variables) \"$hub\" chat \(RemoteStage.chat) --provider hf --color never --tool '\(tool)'",
            terminal: .init(columns: 200))
        try await process.wait(forText: "> ")
        process.write("Paris?\n")
        try await process.wait(forText: "Run it? [y/N] ")
        process.write("y\n")
        try await process.wait(forText: "You said: It rains")
        process.write("/quit\n")
        #expect(try await process.wait().status == 0)
    }
}

/// What a tool is given, and what ends it.
@Suite struct ToolProcessTests {
    private func run(
        _ body: String, input: String = "", seconds: Double = 3000, output: Int = 1 << 20
    ) async throws -> ToolProcess.Result {
        let folder = try TemporaryFolder("tool")
        let path = try folder.write("tool", "#!/bin/sh\n" + body)
        #expect(chmod(path, 0o755) == 0)
        var limits = ToolProcess.Limits()
        (limits.seconds, limits.output) = (seconds, output)
        return try await ToolProcess.run(
            path, environment: ["PATH": "/usr/bin:/bin"], input: Array(input.utf8), limits: limits)
    }

    @Test func inputThatNobodyReadsIsNoHindrance() async throws {
        let large = String(repeating: "x", count: 1 << 20)
        let result = try await run("echo done", input: large)
        #expect(result.end == .status(0) && result.output == Array("done\n".utf8))
        let all = try await run("wc -c", input: large)
        #expect(String(decoding: all.output, as: UTF8.self).filter(\.isNumber) == "1048576")
    }

    @Test func anAnswerOfTheLimitIsWhole() async throws {
        let result = try await run("head -c 100000 /dev/zero; head -c 200000 /dev/zero >&2", output: 100_000)
        #expect(result.end == .status(0) && result.output.count == 100_000 && result.errors.count == 16 << 10)
        #expect(try await run("head -c 100001 /dev/zero; sleep 1000", output: 100_000).end == .tooMuch)
    }

    /// It may have exited when the last of it is read.
    @Test func anAnswerThatIsTooLongIsNeverCutWithoutAWord() async throws {
        for _ in 0..<12 {
            let result = try await run("head -c 1078000 /dev/zero")
            #expect(result.end == .tooMuch && result.output.count == 1 << 20)
        }
    }

    @Test func whatHangsIsEnded() async throws {
        #expect(try await run("sleep 1000 & sleep 1000", seconds: 0.2).end == .outOfTime)
    }

    /// Something that it leaves running does not keep its answer open, and is ended with it.
    @Test func whatItLeavesBehindIsEnded() async throws {
        let result = try await run("sleep 1000 & echo $!")
        #expect(result.end == .status(0))
        let left = try #require(Int32(String(decoding: result.output, as: UTF8.self).filter(\.isNumber)))
        while kill(left, 0) == 0 { await Task.yield() }
        #expect(errno == ESRCH)
    }

    @Test func aCancelledCallIsKilled() async throws {
        let task = Task { try await run("sleep 1000") }
        task.cancel()
        let error = await #expect(throws: (any Error).self) { try await task.value }
        #expect(error.map { AIError.wrapping($0).code } == .cancelled)
    }
}
