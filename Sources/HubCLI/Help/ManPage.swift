/// The manual page hub(1), made from the table, in the man macros of roff (man-pages(7), groff_man(7)).
enum ManPage {
    /// The whole page.
    static func text(_ commands: [Command]) -> String {
        var page = Page()
        page.macro("TH", "HUB", "1", "", "hub \(Version.number)", "User Commands")
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
        for command in commands { page.command(command) }
        page.section("FLAGS OF EVERY COMMAND")
        for flag in GlobalFlags.all { page.flag(flag) }
        for topic in HelpTopic.all where topic.name != HelpTopic.flags.name {
            page.section(title(topic))
            page.paragraph(topic.detail)
            for entry in topic.entries { page.definition(entry.term, entry.text) }
        }
        return page.roff
    }

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
        line(".\(name) \(quoted.joined(separator: " "))")
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

    mutating func command(_ command: Command) {
        macro("SS", command.usage)
        text(command.doc.prefix(1).uppercased() + command.doc.dropFirst() + ".")
        paragraph(command.detail)
        for flag in command.visibleFlags { self.flag(flag) }
        line(".PP")
        line("Examples:")
        for example in command.examples { definition(example.line, example.doc) }
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
