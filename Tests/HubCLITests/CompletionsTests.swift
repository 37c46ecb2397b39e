import Catalog
import Foundation
import HubCore
import Support
import Testing

@testable import HubCLI

/// What is offered, whatever the shell.
@Suite struct CandidatesTests {
    let stage: Stage

    /// A machine whose catalog knows four models and whose cache holds two, and a dataset.
    init() throws {
        stage = try Stage()
        let catalog = try Catalog(path: stage.catalog)
        func record(_ name: String, _ downloads: Int64) throws -> ModelRecord {
            var record = ModelRecord(Repository(.model, try RepositoryID(name)))
            record.downloads = downloads
            return record
        }
        let quants = Repository(.model, try RepositoryID("acme/big-GGUF"))
        try catalog.remember(
            [
                try record("acme/small", 10), try record("acme/big-GGUF", 5000), try record("zeta/acme", 900),
                try record("llama-old", 3),
            ], detailed: false, at: 1)
        let files = ["README.md", "big-Q4_K_M.gguf", "big-Q8_0.gguf", "sub/a.json", "sub/b.json"].enumerated().map {
            RepositoryFile(path: $1, size: Int64(100 + $0), oid: commit("a"), sha256: nil, xetHash: nil)
        }
        let main = try #require(Commit(commit("1")))
        try catalog.remember(RepositoryTree(commit: main, files: files), of: quants, at: 1)
        try catalog.remember(
            [
                KnownRevision(name: "dev", kind: .branch, commit: main),
                KnownRevision(name: "main", kind: .branch, commit: main),
            ], of: quants, complete: true, at: 1)
        try stage.plant("models--acme--small", commit: commit("2"), files: ["config.json": "{}"])
        try stage.plant("models--meta-llama--Llama-3.2-1B-Instruct", commit: commit("3"), files: ["a.txt": "a"])
        try stage.plant("datasets--acme--data", commit: commit("4"), files: ["a.txt": "a"])
    }

    /// The words that are offered, without what they are.
    func offered(_ words: String...) async throws -> [String] {
        let result = try await stage.run(["__complete", "--"] + words)
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        return result.lines.map { String($0.prefix { $0 != "\t" }) }
    }

    @Test func commandsAndFlags() async throws {
        #expect(try await offered("se") == ["search", "serve"])
        #expect(try await offered("").count == CommandTable.all.count)
        #expect(try await offered("search", "--so") == ["--sort"])
        #expect(try await offered("--cache-dir", "ls", "pa") == ["path"])
        #expect(try await offered("nonsense", "x") == [])
        #expect(try await offered("trash", "") == ["ls", "restore", "empty"])
        #expect(try await offered("trash", "empty", "--ol") == ["--older-than"])
        #expect(try await offered("cache", "w") == ["warm"])
        #expect(try await offered("help", "") == CommandTable.all.map(\.name) + HelpTopic.all.map(\.name))
        // What was given once is not offered again, unless it may be repeated.
        let flags = try await offered("pull", "--force", "--include", "*.json", "--")
        #expect(flags.contains("--include") && flags.contains("--json") && !flags.contains("--force"))
    }

    @Test func values() async throws {
        #expect(try await offered("ls", "--sort", "") == ["used", "size", "name", "downloaded"])
        #expect(try await offered("search", "--sort=d") == ["--sort=downloads"])
        #expect(try await offered("ls", "--json=") == ["--json=lines"])
        #expect(try await offered("search", "--task", "text-g") == ["text-generation"])
        #expect(try await offered("gc", "--max-size", "") == [])
        #expect(try await offered("completions", "z") == ["zsh"])
        #expect(try await offered("pull", "--local-dir", "") == [":folders"])
        #expect(try await offered("tokenize", "x", "--texts", "") == [":files"])
        #expect(try await offered("serve", "") == ["hub", "mirror", "api", "page", "all", "status", ":folders"])
        #expect(try await offered("verify", "./") == [":folders"])
        #expect(try await offered("registry", "rm", "llama-3.2-1b-m") == ["llama-3.2-1b-mlx"])
    }

