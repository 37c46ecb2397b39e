import HubCore

/// How progress is shown.
enum ProgressMode: String, Sendable, CaseIterable { case auto, bar, plain, json, none }

/// When colour is used.
enum ColorMode: String, Sendable, CaseIterable { case auto, always, never }

/// The values of the flags that every command takes.
struct GlobalOptions: Sendable {
    var output = Output.Mode.human
    /// Whether a list is printed one object a line; see ``Command/listKey``.
    var printsLines = false
    /// With `--json` the document decides; this still silences progress.
    var isQuiet = false
    var isVerbose = false
    var cacheDir: String?
    var endpoint: String?
    var isOffline = false
    var progress = ProgressMode.auto
    var color = ColorMode.auto
}
