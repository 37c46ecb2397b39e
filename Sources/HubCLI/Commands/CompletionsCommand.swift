import HubCore

/// `hub completions`
enum CompletionsCommand {
    enum Shell: String, Sendable, CaseIterable { case bash, zsh, fish }

    static let command = Command(
        name: "completions", isMinor: true, doc: "print a shell's completion script",
        detail: """
            The script completes commands, flags and their values; models by alias, from the catalog (the most popular \
            first) and from the cache; branches after @ and files after : of a model whose files are known. It asks hub at \
            each tab and uses no network: what hub sync, search and info have seen is offered.
            """,
        operands: [Operand("SHELL", .one, .choice(Shell.allCases.map(\.rawValue)))],
        examples: [
            .init("source <(hub completions bash)", "For bash, in ~/.bashrc."),
            .init("hub completions zsh > \"${fpath[1]}/_hub\"", "For zsh, once."),
            .init("hub completions fish > ~/.config/fish/completions/hub.fish", "For fish, once."),
        ],
        run: run)

    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        let name = arguments.operand ?? ""
        guard let shell = Shell(rawValue: name) else {
            throw AIError(
                .invalidInput, "no completions for \"\(name.printable)\"",
                advice: "usage: hub completions bash|zsh|fish")
        }
        let script = script(shell)
        context.output.document(["shell": .string(name), "script": .string(script)])
        context.output.stream(script)
    }

    static func script(_ shell: Shell) -> String {
        switch shell {
        case .bash: CompletionScripts.bash
        case .zsh: CompletionScripts.zsh
        case .fish: CompletionScripts.fish
        }
    }
}
