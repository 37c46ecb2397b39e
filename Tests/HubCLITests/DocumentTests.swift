import HubCore
import Support
import Testing

@testable import HubCLI

/// The command lines of the documents are those that run today.
@Suite struct DocumentTests {
    /// The Markdown files that people read, from the top of the repository.
    private static func documents() throws -> [(name: String, text: String)] {
        let root = try Fixtures.path("../..")
        var names = ["README.md", "DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md", "BENCHMARKS.md"]
        for folder in ["docs", "docs/guide", "docs/design", "docs/adding"] {
            names += try (FileSystem.entries(Path.join(root, folder)) ?? []).filter { $0.hasSuffix(".md") }.sorted()
                .map { "\(folder)/\($0)" }
        }
        return try names.map { name in
            let bytes = try #require(try FileSystem.contents(Path.join(root, name)), "\(name)")
            return (name, String(decoding: bytes, as: UTF8.self))
        }
    }

    /// The lines of indented and fenced blocks that begin with `hub`, without a prompt, up to the first shell syntax.
    private static func commands(in text: String) -> [[String]] {
        var found: [[String]] = []
        var isFenced = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") { isFenced.toggle() }
            guard isFenced || line.hasPrefix("    ") else { continue }
            let words = line.split(separator: " ").map(String.init)
            let start = words.first == "$" ? 1 : 0
            guard words.count > start + 1, words[start] == "hub" else { continue }
            let stops: Set = ["|", ">", "<", "&&", "||", "#", ";", "\\"]
            found.append(
                words[(start + 1)...].prefix { !stops.contains($0) }.map { $0.filter { !"'\"()`;".contains($0) } })
        }
        return found
    }

    @Test func everyCommandLineIsUnderstood() throws {
        var count = 0
        for (name, text) in try Self.documents() {
            for words in Self.commands(in: text) where !words.contains(where: { $0.contains("...") || $0 == "…" }) {
                let outcome = ArgumentParser.parse(words)
                count += 1
                #expect(outcome.notes.isEmpty, "\(name): hub \(words.joined(separator: " ")): \(outcome.notes)")
                let fault = outcome.fault?.message ?? ""
                #expect(
                    !fault.contains("unknown") && !fault.contains("is not a flag")
                        && !fault.contains("does not know"),
                    "\(name): hub \(words.joined(separator: " ")): \(fault)")
            }
        }
        #expect(count > 50, "the blocks were found")
    }

    /// `hub mv` in a sentence is as wrong as in a block.
    @Test func everyCommandThatIsNamedExists() throws {
        for (name, text) in try Self.documents() {
            for match in text.matches(of: /`hub ([a-z][a-z-]*)/) {
                let word = String(match.output.1)
                #expect(CommandTable.all.contains { $0.name == word }, "\(name): \(match.output.0)")
            }
        }
    }

    @Test func theGuideHasEveryCommand() throws {
        let guide = try #require(try Self.documents().first { $0.name == "docs/guide/commands.md" }).text
        for command in CommandTable.all {
            #expect(
                guide.contains("`hub \(command.name)") || guide.contains("`\(command.name)`"), "\(command.name)")
        }
    }
}

/// docs/reference is what hub prints.
@Suite struct ReferenceTests {
    /// The files that there should be, and their text.
    private static var pages: [String: String] {
        let commands = CommandTable.all.map { ($0.name, ReferencePage.command($0)) }
        let topics = HelpTopic.all.map { ($0.name, ReferencePage.topic($0)) }
        return Dictionary(
            uniqueKeysWithValues: (commands + topics).map { (ReferencePage.file($0.0), $0.1) }
                + [(ReferencePage.file(nil), ReferencePage.overview(CommandTable.all))])
    }

    @Test func everyPageIsWhatHubPrints() throws {
        let folder = try Fixtures.path("../../docs/reference")
        let files = try FileSystem.entries(folder) ?? []
        for (name, text) in Self.pages {
            let bytes = try FileSystem.contents(Path.join(folder, name))
            #expect(
                bytes.map { String(decoding: $0, as: UTF8.self) } == text,
                "docs/reference/\(name) is \(bytes == nil ? "missing" : "not of today"): run scripts/reference")
        }
        for name in files where Self.pages[name] == nil {
            Issue.record("nothing prints docs/reference/\(name): run scripts/reference")
        }
    }

    @Test func theProgramPrintsThem() async throws {
        let stage = try Stage()
        for words in [[], ["cache"], ["exit-codes"]] {
            let file = ReferencePage.file(words.first)
            let result = try await stage.run(["help"] + words + ["--markdown"])
            #expect(result.status == 0 && result.output == Self.pages[file], "\(file)")
            let document = try await stage.run(["help"] + words + ["--markdown", "--json"]).document()
            #expect(document["name"]?.string == file && document["text"]?.string == result.output)
        }
        #expect(try await stage.run("help", "cache du", "--markdown").output.hasPrefix("# hub cache du\n"))
        let both = try await stage.run("help", "--man", "--markdown")
        #expect(both.status == 2 && both.error.contains("--man and --markdown cannot be used together"))
    }

    /// The script writes the pages that the index links.
    @Test func theIndexLinksEveryPageInALine() {
        let index = ReferencePage.overview(CommandTable.all)
        let links = index.split(separator: "\n").compactMap { line in
            line.firstMatch(of: /^- \[.*\]\(([a-z-]+\.md)\)/).map { String($0.output.1) }
        }
        #expect(Set(links + ["README.md"]) == Set(Self.pages.keys))
        #expect(links.count + 1 == Self.pages.count)
    }

    @Test func aPageHasEverythingThatHelpHas() {
        for command in CommandTable.all {
            let page = ReferencePage.command(command)
            for flag in command.leaves.flatMap(\.ownFlags) { #expect(page.contains("- `\(flag.usage)`: ")) }
            for example in command.examples { #expect(page.contains("- `\(example.line)`: ")) }
            for part in command.subcommands { #expect(page.contains("\n## hub \(part.name)\n")) }
            // What stands between backticks has none.
            for line in page.split(separator: "\n") {
                #expect(line.split(separator: "`", omittingEmptySubsequences: false).count % 2 == 1, "\(line)")
            }
        }
        let topic = HelpTopic(name: "a-b", doc: "one *two*", detail: "a_b _c_ <d> ~/e", entries: [("f", "[g]")])
        #expect(
            ReferencePage.topic(topic) == """
                # A b

                One \\*two\\*.

                a_b \\_c\\_ \\<d> \\~/e

                - `f`: \\[g]

                """)
    }
}
