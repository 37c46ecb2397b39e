import HubCore

/// `hub completions`
enum CompletionsCommand {
    enum Shell: String, Sendable, CaseIterable { case bash, zsh, fish }

    static let command = Command(
        name: "completions", isMinor: true, doc: "print the completion script of a shell",
        detail: """
            The script completes commands, flags, their values, files, and the ids of the models that are cached.
            """,
        operands: [Operand("SHELL", .one, .choice(Shell.allCases.map(\.rawValue)))],
        examples: [
            .init("source <(hub completions bash)", "In ~/.bashrc."),
            .init("hub completions zsh > \"${fpath[1]}/_hub\"", "Once, for zsh."),
            .init("hub completions fish > ~/.config/fish/completions/hub.fish", "Once, for fish."),
        ],
        run: run)

    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        let name = arguments.operand ?? ""
        guard let shell = Shell(rawValue: name) else {
            throw AIError(
                .invalidInput, "there are no completions for \"\(name)\"",
                advice: "usage: hub completions bash|zsh|fish")
        }
        let script = script(shell, CommandTable.all)
        context.output.document(["shell": .string(name), "script": .string(script)])
        context.output.stream(script)
    }

    static func script(_ shell: Shell, _ commands: [Command]) -> String {
        switch shell {
        case .bash: BashCompletions.script(commands)
        case .zsh: ZshCompletions.script(commands)
        case .fish: FishCompletions.script(commands)
        }
    }
}
