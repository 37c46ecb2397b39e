import HubCore

/// `hub help`
enum HelpCommand {
    static let man = Switch(
        "man", "print the manual page, of hub or of a command",
        detail: "It is roff: hub help pull --man | man -l - shows it.")

    static let markdown = Switch(
        "markdown", "print the page of the reference, of a command or a topic, or its index",
        detail: "These are the pages of docs/reference; scripts/reference writes them.")

    /// How a page is written.
    private enum Form { case screen, manual, markdown }

    /// - Parameter table: the commands to explain. The table contains this command, so it is asked only when help is.
    static func command(of table: @escaping @Sendable () -> [Command]) -> Command {
        Command(
            name: "help", doc: "explain a command or a topic",
            detail: """
                hub help COMMAND shows more than hub COMMAND --help: details and examples. hub help COMMAND SUBCOMMAND \
                explains one of several, such as hub help cache mv. --quiet prints the names of the commands alone. The topics \
                are flags, generation, exit-codes, environment, references, providers and architectures, which lists the \
                models that run.
                """,
            operands: [Operand("COMMAND|TOPIC", .optional, .page), Operand("SUBCOMMAND", .optional, .text)],
            flags: [man.flag, markdown.flag], exclusive: [["man", "markdown"]],
            refusalOfMore: AIError(
                .invalidInput, "hub help explains one command or topic at a time",
                advice: "hub help alone lists the commands"),
            examples: [
                .init("hub help pull", "All about one command."),
                .init("hub help cache mv", "One of its subcommands."),
                .init("hub help exit-codes", "What the exit codes mean."),
                .init("hub help pull --man > hub-pull.1", "A manual page, for packaging."),
            ],
            run: { context, arguments in
                let name = arguments.operands.joined(separator: " ")
                let form = arguments[man] ? Form.manual : arguments[markdown] ? .markdown : .screen
                try run(name.isEmpty ? nil : name, form, table(), context)
            })
    }

    /// - Parameter name: a command, with the word of its subcommand, or a topic; nil for the overview.
    private static func run(_ name: String?, _ form: Form, _ table: [Command], _ context: Context) throws {
        let command = name.flatMap { name in
            (table + table.flatMap(\.subcommands)).first { $0.name == name }
                ?? FormerNames.commands[name].flatMap { words in
                    table.flatMap(\.subcommands).first { $0.name == words.joined(separator: " ") }
                }
        }
        let topic = name.flatMap { name in HelpTopic.all.first { $0.name == name } }
        if form == .manual, topic != nil {
            throw AIError(
                .invalidInput, "a topic has no manual page of its own", advice: "hub help --man has the topics")
        }
        if form == .manual, name == nil || command != nil {
            return show(
                command.map(ManPage.text) ?? ManPage.overview(table),
                file: "\(command.map(ManPage.name) ?? "hub").1", context)
        }
        if form == .markdown, name == nil || command != nil || topic != nil {
            return show(
                command.map(ReferencePage.command) ?? topic.map(ReferencePage.topic)
                    ?? ReferencePage.overview(table),
                file: ReferencePage.file(command?.name ?? topic?.name), context)
        }
        guard let name else {
            guard context.mode == .quiet else { return show(nil, of: table, isLong: true, context) }
            for command in table { context.output.value(command.name) }
            return
        }
        if let command { return show(command, of: table, isLong: true, context) }
        if let topic {
            return show(
                HelpText.topic(topic, width: width(context)), topic.json ?? ["topic": .string(name)], context)
        }
        if let first = name.split(separator: " ").first, name.contains(" "),
            table.contains(where: { $0.name == first && $0.subcommands.isEmpty })
        {
            throw AIError(
                .invalidInput, "hub help explains one command or topic at a time",
                advice: "hub help alone lists the commands")
        }
        throw unknown(name, in: table)
    }

    /// A page that is not there. Of two words the second is looked for among the subcommands of the first.
    private static func unknown(_ name: String, in table: [Command]) -> AIError {
        let words = name.split(separator: " ").map(String.init)
        let families = table.filter { !$0.subcommands.isEmpty }
        var near: String?
        var list = "hub --help lists the commands and topics"
        if words.count == 2 {
            let first = NearestName.of(words[0], among: families.map(\.name))
            if let family = families.first(where: { $0.name == words[0] || $0.name == first }) {
                let meant =
                    FormerNames.words[family.name]?[words[1]]
                    ?? NearestName.of(words[1], among: family.subcommands.map(\.word))
                near = meant.map { "\(family.name) \($0)" }
                list = "hub help \(family.name) lists its subcommands"
            }
        } else {
            near =
                OtherTools.command(meantBy: name)
                ?? NearestName.of(name, among: table.map(\.name) + HelpTopic.all.map(\.name))
        }
        return AIError(
            .invalidInput, "no help on \"\(name.printable)\"",
            advice: near.map { "did you mean: hub help \($0)" } ?? list)
    }

    /// A page for another program to show.
    private static func show(_ page: String, file: String, _ context: Context) {
        context.output.document(["name": .string(file), "text": .string(page)])
        context.output.stream(page)
    }

    /// What `hub` alone shows: a person wants to know which commands there are, a script must learn that one is missing.
    ///
    /// - Parameter isBare: whether nothing was typed; who typed flags is told what is missing.
    static func missingCommand(of table: [Command], isBare: Bool, _ context: Context) throws {
        let error = AIError(.invalidInput, "missing command", advice: "hub --help lists the commands")
        guard isBare, context.mode == .human, !context.output.settings.writesEvents else { throw error }
        show(nil, of: table, isLong: false, context)
        throw ReportedError(error: error)
    }

    /// The overview, or the page of a command.
    static func show(_ command: Command?, of table: [Command], isLong: Bool, _ context: Context) {
        let width = width(context)
        guard let command else {
            let commands = JSON.array(table.map { .object($0.json) })
            let flags = JSON.array(GlobalFlags.all.map { .object($0.json) })
            return show(
                HelpText.overview(table, width: width), ["commands": commands, "flags": flags], context)
        }
        show(
            isLong ? HelpText.long(command, width: width) : HelpText.short(command, width: width), command.json,
            context)
    }

    private static func show(_ lines: [String], _ object: JSONObject, _ context: Context) {
        context.output.document(object)
        context.output.stream(lines.joined(separator: "\n") + "\n")
    }

    /// Lines longer than 80 are hard to read, and where nothing is known 80 is what everyone has.
    private static func width(_ context: Context) -> Int { min(80, max(40, context.output.settings.width ?? 80)) }
}

extension Command {
    /// The table's entry for programs that build on it (`hub help COMMAND --json`).
    var json: JSONObject {
        [
            "name": .string(name), "usage": .string(usage), "doc": .string(doc), "detail": .string(detail),
            "flags": .array(visibleFlags.map { .object($0.json) }),
            "subcommands": subcommands.isEmpty ? nil : .array(subcommands.map { .object($0.json) }),
            "examples": .array(examples.map { .object(["line": .string($0.line), "doc": .string($0.doc)]) }),
        ]
    }
}

extension Flag {
    var json: JSONObject {
        var choices: JSON?
        if case .choice(let names) = value { choices = .array(names.map(JSON.string)) }
        return [
            "name": .string(name), "short": short.map { .string(String($0)) },
            "metavariable": metavariable.map(JSON.string), "choices": choices, "repeats": .bool(repeats),
            "doc": .string(doc), "detail": detail.map(JSON.string),
        ]
    }
}
