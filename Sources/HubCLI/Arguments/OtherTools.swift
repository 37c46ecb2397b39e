/// The words that other tools use for what hub does. They get advice, but do not run.
enum OtherTools {
    /// The advice on a command that hub does not have; nil if no tool is known to have the word.
    ///
    /// - Parameter next: the word after it: `hub cache ls` means more than `hub cache`.
    static func advice(on word: String, next: String?) -> String? {
        let word = word.lowercased()
        if let next, let advice = advice(onPair: "\(word) \(next)") { return advice }
        if uploads.contains(word) { return "hub does not upload; hf upload does" }
        return words[word].map(didYouMean)
    }

    /// The same for two words, such as `cache prune`.
    static func advice(onPair words: String) -> String? { pairs[words.lowercased()].map(didYouMean) }

    /// The same for a word with a typo in it.
    static func advice(near word: String) -> String? {
        NearestName.of(word, among: words.keys.sorted()).flatMap { words[$0] }.map(didYouMean)
    }

    /// The command of hub that a word means: its first word, `gc` for `prune`.
    static func command(meantBy word: String) -> String? {
        words[word.lowercased()]?.split(separator: " ").first.map(String.init)
    }

    /// The advice on a flag of another tool that hub has no flag for.
    static func advice(onFlag name: String) -> String? { notFlags[name] }

    /// The flag of hub that another tool calls so.
    static func flag(meantBy name: String) -> String? { flags[name] }

    /// All that is known, for tests.
    static var all: [String] { words.keys.sorted() + pairs.keys.sorted() }

    private static func didYouMean(_ command: String) -> String { "did you mean: hub \(command)" }

    private static let words = [
        "list": "ls", "ll": "ls", "dir": "ls", "scan-cache": "ls", "scan": "ls", "status": "ls",
        "df": "cache du", "du": "cache du", "images": "ls", "models": "ls, or hub search for models on the Hub",
        "download": "pull", "get": "pull", "fetch": "pull", "clone": "pull", "install": "pull", "add": "pull",
        "remove": "rm", "delete": "rm", "del": "rm", "uninstall": "rm", "rmi": "rm", "erase": "rm",
        "prune": "gc", "clean": "gc", "cleanup": "gc", "purge": "gc", "autoremove": "gc", "delete-cache": "gc",
        "update": "outdated", "upgrade": "outdated", "refresh": "outdated",
        "run": "chat, or hub try for a test", "ps": "serve status, which asks a running server what it does",
        "test": "try", "generate": "try", "bench": "try",
        "show": "info", "inspect": "info", "view": "info", "describe": "info", "card": "info",
        "find": "search", "query": "search",
        "check": "verify", "fsck": "verify", "validate": "verify",
        "where": "path", "which": "path", "locate": "path",
        "login": "auth login", "logout": "auth logout", "whoami": "auth whoami", "user": "auth whoami",
        "server": "serve", "start": "serve", "mirror": "serve", "diagnose": "doctor", "repair": "verify --repair",
        "undo": "trash restore", "restore": "trash restore", "alias": "registry", "aliases": "registry",
        "config": "env", "environment": "env", "completion": "completions", "man": "help --man",
    ]

    private static let pairs = [
        "cache ls": "ls", "cache list": "ls", "cache scan": "ls", "cache rm": "rm", "cache delete": "rm",
        "cache remove": "rm", "cache prune": "gc", "cache clean": "gc", "cache clear": "gc", "cache purge": "gc",
        "cache verify": "verify", "cache dir": "path",
        "models ls": "ls, or hub search for models on the Hub",
        "models list": "ls, or hub search for models on the Hub", "models search": "search", "models info": "info",
        "models card": "info", "model ls": "ls", "model list": "ls", "model pull": "pull", "model rm": "rm",
        "datasets ls": "ls", "datasets list": "ls", "datasets info": "info", "system df": "ls",
        "system prune": "gc", "repo info": "info", "repo clone": "pull",
    ]

    private static let uploads: Set = ["upload", "push", "upload-large-folder", "publish"]

    private static let flags = ["force-download": "force", "max-workers": "connections"]

    private static let notFlags = [
        "token": "HF_TOKEN or hub auth login gives the token; on a command line others could read it",
        "repo-type": kind, "type": kind,
        "resume-download": "interrupted downloads are always resumed",
        "local-dir-use-symlinks": "with --local-dir the files themselves are there, never links",
    ]

    private static let kind = "the kind stands before the name: datasets/org/name, spaces/org/name"
}
