import HubCore

/// Reads a command line by the table.
///
/// The rules are those of GNU's getopt_long without abbreviations: `--flag=value` and `--flag value`, `-q`, `-vq`,
/// `-n5`; flags and other words in any order; `--` ends the flags. The word after a flag that takes a value is its
/// value even if it starts with a dash (`--temperature -1`), unless it is a flag of this command: then the value is
/// missing. To pass such a text, join it: `--stop=--json`. A value that may be left out is joined, too: `--check=full`.
/// The word after such a flag is a word of its own, except where it can hardly be anything but the value
/// (`--check full`); then a note says so.
struct ArgumentParser {
    /// What a command line comes to.
    struct Outcome {
        /// The command named, if one was.
        var command: Command?
        var arguments = ParsedArguments()
        /// Whether a command was named that does not exist: then `--help` has nothing to explain.
        var isCommandUnknown = false
        /// What was spelled as it was before, and how it is spelled now: a sentence each.
        var notes: [String] = []
        /// The first fault; `--help`, `--version` and `--json` are known all the same.
        var fault: AIError?
    }

    /// The commands that there are, the hidden ones too.
    private let commands: [Command]
    /// Whether a word names a kept conversation.
    private let isConversation: (String) -> Bool
    private var outcome = Outcome()
    private var rest: ArraySlice<String>
    /// What is said of a word behind a command that had no subcommands before, unless a former flag chooses another.
    private var unnamedNote: String?

    /// Reads the words after the program's name.
    ///
    /// - Parameter isConversation: whether a word names a kept conversation.
    static func parse(
        _ words: [String], commands: [Command], isConversation: @escaping (String) -> Bool = { _ in false }
    ) -> Outcome {
        var parser = ArgumentParser(commands: commands, isConversation: isConversation, rest: words[...])
        parser.parse()
        return parser.outcome
    }

    private init(
        commands: [Command], isConversation: @escaping (String) -> Bool, rest: ArraySlice<String>
    ) {
        self.commands = commands
        self.isConversation = isConversation
        self.rest = rest
    }

    private mutating func parse() {
        // The first fault is kept and reading continues, for a --help or --json further on counts all the same.
        while let word = rest.popFirst() {
            do throws(AIError) {
                if word == "--" {
                    for operand in rest { try take(operand: operand) }
                    break
                } else if word.hasPrefix("--") {
                    try take(long: word.dropFirst(2))
                } else if word.hasPrefix("-"), word != "-" {
                    try take(shorts: word.dropFirst())
                } else {
                    try take(operand: word)
                }
            } catch {
                outcome.fault = outcome.fault ?? error
            }
        }
        if let unnamedNote { outcome.notes.append(unnamedNote) }
        guard outcome.fault == nil else { return }
        do throws(AIError) { try checkWhole() } catch { outcome.fault = error }
    }

    private mutating func take(operand word: String) throws(AIError) {
        if let command = outcome.command {
            guard command.subcommands.isEmpty else { return try choose(word, of: command) }
            outcome.arguments.operands.append(word)
            return
        }
        // After an unknown command nothing that follows can be judged.
        guard outcome.fault == nil else { return }
        guard let command = commands.first(where: { $0.name == word }) ?? former(word) else {
            outcome.isCommandUnknown = true
            throw unknownCommand(word)
        }
        outcome.command = command
    }

    /// The command whose former name this is.
    private mutating func former(_ name: String) -> Command? {
        guard let words = FormerNames.commands[name] else { return nil }
        let parent = commands.first { $0.name == words.first }
        guard let command = parent?.subcommands.first(where: { $0.word == words.last }) else { return nil }
        outcome.notes.append("hub \(name) is hub \(command.name) now")
        return command
    }

