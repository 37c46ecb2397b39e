import HubCore

/// The flags that every command takes, before or after its name.
enum GlobalFlags {
    static let json = Switch(
        "json", refinements: ["lines"], "print JSON on stdout, and nothing else there",
        detail: """
            One document: keys are in snake_case, sizes in bytes (*_bytes), times ISO 8601 in UTC; what is not known is \
            absent. After an error the document holds "error" beside what was done. With =lines the entries of the \
            command's list (models, the rows of a plan) are printed instead, one object a line, without totals; an error \
            is the last line. Commands that print no list refuse it.
            """)
    static let quiet = Switch(
        "quiet", short: "q", "print only the main column (ids, paths, numbers); no progress")
    static let verbose = Switch(
        "verbose", short: "v", "log requests, decisions and retries on stderr",
        detail: "Credentials are never logged.")
    static let cacheDir = Option.text(
        "cache-dir", "DIR", kind: .folder, "use this cache folder",
        detail:
            "The default is HF_HUB_CACHE, then HF_HOME/hub, then XDG_CACHE_HOME/huggingface/hub, then ~/.cache/huggingface/hub."
    )
    static let endpoint = Option.text(
        "endpoint", "URL", kind: .address, "use the Hub at this address",
        detail: "The default is HF_ENDPOINT, then https://huggingface.co.")
    static let offline = Switch("offline", "do not use the network", detail: "HF_HUB_OFFLINE=1 does the same.")
    static let progress = Option<ProgressMode>.choice(
        "progress", "how to show progress on stderr",
        detail: """
            auto shows a bar on a terminal and plain lines elsewhere. plain prints at most one line a second. json prints \
            one JSON object a line, warnings and errors included.
            """)
    static let color = Option<ColorMode>.choice(
        "color", "when to use color",
        detail: "auto uses color on a terminal, unless NO_COLOR is set or TERM is dumb.")
    static let help = Switch("help", short: "h", "show short help; hub help COMMAND shows more")
    static let version = Switch("version", short: "V", "print the version")

    static let all: [Flag] = [
        json.flag, quiet.flag, verbose.flag, cacheDir.flag, endpoint.flag, offline.flag, progress.flag, color.flag,
        help.flag, version.flag,
    ]
}

extension GlobalOptions {
    /// What was typed of them.
    init(_ arguments: ParsedArguments) {
        output = arguments[GlobalFlags.json] ? .json : arguments[GlobalFlags.quiet] ? .quiet : .human
        printsLines = arguments.texts(of: GlobalFlags.json.flag.name).contains("lines")
        isQuiet = arguments[GlobalFlags.quiet]
        isVerbose = arguments[GlobalFlags.verbose]
        cacheDir = arguments[GlobalFlags.cacheDir]
        endpoint = arguments[GlobalFlags.endpoint]
        isOffline = arguments[GlobalFlags.offline]
        progress = arguments[GlobalFlags.progress] ?? .auto
        color = arguments[GlobalFlags.color] ?? .auto
    }
}
