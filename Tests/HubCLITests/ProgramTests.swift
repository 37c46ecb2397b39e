import HubCore
import Libc
import Testing
@testable import HubCLI

@Suite struct ProgramTests {
    @Test func aloneItShowsTheOverview() async {
        let alone = await runInside()
        #expect(alone.status == 2 && alone.output.hasPrefix("hub \(Version.number)") && alone.error.isEmpty)
        let program = await runInside("--json")
        #expect(program.status == 2 && program.output.contains("\"invalid_input\""))
        // The name of a command as the value of a flag.
        #expect(
            await runInside("--cache-dir", "ls").error
                == "hub: missing command\n     hub --help lists the commands\n")
        #expect(await runInside("-q").error == "hub: missing command\n     hub --help lists the commands\n")
    }

    @Test func anUnknownCommandHasNoHelp() async {
        for flag in ["--help", "--version"] {
            let result = await runInside("lsit", flag)
            #expect(result.status == 2 && result.output.isEmpty && result.error.contains("did you mean: hub ls"))
        }
    }

    @Test func aMessageIsBrokenBetweenWords() async {
        let command = testCommand { context, _ in
            context.output.warning(
                "one two three four five six", advice: "seven eight nine /a/path/that/is/wider/than/all")
            throw AIError(.gated, "one two three four five six seven", advice: "eight")
        }
        let wide = await runInside("do", commands: [command])
        #expect(wide.error.hasPrefix("hub: warning: one two three four five six\n     seven eight nine /a/path"))
        let narrow = await runInside(
            "do", streams: .init(errorIsTerminal: true, errorWidth: 30), commands: [command])
        #expect(
            narrow.error.replacing(/\u{1B}\[\d+m/, with: "") == """
                hub: warning: one two three
                     four five six
                     seven eight nine
                     /a/path/that/is/wider/than/all
                hub: one two three four five
                     six seven
                     eight

                """)
    }

    @Test func aListInLines() async {
        var command = testCommand { context, _ in
            context.output.document([
                "models": .array([.object(["id": "a"]), .object(["id": "b"])]), "total_bytes": 7,
            ])
            throw AIError(.gated, "c is gated", advice: "ask")
        }
        command.listKey = "models"
        let result = await runInside("do", "--json=lines", commands: [command])
        #expect(
            result.output == """
                {"id":"a"}
                {"id":"b"}
                {"error":{"code":"gated","message":"c is gated","advice":"ask","retryable":false}}

                """)
        #expect(result.status == 4)
        // Another document of the same command is one line.
        command.run = { (context: Context, _: ParsedArguments) in context.output.document(["removed": .array([])]) }
        #expect(await runInside("do", "--json=lines", commands: [command]).output == "{\"removed\":[]}\n")
    }

    @Test func anErrorIsSaidAndDocumented() async throws {
        let command = testCommand { context, _ in
            context.output.document(["models": [JSON.string("a")].json])
            throw AIError(.gated, "a/b is gated", advice: "ask for it")
        }
        let human = await runInside("do", commands: [command])
        #expect(human.status == 4 && human.output.isEmpty)
        #expect(human.error == "hub: a/b is gated\n     ask for it\n")
        let json = await runInside("do", "--json", commands: [command])
        #expect(json.status == 4)
        #expect(
            json.output == """
                {"models":["a"],"error":{"code":"gated","message":"a/b is gated","advice":"ask for it","retryable":false}}

                """)
    }

    @Test func jsonIsOneDocumentWhateverIsWrong() async throws {
        for words in [["--json", "nope"], ["search", "--json", "--limit", "x"], ["search", "--nope", "--json"]] {
            let output = Recorder()
            let status = await Program.run(
                words, environment: HubEnvironment([:]), streams: .init(), output: output.sink,
                error: Recorder().sink)
            #expect(status == 2)
            #expect(try JSON.parse(output.text)["error"]?["code"]?.string == "invalid_input")
        }
    }

    @Test func otherThingsGoOnAndTheFirstFailureCounts() async {
        let command = testCommand { context, _ in
            var failures = Failures()
            for (name, code) in [("a", ErrorCode.gated), ("b", nil), ("c", .diskFull)] {
                try await failures.attempt(context.output) {
                    if let code { throw AIError(code, name) }
                    context.output.line("\(name) done")
                }
            }
            try failures.finish()
        }
        let result = await runInside("do", commands: [command])
        #expect(result.status == 4 && result.output == "b done\n")
        #expect(result.error.components("hub: ") == 2)
    }

    @Test func anAnswerOfNo() async {
        let command = testCommand { context, _ in
            context.output.document(["verdict": "fail"])
            throw AnswerIsNo()
        }
        let result = await runInside("do", "--json", commands: [command])
        #expect(result.status == 1 && result.output == "{\"verdict\":\"fail\"}\n" && result.error.isEmpty)
    }

    @Test func anInterruptionSaysWhatIsKept() async {
        let interruption = Interruption()
        let command = testCommand { context, _ in
            context.interruption.kept = "5 of 9 files are kept"
            context.interruption.request()
            try await Task.sleep(for: .seconds(60))
        }
        let result = await runInside("do", interruption: interruption, commands: [command])
        #expect(result.status == 130)
        #expect(result.error == "hub: interrupted\n     5 of 9 files are kept\n")
    }

    @Test func aReaderWhoGoesAwayEndsAnswersOnly() async {
        for (purpose, finishes) in [(Command.Purpose.answers, false), (.changes, true)] {
            let finished = Recorder()
            let command = testCommand(purpose: purpose) { context, _ in
                context.output.stream("x")
                try Task.checkCancellation()
                _ = finished.sink.write([49])
            }
            let result = await runInside("do", commands: [command], output: Recorder(failingWith: EPIPE))
            #expect(result.status == 0 && result.error.isEmpty)
            #expect((finished.text == "1") == finishes)
        }
    }

    @Test func aFullDiskIsNoReaderWhoWentAway() async {
        let result = await runInside("help", output: Recorder(failingWith: ENOSPC))
        #expect(result.status == 6 && result.error.contains("cannot write to standard output"))
    }

    @Test func deletingNeedsAYesOrAPerson() async {
        let command = testCommand(flags: [SharedFlags.yes.flag]) { context, arguments in
            let yes = try await context.confirm(
                "Delete?", isGiven: arguments[SharedFlags.yes], otherwise: "deleting needs a yes")
            context.output.line("\(yes ? "yes" : "no")")
        }
        let refused = await runInside("do", commands: [command])
        #expect(refused.status == 2 && refused.error == "hub: deleting needs a yes\n     add --yes to go ahead\n")
        let given = await runInside("do", "--yes", commands: [command])
        #expect(given.status == 0 && given.output == "yes\n")
    }

    @Test func helpWhateverElseIsWrong() async {
        let result = await runInside("gc", "--nope", "--unused-for", "x", "--help")
        #expect(result.status == 0 && result.output.hasPrefix("hub gc: ") && result.error.isEmpty)
        let unknown = await runInside("help", "serch")
        #expect(unknown.status == 2 && unknown.error.contains("did you mean: hub help search"))
    }

    @Test func eachFormOfAResult() async throws {
        let command = testCommand { context, _ in
            context.output.render(json: ["id": "a"], quiet: ["a"]) { context.output.line("model a") }
            context.output.note("noted")
        }
        let human = await runInside("do", commands: [command])
        #expect(human.output == "model a\n" && human.error == "hub: noted\n")
        let quiet = await runInside("do", "-q", commands: [command])
        #expect(quiet.output == "a\n" && quiet.error.isEmpty)
        let json = await runInside("do", "--json", commands: [command])
        #expect(json.output == "{\"id\":\"a\"}\n")
    }
}

