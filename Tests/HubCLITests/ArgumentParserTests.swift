import HubCore
import Testing

@testable import HubCLI

@Suite struct ArgumentParserTests {
    enum Kind: String, Sendable, CaseIterable { case small, large }

    static let count = Option<Int>("count", short: "n", "N", .number, "how many") { text throws(AIError) in
        guard let number = Int(text) else { throw AIError(.invalidInput, "\"\(text)\" is no number") }
        return number
    }
    static let heat = Option.real("heat", "T", in: -10...10, "how hot")
    static let tag = Option.text("tag", "TAG", repeats: true, "a tag")
    static let kind = Option<Kind>.choice("kind", "which")
    static let size = Option.size("size", "how large")
    static let age = Option.age("age", "how old")
    static let all = Switch("all", short: "a", "everything")
    static let none = Switch("none", "nothing")
    static let room = Option.size("room", "how much room").withOptionalValue()
    static let check = Switch("check", refinements: ["full"], "check it")
    static let going = Option.text("going", "ID", kind: .conversation, "go on").withOptionalValue()
    static let held = Option.text("held", "FILE", kind: .file, "as a file says").withOptionalValue()

    static let commands = [
        testCommand(
            "do", operands: [Operand("WORD", .any, .text)],
            flags: [
                count.flag, heat.flag, tag.flag, kind.flag, size.flag, age.flag, all.flag, none.flag, room.flag,
                check.flag, going.flag, held.flag,
            ],
            exclusive: [["all", "none"]]),
        testCommand("one", operands: [Operand("A", .one, .text), Operand("B", .optional, .text)]),
    ]

    func parse(_ words: String...) throws -> ParsedArguments {
        let outcome = ArgumentParser.parse(words, commands: Self.commands)
        if let fault = outcome.fault { throw fault }
        return outcome.arguments
    }

    @Test func aValueThatMayBeLeftOut() throws {
        #expect(Self.room.flag.usage == "--room[=SIZE]")
        let bare = try parse("do", "--room", "8GB")
        #expect(bare.has("room") && bare[Self.room] == nil && bare.operands == ["8GB"])
        #expect(try parse("do", "--room=8GB")[Self.room] == ByteCount(8_000_000_000))
        #expect(fault("do", "--room=much").message == "--room: \"much\" is not a size")
        #expect(fault("do", "--room", "--room=1GB").message == "--room was given twice")
    }

    /// The word went elsewhere: to a model as a prompt, or nowhere.
    @Test func theNextWordIsTheValueWhereItCanBeNothingElse() throws {
        func parse(_ words: String...) throws -> ParsedArguments {
            let outcome = ArgumentParser.parse(words, commands: Self.commands) { $0 == "3f0a" }
            if let fault = outcome.fault { throw fault }
            return outcome.arguments
        }
        let lock = try TemporaryFile("{}", name: "my.lock")
        let full = try parse("do", "--check", "full", "x")
        #expect(full.texts(of: "check") == ["full"] && full.operands == ["x"])
        let going = try parse("do", "--going", "3f0a", "x")
        #expect(going[Self.going] == "3f0a" && going.operands == ["x"])
        #expect(try parse("do", "--held", lock.path)[Self.held] == lock.path)
        for word in ["half", "3f0b", "\(lock.path).gone", "Hello"] {
            for flag in ["--check", "--going", "--held", "--json"] {
                #expect(try parse("do", flag, word).operands == [word], "\(flag) \(word)")
            }
        }
        // Behind "--" every word is one of its own.
        #expect(try parse("do", "--going", "--", "3f0a").operands == ["3f0a"])
    }