    /// For a pull: aliases, then the catalog by popularity, and what is here last.
    @Test func modelsToPull() async throws {
        let all = try await offered("pull", "")
        #expect(all.first == "llama-3.2-1b")
        let tail = ["acme/big-GGUF", "zeta/acme", "acme/small", "llama-old"]
        #expect(Array(all.drop { $0 != tail[0] }.prefix(4)) == tail)
        #expect(all.suffix(2) == ["datasets/acme/data", "meta-llama/Llama-3.2-1B-Instruct"])
        #expect(try await offered("pull", "acme/") == ["acme/big-GGUF", "acme/small"])
        #expect(
            try await offered("pull", "llama-3.2-1b") == ["llama-3.2-1b", "llama-3.2-1b-mlx", "llama-3.2-1b-gguf"])
        #expect(try await offered("info", "llama-o") == ["llama-old"])
        // Files of the model before.
        #expect(try await offered("pull", "acme/big-GGUF", "big-Q8") == ["big-Q8_0.gguf"])
    }

    @Test(arguments: ["rm", "pin", "verify", "ls", "path", "outdated"])
    func onlyWhatIsCached(_ command: String) async throws {
        #expect(
            try await offered(command, "") == [
                "acme/small", "datasets/acme/data", "meta-llama/Llama-3.2-1B-Instruct", "llama-3.2-1b",
            ])
        #expect(try await offered("gc", "--keep", "acme") == ["acme/small"])
        #expect(try await offered(command, "acme/small:") == ["acme/small:config.json"])
    }

    @Test func whatIsInAModel() async throws {
        #expect(try await offered("pull", "acme/big-GGUF", "--quant", "") == ["Q4_K_M", "Q8_0"])
        #expect(try await offered("pull", "acme/big-GGUF", "--quant=Q8") == ["--quant=Q8_0"])
        #expect(try await offered("pull", "--quant", "") == [])
        // Case does not count to hub either.
        #expect(try await offered("pull", "acme/big-GGUF", "--quant", "q4") == ["Q4_K_M"])
        #expect(try await offered("pull", "acme/BIG") == ["acme/big-GGUF"])
        #expect(try await offered("pull", "acme/big-GGUF@") == ["acme/big-GGUF@main", "acme/big-GGUF@dev"])
        #expect(try await offered("pull", "acme/big-GGUF", "--revision", "d") == ["dev"])
        #expect(
            try await offered("info", "acme/big-GGUF:") == [
                "acme/big-GGUF:Q4_K_M", "acme/big-GGUF:Q8_0", "acme/big-GGUF:README.md",
                "acme/big-GGUF:big-Q4_K_M.gguf", "acme/big-GGUF:big-Q8_0.gguf",
                "acme/big-GGUF:sub/",
            ])
        #expect(
            try await offered("info", "acme/big-GGUF@dev:sub/") == [
                "acme/big-GGUF@dev:sub/a.json", "acme/big-GGUF@dev:sub/b.json",
            ])
        #expect(try await offered("path", "llama-3.2-1b:") == ["llama-3.2-1b:a.txt"])
    }

    @Test func theGGUFFilesOfAModel() async throws {
        let files = ["big-Q4_K_M.gguf", "big-Q8_0.gguf"]
        for command in ["try", "chat"] {
            #expect(try await offered(command, "acme/big-GGUF", "--gguf", "") == files)
            #expect(try await offered(command, "--gguf", "") == [])
        }
        #expect(try await offered("try", "acme/big-GGUF", "--gguf=big-Q8") == ["--gguf=big-Q8_0.gguf"])
        let folder = try Fixtures.path("tiny-shakespeare-gguf")
        #expect(
            try await offered("try", folder, "--gguf", "") == [
                "model-f16.gguf", "model-q4_0.gguf", "model-q8_0.gguf",
            ])
    }

    @Test func aWordThatAShellWouldTakeApartIsNotOffered() async throws {
        try stage.plant(
            "models--acme--odd", commit: commit("5"), files: ["$(touch x)": "a", "b c": "b", "d.txt": "d"])
        #expect(try await offered("path", "acme/odd:") == ["acme/odd:d.txt"])
    }

    @Test func theTrashIsOfferedToRestore() async throws {
        _ = try await stage.run("rm", "acme/small", "--trash", "--yes")
        #expect(try await offered("trash", "restore", "") == ["acme/small"])
    }

    /// Whatever is broken, a tab says nothing of it, and makes nothing.
    @Test func nothingIsSaidOfFaults() async throws {
        try FileSystem.replace(stage.catalog, with: Array("no catalog".utf8))
        #expect(try await offered("pull", "llama-3.2-1b-m") == ["llama-3.2-1b-mlx"])
        #expect(try await offered("pull", "acme/big-GGUF:") == [])
        let fresh = try await stage.run(
            ["__complete", "--", "pull", "llama-3.2-1b-m"], with: ["HUB_HOME": stage.machine("fresh")])
        #expect(fresh.output.hasPrefix("llama-3.2-1b-mlx\t") && !FileSystem.exists(stage.machine("fresh")))
        #expect(try await stage.run("__complete").status == 0)
    }
}

