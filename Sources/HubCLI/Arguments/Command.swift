import HubCore

/// One command of the table: what help, the man page, completions and the parser know of it, and what it does.
struct Command: Sendable {
    /// What happens to the work when the reader of stdout goes away (`hub ls | head -1`).
    enum Purpose: Sendable {
        /// The output is the purpose: without a reader the work ends, quietly and with status 0.
        case answers
        /// Something on this machine is to change: the work is finished and its own status counts.
        case changes
    }

    /// What people want when they look for a command.
    enum Group: String, Sendable, CaseIterable {
        case find = "Find models"
        case get = "Get them"
        case keep = "Keep and free"
        case use = "Use models"
        case machine = "Serve and set up"
    }

    /// A line to type and what it does.
    struct Example: Sendable {
        var line: String
        var doc: String
        init(_ line: String, _ doc: String) {
            self.line = line
            self.doc = doc
        }
    }

    /// Flags that another command's page explains.
    struct Borrowed: Sendable {
        var flags: [Flag]
        /// The command that has them.
        var from: String
        /// What they are for here: "for ...".
        var purpose: String
    }

    /// What is typed behind `hub`: `pull`, `trash restore`.
    var name: String
    /// Where the overview shows it; only commands without a space in their names are shown there.
    var group = Group.machine
    /// Whether it is meant where its parent's name stands alone.
    var isUsual = false
    /// It works, but neither help nor completions mention it: other programs call it.
    var isHidden = false
    var purpose = Purpose.answers
    /// One line, starting with a verb, lower case, without a full stop.
    var doc: String
    /// Paragraphs for the long form, separated by empty lines.
    var detail = ""
    var operands: [Operand] = []
    var flags: [Flag] = []
    /// Those of its flags that it does not explain itself; nil without any.
    var borrowed: Borrowed?
    /// The commands that a further word chooses: `hub trash restore`. They have the operands and flags, and they run.
    var subcommands: [Command] = []
    /// Sets of flag names of which at most one may be given.
    var exclusive: [[String]] = []
    /// What is said to a word too many where it may be a secret: others name the word.
    var refusalOfMore: AIError?
    /// The list in the document of `--json` whose entries `--json=lines` prints; nil without one.
    var listKey: String?
    /// What follows the name in a line of usage, where the operands and flags do not say it.
    var synopsis: String?
    var examples: [Example] = []
    /// What the command does. Throwing decides the exit status.
    var run: @Sendable (Context, ParsedArguments) async throws -> Void

    /// `hub search [FLAGS] [QUERY]`, `hub trash [ls|restore|empty] ...`.
    var usage: String {
        guard subcommands.isEmpty else {
            let words = subcommands.map(\.word).joined(separator: "|")
            return "hub \(name) \(usual == nil ? words : "[\(words)]") ..."
        }
        if let synopsis { return "hub \(name) \(synopsis)" }
        return (["hub", name] + (visibleFlags.isEmpty ? [] : ["[FLAGS]"]) + operands.map(\.usage))
            .joined(separator: " ")
    }

    /// The last word of its name: `restore` of `hub trash restore`.
    var word: String { name.split(separator: " ").last.map(String.init) ?? name }

    /// The subcommand that is meant where none is named; nil if one must be.
    var usual: Command? { subcommands.first(where: \.isUsual) }

    /// The commands that run: itself, or its subcommands.
    var leaves: [Command] { subcommands.isEmpty ? [self] : subcommands }

    /// The flags that help and completions show.
    var visibleFlags: [Flag] { flags.filter { !$0.isHidden } }

    /// Whether it takes the settings of generation, which a topic of help explains.
    var generates: Bool { flags.contains { $0.name == GenerationFlags.temperature.flag.name } }

    /// The flags that its own page explains.
    var ownFlags: [Flag] {
        let shared = Set((generates ? GenerationFlags.all : borrowed?.flags ?? []).map(\.name))
        return visibleFlags.filter { !shared.contains($0.name) }
    }

    /// The own flags of what runs; those of subcommands that take the same stand together: `serve mirror, api and all`.
    var flagGroups: [(names: String, flags: [Flag])] {
        var groups: [(leaves: [Command], flags: [Flag])] = []
        for leaf in leaves where !leaf.ownFlags.isEmpty {
            if let index = groups.firstIndex(where: { $0.leaves[0].hasFlags(of: leaf) }) {
                groups[index].leaves.append(leaf)
            } else {
                groups.append(([leaf], leaf.ownFlags))
            }
        }
        return groups.map { (Command.names($0.leaves.map(\.name)), $0.flags) }
    }

    /// Whether its own flags read as those of another.
    func hasFlags(of other: Command) -> Bool {
        func texts(_ command: Command) -> [[String?]] { command.ownFlags.map { [$0.usage, $0.doc, $0.detail] } }
        return texts(self) == texts(other)
    }

    /// Names of a family, which is said once: `serve mirror, api and all`.
    static func names(_ names: [String]) -> String {
        let family = names.first?.prefix { $0 != " " } ?? ""
        let rest = names.enumerated().map { index, name in
            index > 0 && name.hasPrefix("\(family) ") ? String(name.dropFirst(family.count + 1)) : name
        }
        guard let last = rest.last, rest.count > 1 else { return rest.joined() }
        return "\(rest.dropLast().joined(separator: ", ")) and \(last)"
    }

    /// The flag of this name among its own and those that every command takes.
    func flag(named name: String) -> Flag? { (flags + GlobalFlags.all).first { $0.name == name } }
    /// The flag of this letter.
    func flag(short: Character) -> Flag? { (flags + GlobalFlags.all).first { $0.short == short } }
}

extension Command {
    /// The words that name models, among the operands and the values of flags: every command that takes a reference
    /// takes an alias.
    func references(in arguments: ParsedArguments) -> [String] {
        let words = arguments.operands.enumerated().filter { index, _ in
            // What comes after the last operand belongs to it: it takes many.
            guard let operand = index < operands.count ? operands[index] : operands.last else { return false }
            return operand.kind.isModel
        }
        let values = flags.filter { $0.value == .model }.flatMap { arguments.texts(of: $0.name) }
        return words.map(\.element) + values
    }
}

extension Command {
    /// A command that a further word chooses.
    ///
    /// - Parameter subcommands: named by their words alone.
    static func family(
        _ name: String, doc: String, detail: String, _ subcommands: [Command], examples: [Example]
    ) -> Command {
        var command = Command(
            name: name, doc: doc, detail: detail, examples: examples,
            run: { _, _ in preconditionFailure("hub \(name) needs a word") })
        command.subcommands = subcommands.map { subcommand in
            var subcommand = subcommand
            subcommand.name = "\(name) \(subcommand.name)"
            if subcommand.detail.isEmpty { subcommand.detail = detail }
            if subcommand.examples.isEmpty { subcommand.examples = examples }
            return subcommand
        }
        return command
    }

    /// The same, where the overview shows it with others.
    func inGroup(_ group: Group) -> Command {
        var command = self
        command.group = group
        return command
    }

    /// The subcommand that is meant where none is named.
    var asUsual: Command {
        var command = self
        command.isUsual = true
        return command
    }
}