    @Test(arguments: [("--check", "full"), ("--json", "lines"), ("--going", "3f0a")])
    func suchAWordIsNotTakenInSilence(_ flag: String, _ word: String) {
        func notes(_ words: String...) -> [String] {
            ArgumentParser.parse(words, commands: Self.commands) { $0 == "3f0a" }.notes
        }
        #expect(
            notes("do", flag, word) == [
                "\(flag) \(word) is read as \(flag)=\(word); a word of its own comes before the flag"
            ])
        #expect(notes("do", "\(flag)=\(word)").isEmpty)
        #expect(notes("do", word, flag).isEmpty && notes("do", flag, "--", word).isEmpty)
    }

    func fault(_ words: String...) -> (message: String, advice: String?) {
        let error = ArgumentParser.parse(words, commands: Self.commands).fault
        #expect(error == nil || error?.exitStatus == 2)
        return (error?.message ?? "no fault", error?.recoverySuggestion)
    }

    @Test func valuesJoinedAndApart() throws {
        #expect(try parse("do", "--count=5")[Self.count] == 5)
        #expect(try parse("do", "--count", "5")[Self.count] == 5)
        #expect(try parse("do", "-n5")[Self.count] == 5)
        #expect(try parse("do", "-n=5")[Self.count] == 5)
        #expect(try parse("do", "-n", "5")[Self.count] == 5)
        #expect(try parse("do", "-an5")[Self.count] == 5)
        #expect(try parse("do", "-an5")[Self.all])
        #expect(try parse("do")[Self.count] == nil)
        #expect(try parse("do", "--tag=a=b")[Self.tag] == "a=b")
    }

    @Test func valuesThatStartWithADash() throws {
        #expect(try parse("do", "--heat", "-1.5")[Self.heat] == -1.5)
        #expect(try parse("do", "--count", "-3")[Self.count] == -3)
        #expect(try parse("do", "--tag", "-x-")[Self.tag] == "-x-")
        #expect(try parse("do", "--tag=--json")[Self.tag] == "--json")
    }

    @Test func typedValues() throws {
        #expect(try parse("do", "--kind", "large")[Self.kind] == .large)
        #expect(try parse("do", "--size", "1.5GB")[Self.size] == ByteCount(1_500_000_000))
        #expect(try parse("do", "--age", "2w")[Self.age] == Age(seconds: 1_209_600))
        #expect(try parse("do", "--tag", "x", "w", "--tag=y").all(Self.tag) == ["x", "y"])
    }

    @Test func operandsAnywhere() throws {
        #expect(
            try parse("do", "a", "--all", "b", "-", "--", "--all", "--", "-n").operands == [
                "a", "b", "-", "--all", "--", "-n",
            ])
        #expect(try parse("--", "do", "x").operands == ["x"])
    }

    @Test func flagsOfEveryCommandBeforeItsName() throws {
        let arguments = try parse("-qv", "--cache-dir", "/x", "do", "--json", "--progress=none")
        #expect(arguments[GlobalFlags.quiet] && arguments[GlobalFlags.verbose] && arguments[GlobalFlags.json])
        #expect(arguments[GlobalFlags.cacheDir] == "/x")
        #expect(arguments[GlobalFlags.progress] == ProgressMode.none)
    }

    @Test func aSwitchTwiceIsNoFault() throws { #expect(try parse("do", "-vv", "--all", "-a")[Self.all]) }

    @Test func faults() {
        #expect(fault("do", "--count", "5", "-n", "6").message == "-n was given twice")
        #expect(fault("do", "--count").message == "--count needs a value")
        #expect(fault("do", "--count").advice == "write --count N")
        #expect(fault("do", "--tag", "--all").message == "--tag needs a value")
        #expect(fault("do", "--tag", "--kind=small").message == "--tag needs a value")
        #expect(fault("do", "--tag", "-a").message == "--tag needs a value")
        #expect(fault("do", "--tag", "--", "x").message == "--tag needs a value")
        #expect(fault("do", "--tag=").message == "--tag: the value is empty")
        #expect(fault("do", "--all=yes").message == "--all takes no value")
        #expect(fault("do", "-a=1").message == "-a takes no value")
        #expect(fault("do", "--count", "x").message == "--count: \"x\" is no number")
        #expect(fault("do", "--heat", "11").message == "--heat: 11 is out of bounds: it must be from -10 to 10")
        #expect(fault("do", "--heat", "nan").message == "--heat: \"nan\" is not a number")
        #expect(fault("do", "--size", "big").message == "--size: \"big\" is not a size")
        #expect(
            fault("do", "--kind", "smal").message
                == "--kind: invalid value \"smal\"; did you mean small?")
        #expect(fault("do", "--kind", "x").advice == "it must be one of small, large")
        #expect(fault("do", "--all", "--none").message == "--all and --none cannot be used together")
    }

    @Test func unknownNames() {
        #expect(fault("dp").message == "unknown command \"dp\"")
        #expect(fault("dp").advice == "did you mean: hub do")
        #expect(fault("xyzzy").advice == "hub --help lists the commands")
        #expect(fault("do", "--cuont", "1").message == "unknown flag --cuont")
        #expect(fault("do", "--cuont", "1").advice == "did you mean: --count")
        #expect(
            fault("do", "--qqqqqqqq").advice
                == "hub do --help lists the flags; put -- before a value that starts with -")
        #expect(fault("do", "-x").message == "unknown flag -x")
        #expect(fault("do", "-qx").message == "unknown flag -x")
        #expect(fault("--count", "1", "do").message == "--count must come after the name of a command")
        #expect(fault("--count", "1", "do").advice == "these take it: do")
        #expect(fault("--jsn").advice == "did you mean: --json")
    }

    @Test func operandCounts() {
        #expect(fault("one").message == "missing A")
        #expect(fault("one").advice == "usage: hub one A [B]")
        #expect(fault("one", "1", "2").message == "no fault")
        #expect(fault("one", "1", "2", "3").message == "unexpected argument \"3\"")
    }

    @Test func aWordTooManyThatMayBeASecretIsNotRepeated() {
        var command = testCommand("keep", operands: [Operand("A", .one, .text)])
        command.refusalOfMore = AIError(.invalidInput, "not so")
        #expect(ArgumentParser.parse(["keep", "1"], commands: [command]).fault == nil)
        #expect(ArgumentParser.parse(["keep", "1", "secret"], commands: [command]).fault?.message == "not so")
    }

    @Test func helpCountsWhateverElseIsWrong() {
        for words in [
            ["one", "--help"], ["one", "--nope", "-h"], ["do", "--count", "x", "--help"], ["--nope", "--help"],
        ] {
            #expect(ArgumentParser.parse(words, commands: Self.commands).arguments[GlobalFlags.help], "\(words)")
        }
        // But not behind "--", and not as a joined value.
        #expect(!ArgumentParser.parse(["do", "--", "--help"], commands: Self.commands).arguments[GlobalFlags.help])
        #expect(!ArgumentParser.parse(["do", "--tag=--help"], commands: Self.commands).arguments[GlobalFlags.help])
    }
}

