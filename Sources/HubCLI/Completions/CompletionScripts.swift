/// The completion scripts. They know nothing of commands and flags: each tab asks `hub __complete` (``CandidatesCommand``),
/// so that the answer is the same in every shell and fits the hub that is installed.
enum CompletionScripts {
    /// For bash 3.2 (which macOS still has) and later; needs no bash-completion package.
    static let bash = #"""
        # bash completion for hub; made by: hub completions bash

        # $1 is -d for folders or -f for files too; compopt (bash 4) has them quoted and a slash put behind folders.
        _hub_files() {
            local name
            compopt -o filenames 2>/dev/null
            while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen "$1" -- "$2")
        }

        # $2 is the word that bash completes: what follows the last : = or @ of the word that hub means.
        _hub() {
            local rest="${COMP_LINE:0:COMP_POINT}" words value doc behind i n=0
            words=()
            for ((i = 0; i < COMP_CWORD; i++)); do
                if ((n > 0)) && [[ $rest != [[:space:]]* ]]; then
                    words[n - 1]+="${COMP_WORDS[i]}"
                else
                    words[n]="${COMP_WORDS[i]}"
                    n=$((n + 1))
                fi
                rest="${rest#"${rest%%[![:space:]]*}"}"
                rest="${rest#"${COMP_WORDS[i]}"}"
            done
            if [[ $rest == [[:space:]]* ]]; then
                words[n]="${rest#"${rest%%[![:space:]]*}"}"
                n=$((n + 1))
            else
                words[n - 1]+="$rest"
            fi
            words[n - 1]="${words[n - 1]#[\'\"]}"
            behind="${words[n - 1]%"$2"}"
            COMPREPLY=()
            while IFS=$'\t' read -r value doc; do
                case "$value" in
                    :files) _hub_files -f "$2" ;;
                    :folders) _hub_files -d "$2" ;;
                    *)
                        [[ $value == *[=:@/] ]] && compopt -o nospace 2>/dev/null
                        COMPREPLY+=("${value:${#behind}}")
                        ;;
                esac
            done < <(hub __complete -- "${words[@]:1}" 2>/dev/null)
        }

        # Older ones sort what they show.
        complete -o nosort -F _hub hub 2>/dev/null || complete -F _hub hub

        """#

    /// For zsh's completion system (zshcompsys(1)), as an autoloaded `_hub` or sourced after compinit.
    static let zsh = #"""
        #compdef hub
        # zsh completion for hub; made by: hub completions zsh

        _hub() {
            local line value doc
            local -a before closed open
            (( CURRENT > 2 )) && before=("${(@Q)words[2,CURRENT-1]}")
            for line in "${(@f)$(hub __complete -- "${before[@]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
                value="${line%%$'\t'*}"
                doc="${line#"$value"}"
                doc="${doc#$'\t'}"
                case "$value" in
                    '') ;;
                    :files) compset -P '--[^=]#='; _files ;;
                    :folders) compset -P '--[^=]#='; _directories ;;
                    *[=:@/]) open+=("${value//:/\\:}${doc:+:$doc}") ;;
                    *) closed+=("${value//:/\\:}${doc:+:$doc}") ;;
                esac
            done
            (( $#closed )) && _describe -V 'candidates' closed -M 'm:{a-zA-Z}={A-Za-z}'
            (( $#open )) && _describe -V 'further' open -S '' -M 'm:{a-zA-Z}={A-Za-z}'
        }

        if [[ $funcstack[1] == _hub ]]; then
            _hub "$@"
        else
            compdef _hub hub
        fi

        """#

    /// For fish 3 and later.
    static let fish = #"""
        # fish completion for hub; made by: hub completions fish

        function __hub_candidates
            set -l current (commandline -ct)
            set -l words (commandline -opc) "$current"
            set -l candidates (hub __complete -- $words[2..-1] 2>/dev/null)
            # Before the path in --local-dir=PATH.
            set -l flag (string match -r '^--[^=]*=' -- "$current")
            set -l path (string replace -r '^--[^=]*=' '' -- "$current")
            switch "$candidates[1]"
                case :files
                    for name in (__fish_complete_path "$path")
                        echo "$flag$name"
                    end
                case :folders
                    for name in (__fish_complete_directories "$path" folder)
                        echo "$flag$name"
                    end
                case '*'
                    test -n "$candidates[1]"; and printf '%s\n' $candidates
            end
        end

        complete -c hub -f -k -a '(__hub_candidates)'

        """#
}
