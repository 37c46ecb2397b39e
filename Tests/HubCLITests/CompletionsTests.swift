import Foundation
import Testing

@testable import HubCLI

@Suite struct CompletionsTests {
    func script(_ shell: CompletionsCommand.Shell) -> String { CompletionsCommand.script(shell, CommandTable.all) }

    @Test(arguments: CompletionsCommand.Shell.allCases)
    func knowsEverything(_ shell: CompletionsCommand.Shell) {
        let text = script(shell)
        for command in CommandTable.all {
            #expect(text.contains(command.name))
            for flag in command.visibleFlags + GlobalFlags.all {
                #expect(text.contains(shell == .fish ? "-l \(flag.name)" : "--\(flag.name)"), "--\(flag.name)")
            }
        }
    }

    @Test(.enabled(if: program("bash") != nil)) func bashReadsIt() throws { try check("bash", .bash) }
    @Test(.enabled(if: program("zsh") != nil)) func zshReadsIt() throws { try check("zsh", .zsh) }
    @Test(.enabled(if: program("fish") != nil)) func fishReadsIt() throws { try check("fish", .fish) }

    func check(_ name: String, _ shell: CompletionsCommand.Shell) throws {
        let file = try TemporaryFile(script(shell))
        let result = try execute(try #require(program(name)), ["-n", file.path])
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
    }

    /// What bash offers for a line; a stand-in for `hub ls -q` names the cached models.
    func complete(_ words: [String]) throws -> [String] {
        let file = try TemporaryFile(script(.bash))
        let quoted = words.map(ShellQuoting.posix).joined(separator: " ")
        let lines = """
            hub() { printf '%s\\n' org/model org/other gpt2 '$(touch /tmp/hub-was-here)'; }
            source \(file.path)
            COMP_WORDS=(\(quoted)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _hub
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try execute(try #require(program("bash")), ["--norc", "-c", lines])
        #expect(result.error.isEmpty, "\(result.error)")
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test(
        .enabled(if: program("bash") != nil),
        arguments: [
            (["hub", "se"], ["search", "serve"]),
            (["hub", "search", "--so"], ["--sort"]),
            (["hub", "ls", "--sort", ""], ["used", "size", "name", "downloaded"]),
            (["hub", "search", "--sort", "=", "d"], ["downloads"]),
            (["hub", "--progress", "p"], ["plain"]),
            (["hub", "--cache-dir", "ls", "pa"], ["path"]),
            (["hub", "completions", "z"], ["zsh"]),
            (["hub", "rm", "o"], ["org/model", "org/other"]),
            (["hub", "rm", ""], ["org/model", "org/other", "gpt2"]),
            (["hub", "gc", "--keep", "g"], ["gpt2"]),
            (["hub", "gc", "--max-size", ""], []),
            (["hub", "serve", "/us"], ["/usr"]),
        ] as [([String], [String])])
    func bashCompletes(_ words: [String], _ expected: [String]) throws { #expect(try complete(words) == expected) }

    @Test(.enabled(if: program("fish") != nil)) func fishCompletes() throws {
        let file = try TemporaryFile(script(.fish))
        func complete(_ line: String) throws -> [String] {
            let result = try execute(
                try #require(program("fish")),
                [
                    "--no-config", "-c",
                    "function hub; echo org/model; end; source \(file.path); complete -C \(ShellQuoting.fish(line))",
                ])
            return result.output.split(separator: "\n").map { String($0.split(separator: "\t")[0]) }
        }
        #expect(try complete("hub se") == ["search", "serve"])
        #expect(try complete("hub ls --sort ").sorted() == ["downloaded", "name", "size", "used"])
        #expect(try complete("hub rm o") == ["org/model"])
    }
}

@Suite struct ManPageTests {
    @Test func everySectionIsThere() {
        let page = ManPage.text()
        let sections = page.split(separator: "\n").filter { $0.hasPrefix(".SH") }.map { $0.dropFirst(5).dropLast() }
        #expect(
            sections == [
                "NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "FLAGS OF EVERY COMMAND", "EXIT STATUS",
                "ENVIRONMENT",
                "REFERENCES",
            ])
        for command in CommandTable.all { #expect(page.contains(".SS \"hub \(command.name)")) }
    }

    /// A line that starts with a dot or an apostrophe is a request; only known ones may be.
    @Test func noTextIsTakenForARequest() {
        for line in ManPage.text().split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
            let request = line.dropFirst().prefix { $0.isLetter }
            #expect(["TH", "SH", "SS", "PP", "TP", "nf", "fi"].contains(request), "\(line)")
        }
    }

    @Test(.enabled(if: program("man") != nil && program("groff") != nil)) func manHasNoWarnings() throws {
        let file = try TemporaryFile(ManPage.text(), name: "hub.1")
        let result = try execute(
            try #require(program("man")), ["--warnings", "-l", file.path],
            environment: ["PATH": "/usr/bin:/bin", "MANWIDTH": "80", "LC_ALL": "C.UTF-8"])
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        #expect(result.output.contains("--older-than AGE"))
    }
}