    /// The first word behind a command with subcommands: one of them, or an operand of the usual one.
    private mutating func choose(_ word: String, of parent: Command) throws(AIError) {
        let meant = FormerNames.words[parent.name]?[word]
        if let command = parent.subcommands.first(where: { $0.word == word || $0.word == meant }) {
            if let meant { outcome.notes.append("hub \(parent.name) \(word) is hub \(parent.name) \(meant) now") }
            outcome.command = command
        } else if let usual = parent.usual, !usual.operands.isEmpty {
            outcome.command = usual
            outcome.arguments.operands.append(word)
        } else if let unnamed = FormerNames.unnamed[parent.name],
            NearestName.of(word, among: parent.subcommands.map(\.word)) == nil
        {
            unnamedNote =
                "hub \(parent.name) \(word.printable) is hub \(parent.name) \(unnamed) \(word.printable) now"
            outcome.command = parent.subcommands.first { $0.word == unnamed }
            outcome.arguments.operands.append(word)
        } else {
            throw parent.unknown(word)
        }
    }

    private func unknownCommand(_ word: String) -> AIError {
        let next = rest.first { !$0.hasPrefix("-") }
        let shown = commands.filter { !$0.isHidden }
        let near =
            NearestName.of(word, among: shown.map(\.name) + Array(FormerNames.commands.keys))
            .map { FormerNames.commands[$0]?.joined(separator: " ") ?? $0 }
        return AIError(
            .invalidInput, "unknown command \"\(word.printable)\"",
            advice: OtherTools.advice(on: word, next: next) ?? near.map { "did you mean: hub \($0)" }
                ?? OtherTools.advice(near: word)
                ?? "hub --help lists the commands")
    }

    private mutating func take(long text: Substring) throws(AIError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let flag = known().first(where: { $0.name == name }) else {
            if parts.count == 1, try takeFormer(name) { return }
            guard let flag = renamed(name) else { throw unknown("--\(name)") }
            outcome.notes.append("--\(name) is --\(flag.name) now")
            return try take(flag, spelled: "--\(name)", joined: parts.count > 1 ? String(parts[1]) : nil)
        }
        try take(flag, spelled: "--\(name)", joined: parts.count > 1 ? String(parts[1]) : nil)
    }

    /// Takes the former flag that a word stands for now.
    private mutating func takeFormer(_ name: String) throws(AIError) -> Bool {
        guard let command = outcome.command,
            case .word(let word)? = FormerNames.successor(of: name, in: command.name)
        else { return false }
        let parent = command.subcommands.isEmpty ? parent(of: command) : command
        if command.operands.contains(where: { $0.kind.takes(word) }) {
            outcome.arguments.operands.append(word)
        } else if let parent, let sibling = parent.subcommands.first(where: { $0.word == word }) {
            let isOpen =
                command.name == parent.name || command.isUsual || FormerNames.flags[command.name] != nil
                || command.word == FormerNames.unnamed[parent.name]
            guard isOpen || command.name == sibling.name else {
                throw AIError(
                    .invalidInput, "hub \(command.name) and hub \(sibling.name) cannot be used together")
            }
            outcome.command = sibling
            unnamedNote = nil
        } else {
            return false
        }
        let place = outcome.command?.name == command.name ? command.name : parent?.name ?? command.name
        outcome.notes.append("--\(name) is a word now: hub \(place) \(word)")
        return true
    }

    private func parent(of command: Command) -> Command? {
        commands.first { $0.subcommands.contains { $0.name == command.name } }
    }

    /// The flag that was called so before.
    private func renamed(_ name: String) -> Flag? {
        guard let command = outcome.command,
            case .flag(let now)? = FormerNames.successor(of: name, in: command.name)
        else { return nil }
        return known().first { $0.name == now }
    }

    private mutating func take(shorts text: Substring) throws(AIError) {
        var letters = text
        while let letter = letters.popFirst() {
            guard let flag = known().first(where: { $0.short == letter }) else { throw unknown("-\(letter)") }
            let spelled = "-\(letter)"
            if flag.takesValue {
                // -n5 and -n=5 and -n 5
                let joined = letters.first == "=" ? letters.dropFirst() : letters
                return try take(flag, spelled: spelled, joined: letters.isEmpty ? nil : String(joined))
            }
            if letters.first == "=" { throw AIError(.invalidInput, "\(spelled) takes no value") }
            try take(flag, spelled: spelled, joined: nil)
        }
    }

