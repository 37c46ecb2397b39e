/// The pages of docs/reference in Markdown: an index, and one for each command and each topic; made from the table.
enum ReferencePage {
    /// The index, which links each page in a line of its own.
    static func overview(_ commands: [Command]) -> String {
        var page = MarkdownPage()
        page.heading("Reference")
        page.block(
            """
            hub prints these pages from its table of commands, as it prints help and the manual pages: hub help --markdown \
            is this one, hub help pull --markdown that of a command. scripts/reference writes them all.
            """)
        for group in Command.Group.allCases {
            page.heading(group.rawValue, level: 2)
            page.list(
                commands.filter { $0.group == group }.map { command in
                    "[hub \(command.name)](\(file(command.name))): \(MarkdownPage.escape(command.doc))"
                })
        }
        page.heading("Topics", level: 2)
        page.list(HelpTopic.all.map(link))
        return page.text
    }

    /// The page of a command, with its subcommands.
    static func command(_ command: Command) -> String {
        var page = MarkdownPage()
        page.heading("hub \(command.name)")
        page.block(sentence(command.doc))
        page.code(command.leaves.map(\.usage))
        page.paragraphs(command.detail)
        if let sentence = HelpText.borrowed(of: command) { page.block("\(sentence).") }
        page.examples(command.examples, level: 2)
        for part in command.subcommands {
            page.heading("hub \(part.name)", level: 2)
            page.block(sentence(part.doc + (part.isUsual ? " (the default)" : "")))
            page.code([part.usage])
            if part.detail != command.detail { page.paragraphs(part.detail) }
            if part.examples.map(\.line) != command.examples.map(\.line) { page.examples(part.examples, level: 3) }
            let first = command.subcommands.first { $0.hasFlags(of: part) }
            if let first, first.name != part.name, !part.ownFlags.isEmpty {
                page.block("It takes the same flags as hub \(first.name).")
            } else {
                page.flags(part.ownFlags, level: 3)
            }
            page.list(of: part)
        }
        if command.subcommands.isEmpty {
            page.flags(command.ownFlags, level: 2)
            page.list(of: command)
        }
        page.heading("See also", level: 2)
        let generates = command.leaves.contains(where: \.generates)
        page.list(([.flags] + (generates ? [.generation] : []) + [.exitCodes, .environment]).map(link))
        return page.text
    }

    /// The page of a topic.
    static func topic(_ topic: HelpTopic) -> String {
        var page = MarkdownPage()
        page.heading(title(topic))
        page.block(sentence(topic.doc))
        page.paragraphs(topic.detail)
        page.definitions(topic.entries)
        return page.text
    }

    /// The file of a page, by the name of its command or topic.
    static func file(_ name: String?) -> String {
        "\(name.map { $0.replacing(" ", with: "-") } ?? "README").md"
    }

    private static func link(_ topic: HelpTopic) -> String {
        "[\(title(topic))](\(file(topic.name))): \(MarkdownPage.escape(topic.doc))"
    }

    private static func title(_ topic: HelpTopic) -> String {
        let words = topic.name.replacing("-", with: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    private static func sentence(_ doc: String) -> String { doc.prefix(1).uppercased() + doc.dropFirst() + "." }
}

/// Markdown as it grows: blocks with an empty line between them.
private struct MarkdownPage {
    private var blocks: [String] = []

    var text: String { blocks.joined(separator: "\n\n") + "\n" }

    mutating func heading(_ title: String, level: Int = 1) {
        blocks.append("\(String(repeating: "#", count: level)) \(Self.escape(title))")
    }

    /// A paragraph of plain text.
    mutating func block(_ text: String) {
        // At the start of a line these begin something else.
        let marks = text.hasPrefix("- ") || text.hasPrefix("+ ") || text.hasPrefix("#") || text.hasPrefix(">")
        blocks.append((marks ? "\\" : "") + Self.escape(text))
    }

    mutating func paragraphs(_ text: String) {
        for paragraph in text.split(separator: "\n\n") { block(String(paragraph)) }
    }

    mutating func code(_ lines: [String]) {
        blocks.append(lines.map { "    \($0)" }.joined(separator: "\n"))
    }

    /// Items that are Markdown already.
    mutating func list(_ items: [String]) {
        if !items.isEmpty { blocks.append(items.map { "- \($0)" }.joined(separator: "\n")) }
    }

    mutating func definitions(_ entries: [(term: String, text: String)]) {
        list(entries.map { "`\($0.term)`: \(Self.escape($0.text))" })
    }

    mutating func examples(_ examples: [Command.Example], level: Int) {
        heading("Examples", level: level)
        definitions(examples.map { ($0.line, $0.doc) })
    }

    mutating func flags(_ flags: [Flag], level: Int) {
        guard !flags.isEmpty else { return }
        heading("Flags", level: level)
        definitions(flags.map { ($0.usage, HelpText.sentence($0)) })
    }

    /// What `--json=lines` prints, where there is a list.
    mutating func list(of command: Command) {
        guard let key = command.listKey else { return }
        blocks.append("`--json=lines` prints the entries of `\(key)`, one a line.")
    }

    /// The text with what Markdown would take for its own escaped. An underscore within a word is none of that.
    static func escape(_ text: String) -> String {
        var safe = ""
        let characters = Array(text)
        func isOfWord(_ index: Int) -> Bool {
            characters.indices.contains(index) && (characters[index].isLetter || characters[index].isNumber)
        }
        for (index, character) in characters.enumerated() {
            let isWithinWord = isOfWord(index - 1) && isOfWord(index + 1)
            if "\\`*[<~".contains(character) || (character == "_" && !isWithinWord) { safe += "\\" }
            safe.append(character)
        }
        return safe
    }
}
