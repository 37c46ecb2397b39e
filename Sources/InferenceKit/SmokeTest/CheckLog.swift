import HubCore

/// The checks of a smoke test so far.
struct CheckLog {
    private(set) var checks: [CheckResult] = []
    private(set) var failure: AIError?
    /// The name of the check that runs.
    private var current = ""

    mutating func begin(_ name: String) { current = name }

    mutating func pass(_ detail: String) { add(current, .pass, detail) }
    mutating func warn(_ detail: String) { add(current, .warn, detail) }
    mutating func skip(_ name: String) { add(name, .skip, "skipped: an earlier check failed") }

    /// The check that runs failed.
    ///
    /// - Parameter folder: the folder that file paths are shown relative to.
    mutating func fail(_ error: AIError, in folder: String) {
        var shown = error
        for start in [folder + "/", folder + ": "] where shown.message.hasPrefix(start) {
            shown.message = String(shown.message.dropFirst(start.count))
        }
        add(current, .fail, shown.message)
        failure = shown
    }

    private mutating func add(_ name: String, _ status: CheckResult.Status, _ detail: String) {
        checks.append(.init(name: name, status: status, detail: detail))
    }
}
