import HubCore

/// `hub completions`
enum CompletionsCommand {
    enum Shell: String, Sendable, CaseIterable { case bash, zsh, fish }

    static let command = Command(
        name: "completions", doc: "print a shell's completion script",
        detail: """
            SHELL is bash, zsh or fish. The script completes commands, flags and their values; models by alias, from the \
            catalog (the most popular first) and from the cache; branches after @ and files after : of a model whose files \
            are known. It asks hub at each tab and uses no network: it knows what hub sync, search and info have seen.
            """,
        operands: [Operand("SHELL", .one, .choice(Shell.allCases.map(\.rawValue)))],
        examples: [
            .init("source <(hub completions bash)", "For bash, in ~/.bashrc."),
            .init("hub completions zsh > \"${fpath[1]}/_hub\"", "For zsh, once."),
            .init("hub completions fish > ~/.config/fish/completions/hub.fish", "For fish, once."),
        ],
        run: { try await run($0, Request($1)) })

    /// The shell to print a script for.
    struct Request {
        var shell: Shell

        init(_ arguments: ParsedArguments) throws(AIError) {
            let name = arguments.operand ?? ""
            guard let shell = Shell(rawValue: name) else {
                throw .unknown("shell", name, Shell.allCases.map(\.rawValue), of: "hub completions")
            }
            self.shell = shell
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let script = script(request.shell)
        context.output.document(["shell": .string(request.shell.rawValue), "script": .string(script)])
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
