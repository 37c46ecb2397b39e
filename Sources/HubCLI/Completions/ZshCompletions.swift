/// The script for zsh's completion system (zshcompsys(1)), as an autoloaded `_hub` or sourced after compinit.
enum ZshCompletions {
    static func script(_ commands: [Command]) -> String {
        let described = commands.map { "        \(ShellQuoting.posix("\($0.name):\(escape($0.doc))"))" }
        return """
            #compdef hub
            # zsh completion for hub; made by: hub completions zsh

            _hub_models() {
                local -a models
                models=(${(f)"$(\(completionModelsCommand))"})
                compadd -a models
            }

            _hub_models_or_folders() {
                _alternative 'models:model:_hub_models' 'folders:folder:_directories'
            }

            _hub_commands() {
                local -a commands
                commands=(
            \(described.joined(separator: "\n"))
                )
                _describe -t commands command commands
            }

            _hub() {
                local curcontext="$curcontext" state line
                typeset -A opt_args
                local -a global
                global=(
            \(GlobalFlags.all.flatMap(specifications).map { "        \($0)" }.joined(separator: "\n"))
                )
                _arguments -C -S $global '1: :_hub_commands' '*:: :->command'
                [[ $state == command ]] || return
                curcontext="${curcontext%:*:*}:hub-$words[1]:"
                case $words[1] in
            \(commands.map(entry).joined(separator: "\n"))
                esac
            }

            if [[ $funcstack[1] == _hub ]]; then
                _hub "$@"
            else
                compdef _hub hub
            fi

            """
    }

    private static func entry(_ command: Command) -> String {
        let lines =
            command.visibleFlags.flatMap(specifications) + command.operands.enumerated().map { operand($1, $0) }
        let all = (["_arguments -S $global"] + lines).joined(separator: " \\\n                ")
        return "        \(command.name))\n            \(all) ;;"
    }

    /// `'(-q --quiet)-q[doc]'`, and the same for `--quiet`.
    private static func specifications(_ flag: Flag) -> [String] {
        let spellings = [flag].spellings
        let start = flag.repeats ? "*" : "(\(spellings.joined(separator: " ")))"
        var action = ""
        if flag.takesValue, let value = flag.value {
            let name = flag.metavariable.map { $0.contains("|") ? flag.name : $0 } ?? flag.name
            action = ":\(escape(name)):\(self.action(value))"
        }
        return spellings.map { spelling in
            // "=" lets the value follow in the same word or the next; letters take it in the next.
            let joined = flag.takesValue && spelling.hasPrefix("--") ? "=" : ""
            return ShellQuoting.posix("\(start)\(spelling)\(joined)[\(escape(flag.doc))]\(action)")
        }
    }

    private static func operand(_ operand: Operand, _ index: Int) -> String {
        let isMany = operand.count == .some || operand.count == .any
        let place = isMany ? "*" : operand.count == .optional ? "\(index + 1):" : "\(index + 1)"
        let action =
            switch operand.kind {
            case .text: " "
            case .model: "_hub_models"
            case .modelOrFolder: "_hub_models_or_folders"
            case .folder: "_directories"
            case .choice(let names): "(\(names.joined(separator: " ")))"
            }
        return ShellQuoting.posix("\(place):\(escape(operand.name)):\(action)")
    }

    private static func action(_ value: Flag.Value) -> String {
        switch value {
        case .text, .number, .size, .age, .address: " "
        case .file: "_files"
        case .folder: "_directories"
        case .model: "_hub_models"
        case .choice(let names): "(\(names.joined(separator: " ")))"
        }
    }

    /// Colons and brackets mean something inside a specification.
    private static func escape(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing(":", with: "\\:").replacing("[", with: "\\[")
            .replacing("]", with: "\\]")
    }
}
