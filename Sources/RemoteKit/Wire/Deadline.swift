import HubCore

/// When the time of a whole call is over.
struct Deadline: Sendable {
    /// By ``Clock/seconds``.
    let end: Double
    /// Seconds of the whole.
    let total: Double

    init(_ limits: RemoteLimits) {
        total = limits.total
        end = Clock.seconds + limits.total
    }

    var remaining: Double { end - Clock.seconds }

    /// Seconds for people: `60`, `0.5`.
    static func shown(_ seconds: Double) -> String {
        seconds == seconds.rounded() && abs(seconds) < 1e9 ? String(Int(seconds)) : String(seconds)
    }

    /// The error of a call that took longer.
    func error(_ name: String) -> AIError {
        AIError(
            .timedOut, "\(name) did not finish within \(Self.shown(total)) s",
            advice: "allow more time, or ask for a shorter answer")
    }
}
