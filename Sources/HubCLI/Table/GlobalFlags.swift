import HubCore

/// How progress is shown.
enum ProgressMode: String, Sendable, CaseIterable { case auto, bar, plain, json, none }

/// When colour is used.
enum ColorMode: String, Sendable, CaseIterable { case auto, always, never }

/// The flags that every command takes, before or after its name.
enum GlobalFlags {
    static let json = Switch(
        "json", "print one JSON document on stdout, nothing else there",
        detail: """
            Keys are in snake_case, sizes in bytes (*_bytes), times ISO 8601 in UTC; what is not known is absent. \
            After an error the document holds "error" beside what was achieved.
            """)
    static let quiet = Switch(
        "quiet", short: "q", "print only the essential column (ids, paths); no progress")
    static let verbose = Switch(
        "verbose", short: "v", "say on stderr what is requested, decided and retried",
        detail: "A credential never appears there.")
    static let cacheDir = Option.text(
        "cache-dir", "DIR", kind: .folder, "use this cache folder",
        detail: "Otherwise HF_HUB_CACHE, then HF_HOME/hub, then ~/.cache/huggingface/hub.")
    static let endpoint = Option.text(
        "endpoint", "URL", kind: .address, "ask this Hub",
        detail: "Otherwise HF_ENDPOINT, then https://huggingface.co.")
    static let offline = Switch(
        "offline", "use no network at all", detail: "HF_HUB_OFFLINE=1 does the same.")
    static let progress = Option<ProgressMode>.choice(
        "progress", "how progress is shown on stderr",
        detail: """
            auto is a bar on a terminal and plain elsewhere; plain is at most a line a second; json is one JSON \
            object on each line, warnings and errors included.
            """)
    static let color = Option<ColorMode>.choice(
        "color", "when colour is used",
        detail: "auto is on a terminal, unless NO_COLOR is set or TERM is dumb.")
    static let help = Switch("help", short: "h", "show one screen of help; hub help COMMAND says more")
    static let version = Switch("version", "print the version")

    static let all: [Flag] = [
        json.flag, quiet.flag, verbose.flag, cacheDir.flag, endpoint.flag, offline.flag, progress.flag, color.flag,
        help.flag, version.flag,
    ]
}

/// Flags that several commands share, so that they read alike everywhere.
enum SharedFlags {
    static let dryRun = Switch("dry-run", "show what would happen and why; change nothing")
    static let yes = Switch("yes", "go ahead without asking")
    static let trash = Switch(
        "trash", "move into the trash instead of deleting",
        detail: "hub trash restore brings it back, hub trash empty frees the disk.")
}
