/// The script for bash 3.2 (which macOS still has) and later; needs no bash-completion package.
enum BashCompletions {
    static func script(_ commands: [Command]) -> String {
        let global = GlobalFlags.all
        // Words that a value follows, so that the command's name can be found behind them.
        let valued = Set(
            (global + commands.flatMap(\.visibleFlags)).filter(\.takesValue).flatMap { [$0].spellings })
        return """
            # bash completion for hub; made by: hub completions bash

            # Not compgen -W, which would run what is in a name between $( and ); names that a shell would have to quote
            # are left out, for the line is run as it is completed.
            _hub_models() {
                local name
                while IFS= read -r name; do
                    [[ $name == "$1"* && $name != *[!A-Za-z0-9._/@-]* ]] && COMPREPLY+=("$name")
                done < <(\(completionModelsCommand))
            }

            # $1 is -d for folders or -f for files too; compopt (bash 4) has them quoted and a slash put behind folders.
            _hub_files() {
                local name
                compopt -o filenames 2>/dev/null
                while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen "$1" -- "$2")
            }

            _hub() {
                local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" command= skip= word i
                COMPREPLY=()
                # Bash takes --flag=value apart at the equals sign.
                if [[ $current == "=" ]]; then
                    current=
                elif [[ $before == "=" ]]; then
                    before="${COMP_WORDS[COMP_CWORD-2]}"
                fi
                for ((i = 1; i < COMP_CWORD; i++)); do
                    word="${COMP_WORDS[i]}"
                    if [[ -n $skip ]]; then
                        [[ $word == "=" ]] || skip=
                        continue
                    fi
                    case "$word" in
                        \(valued.sorted().joined(separator: "|"))) skip=1 ;;
                        -*|=) ;;
                        *) [[ -n $command ]] || command="$word" ;;
                    esac
                done

            \(values(nil, global))
                case "$command" in
            \(commands.map(values).joined(separator: "\n"))
                esac

                if [[ $current == -* ]]; then
                    local flags="\(global.spellings.joined(separator: " "))"
                    case "$command" in
            \(commands.filter { !$0.visibleFlags.isEmpty }.map(flags).joined(separator: "\n"))
                    esac
                    COMPREPLY=($(compgen -W "$flags" -- "$current"))
                    return
                fi

                case "$command" in
                    "") COMPREPLY=($(compgen -W "\(commands.map(\.name).joined(separator: " "))" -- "$current")) ;;
            \(commands.compactMap(operand).joined(separator: "\n"))
                esac
            }

            complete -F _hub hub

            """
    }

    /// The values of a command's flags, or of those that all commands take.
    private static func values(_ command: Command) -> String {
        values(command.name, command.visibleFlags)
    }

    private static func values(_ name: String?, _ flags: [Flag]) -> String {
        let cases = flags.filter(\.takesValue).map { flag in
            "            \([flag].spellings.joined(separator: "|"))) \(complete(flag.value!)) return ;;"
        }
        guard !cases.isEmpty else { return name.map { "        \($0)) ;;" } ?? "" }
        let inner = "        case \"$before\" in\n\(cases.joined(separator: "\n"))\n        esac"
        guard let name else { return inner }
        return "        \(name))\n\(inner)\n        ;;"
    }

    private static func flags(_ command: Command) -> String {
        "            \(command.name)) flags=\"$flags \(command.visibleFlags.spellings.joined(separator: " "))\" ;;"
    }

    private static func operand(_ command: Command) -> String? {
        guard let kind = command.operands.first?.kind else { return nil }
        let action: String
        switch kind {
        case .text: return nil
        case .model: action = "_hub_models \"$current\" ;;"
        case .modelOrFolder:
            // A word alone is a model, whatever folders lie around.
            action =
                "if [[ $current == [./~]* ]]; then _hub_files -d \"$current\"; else _hub_models \"$current\"; fi ;;"
        case .folder: action = "_hub_files -d \"$current\" ;;"
        case .choice(let names):
            action = "COMPREPLY=($(compgen -W \"\(names.joined(separator: " "))\" -- \"$current\")) ;;"
        }
        return "        \(command.name)) \(action)"
    }

    private static func complete(_ value: Flag.Value) -> String {
        switch value {
        case .text, .number, .size, .age, .address: ""
        case .file: "_hub_files -f \"$current\";"
        case .folder: "_hub_files -d \"$current\";"
        case .model: "_hub_models \"$current\";"
        case .choice(let names): "COMPREPLY=($(compgen -W \"\(names.joined(separator: " "))\" -- \"$current\"));"
        }
    }
}
