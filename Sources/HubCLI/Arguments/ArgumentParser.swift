import HubCore

/// Reads a command line by the table.
///
/// The rules are those of GNU's getopt_long without abbreviations: `--flag=value` and `--flag value`, `-q`, `-vq`,
/// `-n5`; flags and other words in any order; `--` ends the flags. The word after a flag that takes a value is its
/// value even if it starts with a dash (`--temperature -1`), unless it is a flag of this command: then the value is
/// missing. To pass such a text, join it: `--stop=--json`.
struct ArgumentParser {
    /// What a command line comes to.
    struct Outcome {
        /// The command named, if one was.
        var command: Command?
        var arguments = ParsedArguments()
        /// Whether a command was named that does not exist: then `--help` has nothing to explain.
        var isCommandUnknown = false
        /// The first fault; `--help`, `--version` and `--json` are known all the same.
        var fault: AIError?
    }

    /// The commands that there are, the hidden ones too.
    private let commands: [Command]
    private var outcome = Outcome()
    private var rest: ArraySlice<String>

    /// Reads the words after the program's name.
    static func parse(_ words: [String], commands: [Command]) -> Outcome {
        var parser = ArgumentParser(commands: commands, rest: words[...])
        parser.parse()
        return parser.outcome
    }

    private init(commands: [Command], rest: ArraySlice<String>) {
        self.commands = commands
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
        guard outcome.fault == nil else { return }
        do throws(AIError) { try checkWhole() } catch { outcome.fault = error }
    }

    private mutating func take(operand word: String) throws(AIError) {
        guard outcome.command == nil else {
            outcome.arguments.operands.append(word)
            return
        }
        // After an unknown command nothing that follows can be judged.
        guard outcome.fault == nil else { return }
        guard let command = commands.first(where: { $0.name == word }) else {
            outcome.isCommandUnknown = true
            throw unknownCommand(word)
        }
        outcome.command = command
    }

    private func unknownCommand(_ word: String) -> AIError {
        let next = rest.first { !$0.hasPrefix("-") }
        let near = NearestName.of(word, among: commands.filter { !$0.isHidden }.map(\.name))
        return AIError(
            .invalidInput, "unknown command \"\(word.printable)\"",
            advice: OtherTools.advice(on: word, next: next) ?? near.map { "did you mean: hub \($0)" }
                ?? OtherTools.advice(near: word)
                ?? "hub --help lists the commands")
    }

    private mutating func take(long text: Substring) throws(AIError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let flag = known().first(where: { $0.name == name }) else { throw unknown("--\(name)") }
        try take(flag, spelled: "--\(name)", joined: parts.count > 1 ? String(parts[1]) : nil)
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
        guard flag.takesValue else {
            guard let joined else { return outcome.arguments.add(flag) }
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

    private func known() -> [Flag] { (outcome.command?.flags ?? []) + GlobalFlags.all }

    private func unknown(_ spelled: String) -> AIError {
        // Before the command is named only the flags of all commands count, and that is easily forgotten.
        let owners = commands.filter { command in command.visibleFlags.contains { "--\($0.name)" == spelled } }
        if outcome.command == nil, !owners.isEmpty {
            let names = owners.map(\.name).joined(separator: ", ")
            return AIError(
                .invalidInput, "\(spelled) must come after the name of a command", advice: "these take it: \(names)"
            )
        }
        let name = String(spelled.drop { $0 == "-" })
        let names = known().filter { !$0.isHidden }.map(\.name)
        let meant = OtherTools.flag(meantBy: name).flatMap { names.contains($0) ? $0 : nil }
        let near = spelled.hasPrefix("--") ? meant ?? NearestName.of(name, among: names) : nil
        let place = outcome.command.map { "hub \($0.name)" } ?? "hub"
        return AIError(
            .invalidInput, "unknown flag \(spelled.printable)",
            advice: near.map { "did you mean: --\($0)" }
                ?? "\(place) --help lists the flags; put -- before a value that starts with -")
    }

    private func checkWhole() throws(AIError) {
        guard let command = outcome.command else { return }
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
}
