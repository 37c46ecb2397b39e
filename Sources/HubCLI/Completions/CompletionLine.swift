/// A command line up to the cursor, as far as completing its last word needs it. Unlike ``ArgumentParser`` it takes no
/// offence at anything.
struct CompletionLine {
    /// What the last word may be.
    enum Place: Sendable {
        case command
        case flag
        /// The value of a flag; the candidates begin with `prefix`, such as `--sort=`.
        case value(Flag, prefix: String)
        case operand(Operand)
        /// A word that chooses a subcommand.
        case word(Command)
        case nothing
    }

    private(set) var command: Command?
    private(set) var operands: [String] = []
    private(set) var flags: Set<String> = []
    /// The value of `--cache-dir`.
    private(set) var cacheDirectory: String?
    /// The last word, or what of it belongs to the place.
    private(set) var current: String
    private(set) var place = Place.nothing
    private var isPastFlags = false
    private var pending: Flag?

    /// - Parameter words: those after the program's name, the last one perhaps empty.
    init(_ words: [String], commands: [Command]) {
        current = words.last ?? ""
        for word in words.dropLast() { take(word, commands) }
        place = findPlace()
    }

    /// The flags that may stand here.
    var knownFlags: [Flag] { (command?.leaves.flatMap(\.visibleFlags) ?? []) + GlobalFlags.all }

    private mutating func take(_ word: String, _ commands: [Command]) {
        if let flag = pending {
            if flag.name == GlobalFlags.cacheDir.flag.name { cacheDirectory = word }
            pending = nil
        } else if isPastFlags || !word.hasPrefix("-") || word == "-" {
            take(operand: word, commands)
        } else if word == "--" {
            isPastFlags = true
        } else {
            let name = word.drop { $0 == "-" }.prefix { $0 != "=" }
            let flag =
                word.hasPrefix("--")
                ? knownFlags.first { $0.name == name } : knownFlags.first { $0.short == word.last }
            if let flag { flags.insert(flag.name) }
            if let flag, flag.takesValue {
                pending = flag
                if let equals = word.firstIndex(of: "=") {
                    take(String(word[word.index(after: equals)...]), commands)
                }
            }
        }
    }

    private mutating func take(operand word: String, _ commands: [Command]) {
        guard let family = command else {
            command =
                commands.first { $0.name == word }
                ?? FormerNames.commands[word].flatMap { words in
                    commands.flatMap(\.subcommands).first { $0.name == words.joined(separator: " ") }
                }
            return
        }
        guard !family.subcommands.isEmpty else { return operands.append(word) }
        command = family.subcommands.first { $0.word == word }
        if command == nil {
            command = family.usual
            operands.append(word)
        }
    }

    private mutating func findPlace() -> Place {
        if let pending { return .value(pending, prefix: "") }
        if !isPastFlags, current.hasPrefix("-") {
            guard let equals = current.firstIndex(of: "="), current.hasPrefix("--") else { return .flag }
            let name = current[..<equals].dropFirst(2)
            guard let flag = knownFlags.first(where: { $0.name == name }) else { return .nothing }
            let prefix = String(current[...equals])
            current = String(current[current.index(after: equals)...])
            return .value(flag, prefix: prefix)
        }
        guard let command else { return operands.isEmpty ? .command : .nothing }
        if !command.subcommands.isEmpty { return .word(command) }
        let index = operands.count
        if index < command.operands.count { return .operand(command.operands[index]) }
        guard let last = command.operands.last, last.count == .any || last.count == .some else { return .nothing }
        return .operand(last)
    }
}
