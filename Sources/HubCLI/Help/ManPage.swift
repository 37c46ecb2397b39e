/// The manual pages: hub(1), and one for each command, such as hub-pull(1); made from the table, in the man macros of
/// roff (man-pages(7), groff_man(7)).
enum ManPage {
    /// The page hub(1): the commands in a line each, and what holds for all of them.
    static func overview(_ commands: [Command]) -> String {
        var page = Page()
        page.title("hub")
        page.section("NAME")
        page.text("hub - \(HelpText.purpose)")
        page.section("SYNOPSIS")
        page.bold("hub", then: "COMMAND [FLAGS] ...")
        page.section("DESCRIPTION")
        page.paragraph(
            """
            hub shares its cache with every other Hugging Face tool on this machine: same folders, same locks. It shows \
            what is there, resumes interrupted downloads, checks every byte it downloads, and tests whether a model works.
            """)
        page.section("COMMANDS")
        for group in Command.Group.allCases {
            page.macro("SS", group.rawValue)
            for command in commands where command.group == group {
                page.definition("\(name(of: command))(1)", sentence(command.doc))
            }
        }
        page.section("FLAGS OF EVERY COMMAND")
        for flag in GlobalFlags.all { page.flag(flag) }
        for topic in HelpTopic.all where topic.name != HelpTopic.flags.name {
            page.section(title(topic))
            page.paragraph(topic.detail)
            for entry in topic.entries { page.definition(entry.term, entry.text) }
        }
        return page.roff
    }

    /// The page of a command, with its subcommands.
    static func text(_ command: Command) -> String {
        var page = Page()
        page.title(name(of: command))
        page.section("NAME")
        page.text("\(name(of: command)) - \(command.doc)")
        page.section("SYNOPSIS")
        for (index, part) in command.leaves.enumerated() {
            if index > 0 { page.macro("br") }
            let words = part.usage.split(separator: " ").dropFirst(1 + part.name.split(separator: " ").count)
            page.bold("hub \(part.name)", then: words.joined(separator: " "))
        }
        page.section("DESCRIPTION")
        page.paragraph(command.detail)
        page.subcommands(of: command)
        for part in command.flagGroups {
            page.section(command.subcommands.isEmpty ? "FLAGS" : "FLAGS OF HUB \(part.names.uppercased())")
            for flag in part.flags { page.flag(flag) }
        }
        if let sentence = HelpText.borrowed(of: command) { page.paragraph("\(sentence).") }
        if command.generates {
            page.section("SETTINGS OF GENERATION")
            for flag in GenerationFlags.all { page.flag(flag) }
        }
        page.section("EXAMPLES")
        var shown: Set<String> = []
        for example in command.examples + command.subcommands.flatMap(\.examples)
        where shown.insert(example.line).inserted { page.definition(example.line, example.doc) }
        page.section("SEE ALSO")
        page.text("hub(1), which has the flags of every command, the exit codes and the environment variables.")
        return page.roff
    }

    /// `hub-pull`: as git names its pages.
    static func name(of command: Command) -> String { "hub-\(command.name.replacing(" ", with: "-"))" }

    fileprivate static func sentence(_ doc: String) -> String { doc.prefix(1).uppercased() + doc.dropFirst() + "." }

    /// The section names that readers of manuals look for.
    private static func title(_ topic: HelpTopic) -> String {
        switch topic.name {
        case "exit-codes": "EXIT STATUS"
        default: topic.name.uppercased()
        }
    }
}

/// Roff as it grows.
private struct Page {
    var roff = ""

    mutating func line(_ text: String) { roff += text + "\n" }

    mutating func macro(_ name: String, _ arguments: String...) {
        let quoted = arguments.map { "\"\(escape($0).replacing("\"", with: "\\(dq"))\"" }
        line(([".\(name)"] + quoted).joined(separator: " "))
    }

    mutating func title(_ name: String) {
        macro("TH", name.uppercased(), "1", "", "hub \(Version.number)", "User Commands")
    }

    mutating func section(_ title: String) { macro("SH", title) }

    /// Text that starts no request, even where its first character is a dot or an apostrophe.
    mutating func text(_ text: String) {
        let safe = escape(text)
        line(safe.hasPrefix(".") || safe.hasPrefix("'") ? "\\&" + safe : safe)
    }

    mutating func bold(_ word: String, then rest: String) { line("\\fB\(escape(word))\\fR \(escape(rest))") }

    /// Paragraphs separated by empty lines; lines that start with a space stay as they are.
    mutating func paragraph(_ text: String) {
        for block in text.split(separator: "\n\n") {
            line(".PP")
            let lines = block.split(separator: "\n")
            if lines.allSatisfy({ $0.hasPrefix(" ") }) {
                line(".nf")
                for line in lines { self.text(String(line)) }
                line(".fi")
            } else {
                for line in lines { self.text(String(line)) }
            }
        }
    }

    mutating func definition(_ term: String, _ text: String) {
        line(".TP")
        line("\\fB\(escape(term))\\fR")
        self.text(text)
    }

    mutating func flag(_ flag: Flag) { definition(flag.usage, HelpText.sentence(flag)) }

    /// What each subcommand does, under a heading of its own.
    mutating func subcommands(of command: Command) {
        guard !command.subcommands.isEmpty else { return }
        section("SUBCOMMANDS")
        for part in command.subcommands {
            macro("SS", "hub \(part.name)")
            text(ManPage.sentence(part.doc + (part.isUsual ? " (the default)" : "")))
            // One that is not explained has the text of its family.
            if part.detail != command.detail { paragraph(part.detail) }
        }
    }

    /// `\e` is a backslash, `\-` a minus that can be copied (a plain `-` may become a hyphen), and the same for the
    /// characters that some devices turn into typographic ones (groff_man_style(7)).
    private func escape(_ text: String) -> String {
        var safe = ""
        for character in text {
            switch character {
            case "\\": safe += "\\e"
            case "-": safe += "\\-"
            case "'": safe += "\\(aq"
            case "`": safe += "\\(ga"
            case "^": safe += "\\(ha"
            case "~": safe += "\\(ti"
            default: safe.append(character)
            }
        }
        return safe
    }
}
