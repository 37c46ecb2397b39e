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