extension [JSON] {
    fileprivate var json: JSON { .array(self) }
}

extension String {
    fileprivate func components(_ text: String) -> Int {
        self.split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}

@Suite struct ContextTests {
    func context(_ words: [String] = [], _ variables: [String: String] = [:], terminal: Bool = true) -> Context {
        let streams = Context.Streams(
            inputIsTerminal: terminal, outputIsTerminal: terminal, errorIsTerminal: terminal,
            width: terminal ? 100 : nil)
        return Context(
            GlobalOptions(ArgumentParser.parse(words).arguments), environment: HubEnvironment(variables),
            streams: streams,
            interruption: Interruption(), runsCommand: { _, _ in 0 })
    }

    @Test func color() {
        func has(_ words: [String] = [], _ variables: [String: String] = [:], terminal: Bool = true) -> Bool {
            context(words, variables, terminal: terminal).output.settings.colorsOutput
        }
        #expect(has())
        #expect(!has(terminal: false))
        #expect(!has([], ["NO_COLOR": "1"]))
        #expect(has([], ["NO_COLOR": ""]))
        #expect(!has([], ["TERM": "dumb"]))
        #expect(!has(["--color=never"]))
        #expect(has(["--color=always"], ["NO_COLOR": "1", "TERM": "dumb"], terminal: false))
    }

    @Test func progress() {
        #expect(context().progressMode == .bar)
        #expect(context(terminal: false).progressMode == .plain)
        #expect(context([], ["TERM": "dumb"]).progressMode == .plain)
        #expect(context(["-q"]).progressMode == .none)
        #expect(context(["-q", "--progress=json"]).progressMode == .json)
        #expect(context([], ["HF_HUB_DISABLE_PROGRESS_BARS": "1"]).progressMode == .none)
        #expect(context(["--progress", "plain"], ["HF_HUB_DISABLE_PROGRESS_BARS": "1"]).progressMode == .plain)
    }

    @Test func offline() {
        #expect(!context().isOffline)
        #expect(context(["--offline"]).isOffline)
        #expect(context([], ["HF_HUB_OFFLINE": "Yes"]).isOffline)
        #expect(!context([], ["HF_HUB_OFFLINE": "y"]).isOffline)
        #expect(context([], ["TRANSFORMERS_OFFLINE": "1"]).isOffline)
        #expect(context([], ["TRANSFORMERS_OFFLINE": "1", "HF_HUB_OFFLINE": ""]).isOffline)
        #expect(!context([], ["TRANSFORMERS_OFFLINE": "1", "HF_HUB_OFFLINE": "0"]).isOffline)
    }

    @Test(
        arguments: [
            ([:], true), (["LANG": "en_US.UTF-8"], true), (["LANG": "de_DE.utf8"], true),
            (["LC_ALL": "C", "LANG": "x.UTF-8"], false),
            (["LANG": "de_DE.ISO-8859-1"], false), (["LANG": "C.UTF-8"], true),
            (["LC_ALL": "", "LANG": "POSIX"], false),
        ] as [([String: String], Bool)])
    func unicode(_ variables: [String: String], _ expected: Bool) {
        #expect(HubEnvironment(variables).isUnicode == expected)
    }
}
