import HubCore

/// `hub help`
enum HelpCommand {
    static let man = Switch(
        "man", "print the manual page hub(1)", detail: "It is roff: hub help --man | man -l - shows it.")

    /// - Parameter table: the commands to explain. The table contains this command, so it is asked only when help is.
    static func command(of table: @escaping @Sendable () -> [Command]) -> Command {
        Command(
            name: "help", isMinor: true, doc: "explain a command or a topic",
            detail: """
                hub help COMMAND shows more than hub COMMAND --help: details and examples. The topics are flags, exit-codes, \
                environment, references, providers and architectures, which lists the models that run.
                """,
            operands: [Operand("COMMAND|TOPIC", .optional, .choice(names))],
            flags: [man.flag],
            refusalOfMore: AIError(
                .invalidInput, "hub help explains one command or topic at a time",
                advice: "hub help alone lists the commands"),
            examples: [
                .init("hub help pull", "All about one command."),
                .init("hub help exit-codes", "What the exit codes mean."),
                .init("hub help architectures --json", "What hub try runs, for a program."),
                .init("hub help --man > hub.1", "The manual page, for packaging."),
            ],
            run: { context, arguments in try run(arguments.operand, isManual: arguments[man], table(), context) })
    }

    /// What can be explained. The table cannot be asked for its names while it is being made.
    private static let names = [
        "search", "info", "pull", "ls", "outdated", "path", "rm", "why", "adopt", "link", "budget", "mv", "gc",
        "verify",
        "warm", "lock", "export", "import", "inventory", "diff", "try", "chat", "chats", "embed", "transcribe",
        "image",
        "sync", "registry", "doctor", "serve", "auth", "pin", "unpin", "trash", "env",
        "completions", "help", "version",
        "flags", "exit-codes", "environment", "references", "providers", "architectures",
    ]

    /// - Parameter name: a command or a topic; nil for the overview.
    private static func run(_ name: String?, isManual: Bool, _ table: [Command], _ context: Context) throws {
        if isManual {
            let page = ManPage.text(table)
            context.output.document(["name": "hub.1", "text": .string(page)])
            return context.output.stream(page)
        }
        guard let name else { return show(nil, of: table, isLong: true, context) }
        if let command = table.first(where: { $0.name == name }) {
            return show(command, of: table, isLong: true, context)
        }
        if let topic = HelpTopic.all.first(where: { $0.name == name }) {
            return show(
                HelpText.topic(topic, width: width(context)), topic.json ?? ["topic": .string(name)], context)
        }
        let near = OtherTools.command(meantBy: name) ?? NearestName.of(name, among: names)
        throw AIError(
            .invalidInput, "no help on \"\(name.printable)\"",
            advice: near.map { "did you mean: hub help \($0)" } ?? "hub --help lists the commands and topics")
    }

    /// What `hub` alone shows: a person wants to know which commands there are, a script must learn that one is missing.
    static func missingCommand(of table: [Command], _ context: Context) throws {
        let error = AIError(.invalidInput, "missing command", advice: "hub --help lists the commands")
        guard context.mode == .human, !context.output.settings.writesEvents else { throw error }
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

    /// Lines longer than 80 are hard to read, and where nothing is known 80 is what everyone has. Flags and their texts
    /// have no room beside each other below 60.
    private static func width(_ context: Context) -> Int { min(80, max(60, context.output.settings.width ?? 80)) }
}

extension Command {
    /// The table's entry for programs that build on it (`hub help COMMAND --json`).
    var json: JSONObject {
        [
            "name": .string(name), "usage": .string(usage), "doc": .string(doc), "detail": .string(detail),
            "flags": .array(visibleFlags.map { .object($0.json) }),
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