    private mutating func take(_ flag: Flag, spelled: String, joined: String?) throws(AIError) {
        if let successor = flag.successor { outcome.notes.append("\(spelled) is \(successor) now") }
        guard flag.takesValue else {
            guard let joined = joined ?? likelyValue(of: flag, spelled: spelled) else {
                return outcome.arguments.add(flag)
            }
            if flag.isValueOptional { return try take(joined, of: flag, spelled: spelled) }
            guard !flag.refinements.isEmpty else { throw AIError(.invalidInput, "\(spelled) takes no value") }
            guard flag.refinements.contains(joined) else {
                throw AIError(
                    .invalidInput, "\(spelled) can be \(flag.usage), not \(spelled)=\(joined.printable)")
            }
            return outcome.arguments.add(flag, joined)
        }
        guard let text = joined ?? nextValue() else {
            let example = flag.metavariable.map { "write \(spelled) \($0)" }
            throw AIError(.invalidInput, "\(spelled) needs a value", advice: example)
        }
        try take(text, of: flag, spelled: spelled)
    }

    private mutating func take(_ text: String, of flag: Flag, spelled: String) throws(AIError) {
        guard flag.repeats || !outcome.arguments.has(flag.name) else {
            throw AIError(.invalidInput, "\(spelled) was given twice")
        }
        do throws(AIError) {
            outcome.arguments.add(flag, try flag.read(text))
        } catch {
            throw AIError(error.code, "\(spelled): \(error.message)", advice: error.specificAdvice)
        }
    }

    /// The next word, where it is the value of a flag that works without one. That is never taken in silence.
    private mutating func likelyValue(of flag: Flag, spelled: String) -> String? {
        guard let next = rest.first else { return nil }
        let isValue =
            switch flag.value {
            case nil: flag.refinements.contains(next)
            case .conversation: isConversation(next)
            case .file: next.hasSuffix(".lock") && FileSystem.exists(next)
            default: false
            }
        guard isValue else { return nil }
        let word = next.printable
        outcome.notes.append(
            "\(spelled) \(word) is read as \(spelled)=\(word); a word of its own comes before the flag")
        return rest.popFirst()
    }

    private mutating func nextValue() -> String? {
        guard let next = rest.first, next != "--" else { return nil }
        if next.hasPrefix("--") {
            let name = next.dropFirst(2).prefix { $0 != "=" }
            if known().contains(where: { $0.name == name }) { return nil }
        } else if next.count == 2, next.hasPrefix("-"), known().contains(where: { $0.short == next.last }) {
            return nil
        }
        return rest.popFirst()
    }

    /// The flags that may come here: before a subcommand is named, those of each.
    private func known() -> [Flag] { (outcome.command?.leaves.flatMap(\.flags) ?? []) + GlobalFlags.all }

    private func unknown(_ spelled: String) -> AIError {
        // Before the command is named only the flags of all commands count, and that is easily forgotten.
        let owners = commands.flatMap(\.leaves).filter { command in
            command.visibleFlags.contains { "--\($0.name)" == spelled }
        }
        let command = outcome.command
        if command == nil, !owners.isEmpty {
            return AIError(
                .invalidInput, "\(spelled) must come after the name of a command",
                advice: "these take it: \(owners.map(\.name).joined(separator: ", "))")
        }
        let siblings = command.flatMap(parent)?.subcommands.map(\.name) ?? []
        let near = owners.map(\.name).filter(siblings.contains)
        if let command, !near.isEmpty { return command.foreign(spelled, of: near) }
        let name = String(spelled.drop { $0 == "-" })
        let names = known().filter { !$0.isHidden }.map(\.name)
        let meant = OtherTools.flag(meantBy: name).flatMap { names.contains($0) ? $0 : nil }
        let nearest = spelled.hasPrefix("--") ? meant ?? NearestName.of(name, among: names) : nil
        let page =
            command.map { $0.leaves.allSatisfy { $0.visibleFlags.isEmpty } ? nil : "hub \($0.name)" } ?? "hub"
        let list =
            command == nil
            ? "hub help flags lists the flags"
            : page.map { "\($0) --help lists the flags" } ?? "it has no flags of its own"
        return AIError(
            .invalidInput, "unknown flag \(spelled.printable)",
            advice: OtherTools.advice(onFlag: name) ?? quantization(name, command)
                ?? nearest.map { "did you mean: --\($0)" } ?? "\(list); put -- before a value that starts with -"
        )
    }