/// The scripts in the shells they are for, typed on a terminal.
@Suite struct CompletionScriptTests {
    static let shells: [CompletionsCommand.Shell: (name: String, words: [String], begin: String)] = [
        .bash: ("bash", ["--norc", "--noprofile", "-i"], ""),
        .zsh: ("zsh", ["-f", "-i"], "autoload -Uz compinit; compinit -u -D\n"),
        .fish: ("fish", ["--no-config", "-i"], ""),
    ]

    static func has(_ shell: CompletionsCommand.Shell) -> Bool { program(shells[shell]!.name) != nil }

    @Test(.enabled(if: has(.bash), "no bash")) func bash() async throws { try await type(.bash) }
    @Test(.enabled(if: has(.zsh), "no zsh")) func zsh() async throws { try await type(.zsh) }
    @Test(.enabled(if: has(.fish), "no fish")) func fish() async throws { try await type(.fish) }

    /// Types lines with a tab in them. A stand-in shows what came of each; completing is left to the real program.
    func type(_ shell: CompletionsCommand.Shell) async throws {
        let stage = try Stage()
        let snapshot = try stage.plant("models--org--tiny", commit: commit("1"), files: ["config.json": "{}"])
        try FileSystem.createDirectories(Path.join(snapshot, "sub"))
        try FileSystem.replace(Path.join(snapshot, "sub/x.txt"), with: [1])
        try FileSystem.createDirectories(stage.machine("bin"))
        try FileSystem.createDirectories(stage.machine("home/folder"))
        try FileSystem.createSymlink(try BuiltProduct.path(), at: stage.machine("bin/hub"))
        let script = stage.machine("script")
        try FileSystem.replace(script, with: Array(CompletionsCommand.script(shell).utf8))
        let (name, words, begin) = Self.shells[shell]!
        let terminal = try RunningProcess(
            try #require(program(name)), words,
            environment: stage.environment.merging(
                ["PATH": "\(stage.machine("bin")):/usr/bin:/bin", "TERM": "xterm"]) { $1 },
            directory: stage.machine("home"), terminal: .init(columns: 200))
        let standIn =
            shell == .fish
            ? "function hub; if test \"$argv[1]\" = __complete; command hub $argv; else; printf 'RAN<%s>\\n' \"$argv\"; end; end"
            : "hub() { if [ \"$1\" = __complete ]; then command hub \"$@\"; else printf 'RAN<%s>\\n' \"$*\"; fi; }"
        terminal.write("\(begin)source \(script)\n\(standIn)\nhub ready\n")
        try await terminal.wait(forText: "RAN<ready>")
        for (typed, meant) in [
            ("out\t", "outdated"), ("info llama-3.2-1b-m\t", "info llama-3.2-1b-mlx"),
            ("rm org/t\t", "rm org/tiny"),
            ("rm org/tiny@m\t", "rm org/tiny@main"), ("rm ORG/t\t", "rm org/tiny"),
            ("path org/tiny:c\t", "path org/tiny:config.json"),
            ("path org/tiny@main:s\tx\t", "path org/tiny@main:sub/x.txt"),
            ("search --sort=tr\t", "search --sort=trending"), ("gc --unused\t5d", "gc --unused-for 5d"),
            ("search --task text-g\tx", "search --task text-generation x"),
            ("-q ls --sort na\t", "-q ls --sort name"),
            ("serve ./fol\t", "serve ./folder"),
            ("pull x --local-dir=./fol\t", "pull x --local-dir=./folder"),
        ] {
            terminal.write("hub \(typed)\n")
            // Shells differ in the slash behind a folder and the space behind a word.
            try await terminal.wait(forText: "RAN<\(meant)")
        }
    }
}

