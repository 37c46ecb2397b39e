/// The screens of help, made from the table.
enum HelpText {
    /// What this is, in a line.
    static let purpose = "find, fetch, keep, clean and try Hugging Face models"

    /// `hub --help`: a line for each command, in groups.
    static func overview(_ commands: [Command], width: Int) -> [String] {
        let indent = (commands.map(\.name.count).max() ?? 0) + 4
        let groups = Command.Group.allCases.map { group in
            (group, commands.filter { $0.group == group }.map { ($0.name, $0.doc) })
        }
        return ["hub \(Version.number): \(purpose)", "", "Usage: hub COMMAND [FLAGS] ...", ""]
            + groups.flatMap { group, rows in
                [group.rawValue] + TextWrap.definitions(rows, width: width, column: indent) + [""]
            }
            + TextWrap.lines(globalFlags, width: width)
            + [""]
            + TextWrap.lines(
                """
                hub help COMMAND explains a command, hub help COMMAND SUBCOMMAND one of its subcommands, such as hub help \
                cache mv. Topics: \(HelpTopic.all.map(\.name).joined(separator: ", "))
                """,
                width: width)
    }

    /// The flags that every command takes, in a line of a command's page.
    static let globalFlags = "Every command also takes --json, -q, -v, --offline and more: hub help flags"

    /// `hub CMD --help`: usage and flags, a line each where they fit.
    static func short(_ command: Command, width: Int) -> [String] {
        var lines = head(command, width: width) + words(of: command, width: width)
        if !command.ownFlags.isEmpty {
            lines += ["", "Flags:"]
            let (minor, flags) = (command.ownFlags.filter(\.isMinor), command.ownFlags.filter { !$0.isMinor })
            lines += TextWrap.definitions(flags.map { ($0.usage, $0.doc) }, width: width)
            if !minor.isEmpty { lines += flow("  Also:", minor.map(\.usage), width: width) }
        }
        lines += settings(of: command, width: width)
        return lines + [""]
            + [globalFlags, "hub help \(command.name) shows details and examples"].flatMap {
                TextWrap.lines($0, width: width)
            }
    }

    /// The words that a command takes, a line each.
    private static func words(of command: Command, width: Int) -> [String] {
        guard !command.subcommands.isEmpty else { return [] }
        let rows = command.subcommands.map { subcommand in
            let words = [subcommand.word] + subcommand.operands.map(\.usage)
            return (words.joined(separator: " "), subcommand.doc + (subcommand.isUsual ? " (the default)" : ""))
        }
        return ["", "Subcommands:"] + TextWrap.definitions(rows, width: width)
    }

    /// The flags that a command borrows, in a sentence, and where they are explained; nil without any.
    static func borrowed(of command: Command) -> String? {
        guard let borrowed = command.leaves.lazy.compactMap(\.borrowed).first else { return nil }
        let names = borrowed.flags.map { "--\($0.name)" }
        let list = names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
        return "It also takes \(list) \(borrowed.purpose): hub help \(borrowed.from)"
    }

    /// The line that names flags which another page explains, where a command takes them.
    private static func settings(of command: Command, width: Int) -> [String] {
        if let sentence = borrowed(of: command) { return [""] + TextWrap.lines(sentence, width: width) }
        guard command.generates else { return [] }
        return [""]
            + TextWrap.lines(
                "It also takes the settings of generation, such as --temperature, --max-tokens and --threads: hub help generation",
                width: width)
    }

    /// `hub help CMD`: everything about the command.
    static func long(_ command: Command, width: Int) -> [String] {
        var lines = head(command, width: width) + [""] + TextWrap.lines(command.detail, width: width)
        lines += words(of: command, width: width)
        if command.subcommands.contains(where: { $0.detail != command.detail }) {
            lines += TextWrap.lines("hub help \(command.name) SUBCOMMAND explains one of these.", width: width)
        }
        lines += ["", "Examples:"]
        for example in command.examples {
            lines.append("  \(example.line)")
            lines += TextWrap.lines(example.doc, width: width, indent: 6)
        }
        for part in command.flagGroups {
            let heading = command.subcommands.isEmpty ? "Flags:" : "Flags of hub \(part.names):"
            lines += [""] + TextWrap.lines(heading, width: width)
            for flag in part.flags {
                lines.append("  \(flag.usage)")
                lines += TextWrap.lines(sentence(flag), width: width, indent: 6)
            }
        }
        return lines + settings(of: command, width: width) + [""] + TextWrap.lines(globalFlags, width: width)
    }

    /// `hub help exit-codes` and its like.
    static func topic(_ topic: HelpTopic, width: Int) -> [String] {
        let list = topic.table.map { $0(width) } ?? TextWrap.definitions(topic.entries, width: width)
        return TextWrap.lines(topic.detail, width: width) + [""] + list
    }

    private static func head(_ command: Command, width: Int) -> [String] {
        TextWrap.lines("hub \(command.name): \(command.doc)", width: width) + ["", "Usage: \(command.usage)"]
    }

    /// The doc as a sentence, and the further ones.
    static func sentence(_ flag: Flag) -> String {
        let first = flag.doc.prefix(1).uppercased() + flag.doc.dropFirst() + "."
        return flag.detail.map { "\(first) \($0)" } ?? first
    }

    /// Items beside each other, two spaces between them, lines after the first indented.
    private static func flow(_ title: String, _ items: [String], width: Int) -> [String] {
        var lines = [title]
        for item in items {
            let isFirst = lines[lines.count - 1] == title && lines.count == 1
            let gap = isFirst ? " " : "  "
            if DisplayWidth.of(lines[lines.count - 1] + gap + item) <= width {
                lines[lines.count - 1] += gap + item
            } else {
                lines.append("  " + item)
            }
        }
        return lines
    }
}
