import HubCore

/// How progress is shown.
enum ProgressMode: String, Sendable, CaseIterable { case auto, bar, plain, json, none }

/// When colour is used.
enum ColorMode: String, Sendable, CaseIterable { case auto, always, never }

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
        "quiet", short: "q", "print only the main column (ids, paths); no progress")
    static let verbose = Switch(
        "verbose", short: "v", "log requests, decisions and retries on stderr",
        detail: "Credentials are never logged.")
    static let cacheDir = Option.text(
        "cache-dir", "DIR", kind: .folder, "use this cache folder",
        detail: "The default is HF_HUB_CACHE, then HF_HOME/hub, then ~/.cache/huggingface/hub.")
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

/// Flags that several commands share, so that they read alike everywhere.
enum SharedFlags {
    static let dryRun = Switch("dry-run", short: "n", "show what would happen and why; change nothing")
    static let yes = Switch("yes", short: "y", "do not ask")
    static let trash = Switch(
        "trash", "move to the trash instead of deleting",
        detail: "hub trash restore brings it back; hub trash empty frees the disk.")
}
