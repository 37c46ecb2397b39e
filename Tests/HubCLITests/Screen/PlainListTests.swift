import HubCore
import Support
import Testing

/// `hub gc --plain`: the list as numbered rows.
@Suite struct PlainListTests {
    let stage: Stage

    init() throws {
        stage = try Stage()
        try stage.plantThree()
    }

    static let question = "Rows to delete, such as 1 3-5 (none: Enter): "

    private func models() throws -> [String] {
        try (FileSystem.entries(stage.cache) ?? []).filter { $0.hasPrefix("models--") }.sorted()
    }

    /// A dumb terminal gets it without asking.
    @Test(arguments: [["--plain"], []]) func rowsAreChosenByTheirNumbers(words: [String]) async throws {
        let process = try RunningProcess(
            BuiltProduct.path(), ["gc", "--color=never"] + words,
            environment: stage.environment.merging(["TERM": words.isEmpty ? "dumb" : "xterm"]) { $1 },
            directory: stage.machine.path, terminal: .init(columns: 120))
        let shown = try await process.wait(forText: Self.question)
        let rows = """
            ROW  NAME    REFS    SIZE   FREES  USED         ADDED
              1  org/m1  main  1.0 kB  1.0 kB  4 weeks ago  4 weeks ago
              2  org/m2  main  1.0 kB  1.0 kB  3 weeks ago  3 weeks ago
              3  org/m3  main  1.0 kB  1.0 kB  1 week ago   1 week ago

            """
        #expect(shown.replacing("\r\n", with: "\n").hasPrefix(rows), "\(shown)")
        process.write("4\n")
        try await process.wait(forText: "there is no row 4: type 1 to 3")
        process.write("1 3\n")
        let review = try await process.wait(forText: "Delete this? [y/N] ")
        #expect(review.contains(/org\/m1@11111111 +1.0 kB +main .*\r\norg\/m3@33333333 +1.0 kB +main/))
        #expect(review.contains("2 rows, 2.0 kB in all"))
        process.write("y\n")
        let result = try await process.wait()
        #expect(result.status == 0 && result.terminal.hasSuffix("2.0 kB freed\r\n"))
        #expect(try models() == ["models--org--m2"])
        #expect(!result.terminal.contains("\u{1B}"))
    }

    /// Who chooses no rows is asked nothing; a no to the question is a yes that is missing.
    @Test(arguments: [("\n", 0), ("q\n", 0), ("1\nn\n", 2), ("2\n\n", 2)] as [(String, Int32)])
    func withoutAYesNothingGoes(keys: String, status: Int32) async throws {
        let process = try stage.start("gc", "--plain", with: ["TERM": "xterm"], terminal: .init())
        try await process.wait(forText: Self.question)
        process.write(keys)
        let result = try await process.wait()
        #expect(result.status == status && result.terminal.contains("nothing was deleted"))
        #expect(try models().count == 3)
    }

    @Test func withoutATerminalItShowsTheRowsAndEnds() async throws {
        let result = try await stage.run("gc", "--plain")
        #expect(result.status == 2 && result.output.contains("  1  org/m1  main"))
        #expect(result.error.contains("choosing rows needs a terminal; nothing was deleted"))
        #expect(try models().count == 3)
    }

    /// It asked a question to which no answer helped.
    @Test func whereEveryRowIsPinnedNothingIsAsked() async throws {
        for name in ["org/m1", "org/m2", "org/m3"] { #expect(try await stage.run("pin", name).status == 0) }
        let process = try stage.start("gc", "--plain", with: ["TERM": "xterm"], terminal: .init(columns: 120))
        let result = try await process.wait()
        #expect(result.status == 0 && !result.terminal.contains(Self.question))
        #expect(
            result.terminal.contains(
                "nothing can be deleted: every row is pinned or in use; hub unpin removes a pin"))
    }

    @Test func aDryRunSaysSo() async throws {
        let process = try stage.start("gc", "--plain", "-n", with: ["TERM": "xterm"], terminal: .init(columns: 120))
        try await process.wait(forText: Self.question)
        process.write("q\n")
        #expect(try await process.wait().terminal.contains("dry run: cache 3.0 kB, "))
    }

    @Test func aGoalSaysHowFarOneHasToGo() async throws {
        let result = try await stage.run("gc", "--plain", "--free", "8EB")
        #expect(result.output.contains("deleting all rows does not free enough for 8.0 EB"))
        #expect(try await stage.run("gc", "--plain", "--free", "1B").output.contains("1 B already free"))
    }

    @Test(arguments: [
        ["--plain", "--detached"], ["--choose", "--unused-for", "3d"], ["--choose", "--keep", "org/m1"],
        ["--plain", "--json"],
        ["--choose", "-q"], ["--plain", "--yes"], ["--plain", "--choose"],
    ]) func whatDoesNotGoTogether(words: [String]) async throws {
        let result = try await RunningProcess.run(
            BuiltProduct.path(), ["gc"] + words, environment: stage.environment, directory: stage.machine.path)
        #expect(result.status == 2)
        #expect(try models().count == 3)
    }

    /// Without a terminal gc prints its plain output.
    @Test func withoutATerminalARuleIsNeeded() async throws {
        for words in [["gc"], ["gc", "--yes"], ["gc", "--json"]] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), words, environment: stage.environment, directory: stage.machine.path)
            #expect(
                result.status == 2 && (result.error + result.output).contains("missing a rule for what to delete"))
        }
    }
}