@Suite struct OtherToolsTests {
    /// What a line of another tool is answered with.
    func advice(_ line: String) -> String? {
        let outcome = ArgumentParser.parse(line.split(separator: " ").map(String.init))
        // hub has a command that other tools have for more.
        #expect(outcome.fault?.exitStatus == 2 && outcome.isCommandUnknown != line.hasPrefix("cache"), "\(line)")
        return outcome.fault?.recoverySuggestion
    }

    @Test(arguments: [
        ("list", "hub ls"), ("LIST", "hub ls"), ("download org/model", "hub pull"), ("login", "hub auth login"),
        ("whoami", "hub auth whoami"), ("remove x", "hub rm"), ("delete", "hub rm"),
        ("run gpt2", "hub chat, or hub try for a test"),
        ("du", "hub cache du"), ("cache ls", "hub ls"), ("cache --json ls", "hub ls"), ("cache rm x", "hub rm"),
        ("cache prune", "hub gc"), ("models ls", "hub ls, or hub search for models on the Hub"),
        ("update", "hub outdated"), ("prune", "hub gc"), ("install x", "hub pull"), ("scan-cache", "hub ls"),
        ("serach", "hub search"), ("lsit", "hub ls"), ("dowload x", "hub pull"),
    ])
    func meant(_ line: String, _ command: String) { #expect(advice(line) == "did you mean: \(command)") }

    @Test func whatHubDoesNotDo() {
        #expect(advice("upload x") == "hub does not upload; hf upload does")
        #expect(advice("zzzzzz") == "hub --help lists the commands")
    }

    /// Every word leads to something that can be typed.
    @Test func everySuggestionExists() {
        for line in OtherTools.all {
            let words = (advice(line) ?? "").replacing("did you mean: hub ", with: "").prefix { $0 != "," }
            let outcome = ArgumentParser.parse(words.split(separator: " ").map(String.init))
            #expect(outcome.command != nil, "\(line): \(words)")
            #expect(!outcome.isCommandUnknown && outcome.fault?.message.contains("unknown") != true, "\(line)")
        }
    }

    @Test(arguments: [
        ("--force-download", "did you mean: --force"), ("--max-workers=4", "did you mean: --connections"),
        ("--repo-type=dataset", "the kind stands before the name: datasets/org/name, spaces/org/name"),
        ("--type=dataset", "the kind stands before the name: datasets/org/name, spaces/org/name"),
        ("--resume-download", "interrupted downloads are always resumed"),
        ("--local-dir-use-symlinks=False", "with --local-dir the files themselves are there, never links"),
    ])
    func flags(_ word: String, _ advice: String) {
        let fault = ArgumentParser.parse(["pull", "gpt2", word]).fault
        #expect(fault?.message == "unknown flag \(word.prefix { $0 != "=" })")
        #expect(fault?.recoverySuggestion == advice)
    }

    @Test(arguments: [
        (["gc", "-ny"], ["dry-run", "yes"]), (["rm", "-n", "gpt2"], ["dry-run"]),
        (["pull", "-nf", "x"], ["estimate", "force"]),
        (["trash", "empty", "-y"], ["yes"]), (["try", "x", "-y"], ["yes"]), (["-V"], ["version"]),
    ])
    func letters(_ words: [String], _ flags: [String]) {
        let outcome = ArgumentParser.parse(words)
        #expect(outcome.fault == nil)
        for flag in flags { #expect(outcome.arguments.has(flag), "\(words)") }
    }

    @Test func aLetterOnlyWhereItsFlagIs() {
        #expect(ArgumentParser.parse(["ls", "-n"]).fault?.message == "unknown flag -n")
        #expect(ArgumentParser.parse(["rm", "-f", "x"]).fault?.message == "unknown flag -f")
    }

    /// One word for it in every family: the others' word works, and hub says its own.
    @Test(arguments: ["auth", "chats", "lock", "registry", "trash"]) func listIsLs(_ family: String) {
        let outcome = ArgumentParser.parse([family, "list"])
        #expect(outcome.fault == nil && outcome.command?.name == "\(family) ls")
        #expect(outcome.notes == ["hub \(family) list is hub \(family) ls now"])
    }

    @Test func linesOnlyWhereThereIsAList() {
        #expect(ArgumentParser.parse(["ls", "--json=lines"]).fault == nil)
        let apart = ArgumentParser.parse(["ls", "--json", "lines", "org/*"])
        #expect(apart.arguments.operands == ["org/*"] && GlobalOptions(apart.arguments).printsLines)
        // It is the same where a word may be anything, and a query is said before the flag.
        let search = ArgumentParser.parse(["search", "--json", "lines"])
        #expect(search.arguments.operands.isEmpty && GlobalOptions(search.arguments).printsLines)
        #expect(search.notes.count == 1)
        let query = ArgumentParser.parse(["search", "lines", "--json"])
        #expect(query.arguments.operands == ["lines"] && !GlobalOptions(query.arguments).printsLines)
        let fault = ArgumentParser.parse(["info", "gpt2", "--json=lines"]).fault
        #expect(fault?.message == "hub info prints one object, not a list" && fault?.exitStatus == 2)
        #expect(ArgumentParser.parse(["ls", "--json=rows"]).fault?.message.hasPrefix("--json can be") == true)
    }
}

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("serach", "search"), ("sarch", "search"), ("pul", "pull"), ("isnfo", "info"),
        ("completion", "completions"),
        ("LS", "ls"), ("comp", "completions"), ("veriosn", "version"),
    ])
    func near(_ typed: String, _ meant: String) {
        #expect(NearestName.of(typed, among: CommandTable.all.map(\.name)) == meant)
    }

    @Test(arguments: ["list", "download", "x", "xy", "qqq", ""])
    func far(_ typed: String) { #expect(NearestName.of(typed, among: CommandTable.all.map(\.name)) == nil) }

    @Test func distances() {
        func distance(_ left: String, _ right: String) -> Int {
            EditDistance.between(Array(left.utf8), Array(right.utf8))
        }
        #expect(distance("", "abc") == 3)
        #expect(distance("abc", "abc") == 0)
        #expect(distance("ab", "ba") == 1)
        #expect(distance("kitten", "sitting") == 3)
        #expect(distance("ca", "abc") == 3)
    }
}
