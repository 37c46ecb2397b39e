/// What commands and flags were called before. They still run, and hub says the new name on stderr.
enum FormerNames {
    /// What stands for a flag now.
    enum Successor: Sendable, Hashable {
        /// A word behind the command: `--check` of `hub lock` is `check`.
        case word(String)
        /// Another flag of the same kind.
        case flag(String)
    }

    /// The words that a command's former name stands for.
    static let commands = [
        "why": ["cache", "du"], "adopt": ["cache", "adopt"], "link": ["cache", "link"],
        "budget": ["cache", "budget"], "mv": ["cache", "mv"], "warm": ["cache", "warm"],
        "inventory": ["cache", "inventory"],
    ]

    /// The words of subcommands, by the command's name.
    static let words = Dictionary(
        uniqueKeysWithValues: ["auth", "chats", "lock", "registry", "trash"].map { ($0, ["list": "ls"]) })

    /// The subcommand that other words belonged to, which had none before.
    static let unnamed = ["lock": "write"]

    /// The flags, by the first word of the command's name, or by the whole.
    static let flags: [String: [String: Successor]] = [
        "lock": [
            "check": .word("check"), "update": .word("update"), "key": .word("key"), "upstream": .flag("branches"),
        ],
        "doctor": ["fix": .word("fix"), "rebuild": .word("rebuild")],
        "serve": [
            "mirror": .word("mirror"), "api": .word("api"), "page": .word("page"), "all": .word("all"),
        ],
        "cache adopt": ["undo": .word("unadopt")],
        "cache budget": ["off": .word("off"), "install": .word("install"), "older-than": .flag("unused-for")],
        "gc": ["older-than": .flag("unused-for")],
        "search": ["max-size": .flag("smaller-than"), "open": .flag("ungated")],
        "registry": ["provider": .flag("format"), "size": .flag("size-class")],
        "embed": ["file": .flag("texts")],
        "try": ["file": .flag("gguf")],
        "chat": ["file": .flag("gguf")],
    ]

    /// The successor of a command's flag.
    static func successor(of flag: String, in command: String) -> Successor? {
        let first = command.split(separator: " ").first.map(String.init) ?? command
        return flags[command]?[flag] ?? flags[first]?[flag]
    }
}
