import HubCore

/// Reads a command line by the table.
///
/// The rules are those of GNU's getopt_long without abbreviations: `--flag=value` and `--flag value`, `-q`, `-vq`,
/// `-n5`; flags and other words in any order; `--` ends the flags. The word after a flag that takes a value is its
/// value even if it starts with a dash (`--temperature -1`), unless it is a flag of this very command: then the value
/// was forgotten. To mean such a text, join it: `--stop=--json`.
struct ArgumentParser {
    /// What a command line comes to.
    struct Outcome {
        /// The command named, if one was.
        var command: Command?
        var arguments = ParsedArguments()
        /// The first fault; `--help`, `--version` and `--json` are known all the same.
        var fault: AIError?
    }

    private let commands: [Command]
    private var outcome = Outcome()
    private var rest: ArraySlice<String>

    /// Reads the words after the program's name.
    static func parse(_ words: [String], commands: [Command] = CommandTable.all) -> Outcome {
        var parser = ArgumentParser(commands: commands, rest: words[...])
        parser.parse()
        return parser.outcome
    }

    private init(commands: [Command], rest: ArraySlice<String>) {
        self.commands = commands
        self.rest = rest
    }

    private mutating func parse() {
        // Faults are kept and reading goes on, for a --help or --json further on counts all the same.
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
            let near = NearestName.of(word, among: commands.map(\.name))
            throw AIError(
                .invalidInput, "there is no command \"\(word)\"",
                advice: near.map { "did you mean hub \($0)?" } ?? "hub --help lists the commands")
        }
        outcome.command = command
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
        let place = outcome.command.map { "hub \($0.name)" } ?? "hub"
        // Before the command is named only the flags of all commands count, and that is easily forgotten.
        let owners = commands.filter { command in command.visibleFlags.contains { "--\($0.name)" == spelled } }
        if outcome.command == nil, !owners.isEmpty {
            let names = owners.map(\.name).joined(separator: ", ")
            return AIError(
                .invalidInput, "\(spelled) belongs to a command",
                advice: "write it after the command's name: \(names)")
        }
        let near =
            spelled.hasPrefix("--")
            ? NearestName.of(String(spelled.dropFirst(2)), among: known().filter { !$0.isHidden }.map(\.name)) : nil
        return AIError(
            .invalidInput, "\(place) has no flag \(spelled)",
            advice: near.map { "did you mean --\($0)?" } ?? "\(place) --help lists them; a word after -- is no flag"
        )
    }

    private func checkWhole() throws(AIError) {
        guard let command = outcome.command else { return }
        for group in command.exclusive {
            let given = group.filter(outcome.arguments.has)
            if given.count > 1 {
                throw AIError(.invalidInput, "--\(given[0]) and --\(given[1]) exclude each other")
            }
        }
        let count = outcome.arguments.operands.count
        let required = command.operands.filter { $0.count == .one || $0.count == .some }.count
        // --help and --version need nothing else to be right.
        if count < required, !outcome.arguments[GlobalFlags.help], !outcome.arguments[GlobalFlags.version] {
            throw AIError(
                .invalidInput, "hub \(command.name) needs \(command.operands[count].name)",
                advice: "usage: \(command.usage)")
        }
        let unbounded = command.operands.contains { $0.count == .some || $0.count == .any }
        if !unbounded, count > command.operands.count {
            if let refusal = command.refusalOfMore { throw refusal }
            let extra = outcome.arguments.operands[command.operands.count]
            throw AIError(
                .invalidInput, "hub \(command.name) does not know what to do with \"\(extra)\"",
                advice: "usage: \(command.usage)")
        }
    }
}
