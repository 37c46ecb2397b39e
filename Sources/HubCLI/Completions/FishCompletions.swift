/// The script for fish 3: one `complete` line for each thing.
enum FishCompletions {
    static func script(_ commands: [Command]) -> String {
        var lines = [
            "# fish completion for hub; made by: hub completions fish",
            "",
            "function __hub_models",
            "    \(completionModelsCommand)",
            "end",
            "",
            "complete -c hub -f",
        ]
        lines += GlobalFlags.all.map { flag($0, condition: nil) }
        for command in commands {
            lines.append(
                "complete -c hub -n __fish_use_subcommand -a \(command.name) -d \(ShellQuoting.fish(command.doc))")
        }
        for command in commands {
            let condition = "'__fish_seen_subcommand_from \(command.name)'"
            lines.append("")
            lines += command.visibleFlags.map { flag($0, condition: condition) }
            if let operand = operand(command, condition) { lines.append(operand) }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func flag(_ flag: Flag, condition: String?) -> String {
        var words = ["complete -c hub"]
        if let condition { words.append("-n \(condition)") }
        words.append("-l \(flag.name)")
        if let short = flag.short { words.append("-s \(short)") }
        switch flag.takesValue ? flag.value : nil {
        case nil: break
        // -x: a value, and no file names for it; -r with -F: a value that may be a file.
        case .text, .number, .size, .age, .address: words.append("-x")
        case .file: words.append("-r -F")
        case .folder: words.append("-x -a '(__fish_complete_directories)'")
        case .model: words.append("-x -a '(__hub_models)'")
        case .choice(let names): words.append("-x -a '\(names.joined(separator: " "))'")
        }
        words.append("-d \(ShellQuoting.fish(flag.doc))")
        return words.joined(separator: " ")
    }

    private static func operand(_ command: Command, _ condition: String) -> String? {
        guard let kind = command.operands.first?.kind else { return nil }
        let values: String
        switch kind {
        case .text: return nil
        case .model: values = "'(__hub_models)'"
        case .modelOrFolder: values = "'(__hub_models; __fish_complete_directories)'"
        case .folder: values = "'(__fish_complete_directories)'"
        case .choice(let names): values = "'\(names.joined(separator: " "))'"
        }
        return "complete -c hub -n \(condition) -a \(values)"
    }
}