    /// What stands for `--quant` where a command has no such flag but takes a model.
    private func quantization(_ name: String, _ command: Command?) -> String? {
        guard ["quant", "quantization"].contains(name), let command,
            command.operands.contains(where: \.kind.isModel)
        else { return nil }
        return "the quantization stands behind the name: org/name:Q4_K_M"
    }

    private mutating func checkWhole() throws(AIError) {
        // --help explains the command that was named, not the one that is meant without a word.
        if let parent = outcome.command, !parent.subcommands.isEmpty, !outcome.arguments[GlobalFlags.help] {
            guard let usual = parent.usual else {
                throw AIError(
                    .invalidInput, "hub \(parent.name) needs a subcommand",
                    advice: "it takes \(parent.subcommands.map(\.word).joined(separator: ", "))")
            }
            outcome.command = usual
        }
        guard let command = outcome.command, command.subcommands.isEmpty else { return }
        try checkOwnership(command)
        for group in command.exclusive {
            let given = group.filter(outcome.arguments.has)
            if given.count > 1 {
                throw AIError(.invalidInput, "--\(given[0]) and --\(given[1]) cannot be used together")
            }
        }
        if GlobalOptions(outcome.arguments).printsLines, command.listKey == nil {
            throw AIError(
                .invalidInput, "hub \(command.name) prints one object, not a list",
                advice: "use --json without =lines")
        }
        let count = outcome.arguments.operands.count
        let required = command.operands.filter { $0.count == .one || $0.count == .some }.count
        // --help and --version need nothing else to be right.
        if count < required, !outcome.arguments[GlobalFlags.help], !outcome.arguments[GlobalFlags.version] {
            throw AIError(
                .invalidInput, "missing \(command.operands[count].name)", advice: "usage: \(command.usage)")
        }
        let unbounded = command.operands.contains { $0.count == .some || $0.count == .any }
        if !unbounded, count > command.operands.count {
            if let refusal = command.refusalOfMore { throw refusal }
            let extra = outcome.arguments.operands[command.operands.count]
            throw AIError(
                .invalidInput, "unexpected argument \"\(extra.printable)\"", advice: "usage: \(command.usage)")
        }
    }

    /// The flags that came before the subcommand's word are its own.
    private func checkOwnership(_ command: Command) throws(AIError) {
        guard let parent = parent(of: command) else { return }
        for flag in parent.subcommands.flatMap(\.flags)
        where outcome.arguments.has(flag.name) && command.flag(named: flag.name) == nil {
            let owners = parent.subcommands.filter { $0.flag(named: flag.name) != nil }
            throw command.foreign("--\(flag.name)", of: owners.map(\.name))
        }
    }
}

extension Command {
    /// A flag that belongs to others of its family.
    fileprivate func foreign(_ spelled: String, of owners: [String]) -> AIError {
        AIError(
            .invalidInput, "\(spelled) is not a flag of hub \(name)",
            advice: "hub \(Command.names(owners)) \(owners.count == 1 ? "takes" : "take") it")
    }

    /// A word that is none of its subcommands. Where it may be a secret it is not repeated.
    fileprivate func unknown(_ word: String) -> AIError {
        let words = subcommands.map(\.word)
        let choice = "it takes \(words.joined(separator: ", "))"
        return AIError(
            .invalidInput,
            refusalOfMore == nil
                ? "hub \(name) does not know \"\(word.printable)\"" : "hub \(name) has no such subcommand",
            advice: OtherTools.advice(onPair: "\(name) \(word)")
                ?? NearestName.of(word, among: words).map { "did you mean: hub \(name) \($0)" }
                ?? refusalOfMore?.specificAdvice.map { "\(choice)\n\($0)" } ?? choice)
    }
}
