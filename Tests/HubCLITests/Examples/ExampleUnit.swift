import HubCore
import Support
import Testing

@testable import HubCLI

/// Lines that people copy together: one example of the help, or the commands of a block in README or the guide.
struct ExampleUnit: Sendable, CustomTestStringConvertible {
    /// Where they stand: `hub help pull`, `docs/guide/travel.md`.
    var place: String
    /// As they stand there, without a prompt and a comment. `export` lines come before those that they are for.
    var lines: [String]

    /// The lines that run something.
    var commands: [String] { lines.filter { !$0.hasPrefix("export ") } }
    var testDescription: String { "\(place): \(commands.first ?? "")" }

    static let all: [ExampleUnit] = help + documents

    // MARK: The help

    private static var help: [ExampleUnit] {
        var seen: Set<String> = []
        var units: [ExampleUnit] = []
        for command in CommandTable.all.flatMap({ [$0] + $0.subcommands }) {
            for example in command.examples where seen.insert(example.line).inserted {
                units.append(ExampleUnit(place: "hub help \(command.name)", lines: [example.line]))
            }
        }
        return units
    }

    // MARK: The documents

    /// Whose lines do not follow each other: each shows what another model is for.
    private static let separate: Set<String> = ["docs/guide/models.md", "docs/guide/providers.md"]

    private static var documents: [ExampleUnit] {
        let root = try! Fixtures.path("../..")
        let guide = try! FileSystem.entries(Path.join(root, "docs/guide")) ?? []
        let names = ["README.md"] + guide.filter { $0.hasSuffix(".md") }.sorted().map { "docs/guide/\($0)" }
        return names.flatMap { name in
            let text = try! FileSystem.text(Path.join(root, name)) ?? ""
            let units = blocks(in: text).map { ExampleUnit(place: name, lines: $0.compactMap(command)) }
                .filter { !$0.commands.isEmpty }
            guard separate.contains(name) else { return units }
            return units.flatMap(\.lines).map { ExampleUnit(place: name, lines: [$0]) }
        }
    }

    /// The fenced blocks, and the indented ones, in which lines may be empty.
    private static func blocks(in text: String) -> [[Substring]] {
        var blocks: [[Substring]] = [[]]
        var isFenced = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isFenced.toggle()
                blocks.append([])
            } else if isFenced {
                blocks[blocks.count - 1].append(line)
            } else if line.hasPrefix("    ") {
                blocks[blocks.count - 1].append(line.dropFirst(4))
            } else if !line.isEmpty {
                blocks.append([])
            }
        }
        return blocks
    }

    /// What to type of a line: without a prompt, the key of a CI's file, and a comment; nil if it does not run hub.
    private static func command(_ line: Substring) -> String? {
        let typed = line.trimmingPrefix(#/\$ | *(- )?run: | *- /#)
        let end = typed.firstRange(of: /\s+#\s/)?.lowerBound ?? typed.endIndex
        let words = String(typed[..<end])
        let runs = words.prefixMatch(of: #/export |hub |ssh \S+ hub |.*\| hub |.*\$\(hub /#) != nil
        return runs ? words : nil
    }
}
