/// The screens of help, made from the table.
enum HelpText {
    /// What this is, in a line.
    static let purpose = "find, fetch, keep, clean and try Hugging Face models"

    /// `hub --help`: one screen of 80 columns and 24 rows.
    static func overview(_ commands: [Command], width: Int) -> [String] {
        let rows = commands.filter { !$0.isMinor }.map { ($0.name, $0.doc) }
        let others = commands.filter(\.isMinor).map(\.name)
        return ["hub \(Version.number): \(purpose)", "", "Usage: hub COMMAND [FLAGS] ...", ""]
            + TextWrap.definitions(rows, width: width)
            + flow("  Also:", others, width: width)
            + [""]
            + flow("Flags of every command:", GlobalFlags.all.map(\.usage), width: width)
            + [""]
            + TextWrap.lines(
                "hub help COMMAND explains a command. Topics: \(HelpTopic.all.map(\.name).joined(separator: ", "))",
                width: width)
    }

    /// The flags that every command takes, in a line of a command's page.
    static let globalFlags = "Every command also takes --json, -q, -v, --offline and more: hub help flags"

    /// `hub CMD --help`: usage and flags, a line each where they fit.
    static func short(_ command: Command, width: Int) -> [String] {
        var lines = head(command, width: width)
        if !command.visibleFlags.isEmpty {
            lines += ["", "Flags:"]
            let (minor, flags) = (
                command.visibleFlags.filter(\.isMinor), command.visibleFlags.filter { !$0.isMinor }
            )
            lines += TextWrap.definitions(flags.map { ($0.usage, $0.doc) }, width: width)
            if !minor.isEmpty { lines += flow("  Also:", minor.map(\.usage), width: width) }
        }
        return lines + [""] + TextWrap.lines(globalFlags, width: width)
            + ["hub help \(command.name) shows details and examples"]
    }

    /// `hub help CMD`: everything about the command.
    static func long(_ command: Command, width: Int) -> [String] {
        var lines = head(command, width: width) + [""] + TextWrap.lines(command.detail, width: width)
        lines += ["", "Examples:"]
        for example in command.examples {
            lines.append("  \(example.line)")
            lines += TextWrap.lines(example.doc, width: width, indent: 6)
        }
        if !command.visibleFlags.isEmpty {
            lines += ["", "Flags:"]
            for flag in command.visibleFlags {
                lines.append("  \(flag.usage)")
                lines += TextWrap.lines(sentence(flag), width: width, indent: 6)
            }
        }
        return lines + [""] + TextWrap.lines(globalFlags, width: width)
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