@Suite struct ManPageTests {
    private static let pages = [ManPage.overview(CommandTable.all)] + CommandTable.all.map(ManPage.text)

    @Test func everySectionIsThere() {
        func sections(_ page: String) -> [Substring] {
            page.split(separator: "\n").filter { $0.hasPrefix(".SH") }.map { $0.dropFirst(5).dropLast() }
        }
        #expect(
            sections(Self.pages[0]) == [
                "NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "FLAGS OF EVERY COMMAND", "GENERATION",
                "EXIT STATUS",
                "ENVIRONMENT", "REFERENCES", "PROVIDERS", "ARCHITECTURES",
            ])
        #expect(
            sections(ManPage.text(PullCommand.command)) == [
                "NAME", "SYNOPSIS", "DESCRIPTION", "FLAGS", "EXAMPLES", "SEE ALSO",
            ])
        for command in CommandTable.all {
            let name = command.name.replacing("-", with: "\\-")
            #expect(Self.pages[0].contains("\\fBhub\\-\(name)(1)\\fR"), "\(name)")
            let page = ManPage.text(command)
            #expect(sections(page).contains("SUBCOMMANDS") == !command.subcommands.isEmpty, "\(name)")
            for flag in command.leaves.flatMap(\.visibleFlags) {
                #expect(page.contains("\\-\\-\(flag.name.replacing("-", with: "\\-"))"), "\(name): \(flag.name)")
            }
        }
    }

    /// A page that people read as a whole: nothing that help says of a subcommand is left out.
    @Test func everySubcommandIsExplained() {
        func plain(_ text: String) -> String {
            text.replacing("\\e", with: "\\").replacing("\\&", with: "").replacing("\\(aq", with: "'")
                .replacing("\\(ga", with: "`").replacing("\\(ha", with: "^").replacing("\\(ti", with: "~")
                .replacing("\\-", with: "-")
        }
        for command in CommandTable.all where !command.subcommands.isEmpty {
            let page = plain(ManPage.text(command))
            for part in command.subcommands {
                for line in part.detail.split(separator: "\n") {
                    #expect(page.contains(line), "\(part.name): \(line)")
                }
                for example in part.examples {
                    let times = page.split(separator: "\n").count { $0 == "\\fB\(example.line)\\fR" }
                    #expect(times == 1, "\(example.line)")
                }
            }
        }
    }

    /// A line that starts with a dot or an apostrophe is a request; only known ones may be.
    @Test func noTextIsTakenForARequest() {
        for line in Self.pages.flatMap({ $0.split(separator: "\n") })
        where line.hasPrefix(".") || line.hasPrefix("'") {
            let request = line.dropFirst().prefix { $0.isLetter }
            #expect(["TH", "SH", "SS", "PP", "TP", "nf", "fi", "br"].contains(request), "\(line)")
        }
    }

    @Test(.enabled(if: program("man") != nil && program("groff") != nil)) func manHasNoWarnings() throws {
        for page in Self.pages {
            let file = try TemporaryFile(page, name: "hub.1")
            let result = try execute(
                try #require(program("man")), ["--warnings", "-l", file.path],
                environment: ["PATH": "/usr/bin:/bin", "MANWIDTH": "80", "LC_ALL": "C.UTF-8"])
            #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        }
    }

    /// What packages call for each page.
    @Test func thePagesAreNamedAsGitNamesThem() async throws {
        let stage = try Stage()
        let names = try await stage.run("help", "-q").lines
        #expect(names == CommandTable.all.map(\.name))
        #expect(try await stage.run("help", "pull", "--man").output.hasPrefix(".TH \"HUB\\-PULL\" \"1\""))
        #expect(try await stage.run("help", "--man").output.hasPrefix(".TH \"HUB\" \"1\""))
    }
}
