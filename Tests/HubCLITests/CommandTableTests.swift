import HubCore
import Testing

@testable import HubCLI

@Suite struct CommandTableTests {
    @Test(arguments: CommandTable.all.map(\.name))
    func everyCommandIsExplained(_ name: String) throws {
        let command = try #require(CommandTable.all.first { $0.name == name })
        #expect(!command.doc.isEmpty && command.detail.count > 40)
        #expect(command.doc.first?.isLowercase == true && command.doc.last != ".")
        #expect((2...4).contains(command.examples.count))
        for example in command.examples {
            #expect(example.line.contains("hub "))
            #expect(example.doc.last == "." || example.doc.last == "?", "\(example.doc)")
        }
    }

    @Test(arguments: CommandTable.all.flatMap(\.leaves).map(\.name) + [""])
    func everyFlagIsExplained(_ name: String) {
        let flags = CommandTable.all.flatMap(\.leaves).first { $0.name == name }?.flags ?? GlobalFlags.all
        for flag in flags {
            #expect(!flag.doc.isEmpty && flag.doc.last != ".", "--\(flag.name)")
            #expect(flag.doc.first?.isUppercase == false, "--\(flag.name)")
            #expect((flag.takesValue || flag.isValueOptional) == (flag.metavariable != nil), "--\(flag.name)")
            #expect(flag.name.allSatisfy { $0.isLowercase || $0 == "-" }, "--\(flag.name)")
            if let detail = flag.detail { #expect(detail.last == ".", "--\(flag.name)") }
        }
    }

    @Test func noNameIsUsedTwice() {
        #expect(Set(CommandTable.all.map(\.name)).count == CommandTable.all.count)
        for command in CommandTable.all.flatMap(\.leaves) {
            let flags = command.flags + GlobalFlags.all
            #expect(Set(flags.map(\.name)).count == flags.count, "\(command.name)")
            let letters = flags.compactMap(\.short)
            #expect(Set(letters).count == letters.count, "\(command.name)")
            for name in command.exclusive.joined() { #expect(command.flag(named: name) != nil, "\(name)") }
        }
        let topics = Set(HelpTopic.all.map(\.name))
        #expect(topics.isDisjoint(with: CommandTable.all.map(\.name)))
    }

    /// Who has learned a flag in one command knows it in all. What a list is sorted by, and the forms of different
    /// things, are each command's own.
    @Test func aFlagMeansTheSameEverywhere() {
        var known: [String: (takesValue: Bool, doc: String, owner: String)] = [:]
        for command in CommandTable.all.flatMap(\.leaves) {
            #expect(command.ownFlags.count <= 25, "hub \(command.name) has \(command.ownFlags.count)")
            for flag in command.flags where !["format", "sort"].contains(flag.name) {
                let doc = String(flag.doc.prefix { $0 != ":" })
                let first = known[flag.name] ?? (flag.value != nil, doc, command.name)
                known[flag.name] = first
                let both = "--\(flag.name) of hub \(command.name) and of hub \(first.owner)"
                #expect((flag.value != nil) == first.takesValue, "\(both)")
                #expect(doc == first.doc, "\(both)")
            }
        }
    }

    /// The shells' examples are read by people who paste them: every flag in them must exist.
    @Test func examplesParse() throws {
        for command in CommandTable.all {
            for example in command.examples {
                for part in example.line.split(separator: "hub ").dropFirst(example.line.hasPrefix("hub ") ? 0 : 1)
                {
                    let words = part.split(separator: " ").map { String($0.filter { !"'\"()".contains($0) }) }
                    // Shell syntax and quoted text do not reach the parser.
                    let own = words.prefix { !["||", "|", ">", "<", "&&"].contains($0) }
                    for word in own where word.hasPrefix("-") {
                        let outcome = ArgumentParser.parse(Array(own))
                        let fault = outcome.fault?.message ?? ""
                        #expect(
                            !fault.contains("unknown"),
                            "\(example.line): \(word): \(fault)")
                    }
                }
            }
        }
    }
}

@Suite struct HelpTests {
    @Test func theOverviewHasALineForEachCommand() {
        let lines = HelpText.overview(CommandTable.all, width: 80)
        #expect(lines.allSatisfy { $0.count <= 80 })
        for command in CommandTable.all { #expect(lines.contains { $0.hasPrefix("  \(command.name) ") }) }
        for group in Command.Group.allCases { #expect(lines.contains(group.rawValue)) }
        // One line, for people look for a command by running their eye down the list.
        #expect(!lines.contains { $0.hasPrefix("   ") }, "\(lines.filter { $0.hasPrefix("   ") })")
    }

    /// A command with subcommands has neither flags nor operands of its own, and each is explained.
    @Test func everyWordHasItsPage() {
        for family in CommandTable.all where !family.subcommands.isEmpty {
            #expect(family.flags.isEmpty && family.operands.isEmpty)
            #expect(family.subcommands.filter(\.isUsual).count <= 1)
            for command in family.subcommands {
                #expect(command.name == "\(family.name) \(command.word)" && command.detail.count > 40)
                #expect(command.doc.first?.isLowercase == true && command.doc.last != ".", "\(command.name)")
            }
        }
    }

    @Test(arguments: [40, 60, 70, 80])
    func pagesKeepTheirWidth(_ width: Int) {
        for command in CommandTable.all {
            // A usage line, a flag's spelling and an example are not wrapped, because they are pasted.
            let unbroken = Set(
                command.examples.map { "  \($0.line)" }
                    + (command.leaves.flatMap(\.flags) + GlobalFlags.all).map { "  \($0.usage)" })
            let pages = HelpText.short(command, width: width) + HelpText.long(command, width: width)
            for line in pages where !unbroken.contains(line) && !line.hasPrefix("Usage:") {
                #expect(DisplayWidth.of(line) <= width, "\(command.name): \(line)")
            }
            if width == 80 { #expect(pages.allSatisfy { $0.count <= 80 }) }
        }
        for topic in HelpTopic.all {
            for line in HelpText.topic(topic, width: width) { #expect(line.count <= width, "\(line)") }
        }
    }

    @Test func aPageShowsEveryFlag() {
        for command in CommandTable.all {
            let short = HelpText.short(command, width: 80).joined(separator: "\n")
            let long = HelpText.long(command, width: 80).joined(separator: "\n")
            for flag in command.ownFlags {
                #expect(short.contains("--\(flag.name)") && long.contains("--\(flag.name)"))
            }
            for flag in command.subcommands.flatMap(\.ownFlags) { #expect(long.contains("--\(flag.name)")) }
            #expect(long.contains("hub help generation") == command.generates)
            // The common flags have a page of their own.
            #expect(short.contains("hub help flags") && long.contains("hub help flags"))
            #expect(!long.contains("  --progress"))
        }
    }

    @Test func everyCommonFlagIsOnItsPage() {
        let page = HelpText.topic(.flags, width: 80).joined(separator: "\n")
        for flag in GlobalFlags.all { #expect(page.contains(flag.usage)) }
        let settings = HelpText.topic(.generation, width: 80).joined(separator: "\n")
        for flag in GenerationFlags.all { #expect(settings.contains("--\(flag.name)")) }
    }

    /// Who reads a page to its end has seen the examples before the list of flags.
    @Test func examplesComeBeforeFlags() throws {
        let page = HelpText.long(PullCommand.command, width: 80)
        #expect(try #require(page.firstIndex(of: "Examples:")) < (try #require(page.firstIndex(of: "Flags:"))))
        #expect(page.last == HelpText.globalFlags)
    }

    @Test func aHiddenCommandIsInNoHelp() {
        let names = CommandTable.hidden.map(\.name)
        let pages = HelpText.overview(CommandTable.all, width: 80).joined() + ManPage.overview(CommandTable.all)
        for name in names { #expect(!pages.contains(name)) }
        #expect(NearestName.of("__complet", among: CommandTable.all.map(\.name)) == nil)
    }

    @Test func aHiddenFlagIsInNoHelp() throws {
        for command in CommandTable.all {
            let pages = HelpText.short(command, width: 80) + HelpText.long(command, width: 80)
            for flag in command.flags where flag.isHidden {
                // Another flag may begin with its name.
                let spelling = try Regex("--\(flag.name)(?![a-z-])")
                #expect(!pages.contains { $0.contains(spelling) })
            }
        }
    }

    @Test func exactShortHelp() {
        let command = testCommand(
            operands: [Operand("REF", .some, .model)],
            flags: [SharedFlags.dryRun.flag, Option.text("keep", "REF", repeats: true, "keep this").flag])
        #expect(
            HelpText.short(command, width: 60) == [
                "hub do: do", "", "Usage: hub do [FLAGS] REF...", "", "Flags:",
                "  -n, --dry-run  show what would happen and why; change",
                "                 nothing",
                "  --keep REF...  keep this", "",
                "Every command also takes --json, -q, -v, --offline and more:",
                "hub help flags",
                "hub help do shows details and examples",
            ])
    }
}
