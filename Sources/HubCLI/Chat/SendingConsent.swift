import HubCore

/// What of this machine's files may go to which provider.
struct SendingConsent: Sendable {
    /// Whether `--yes` was given.
    var isGiven: Bool

    /// Asks before something leaves this machine.
    ///
    /// - Parameter label: the provider; nil for this machine, which is not asked about, nor is a server on it.
    /// - Throws: ``ErrorCode/confirmationRequired`` without a yes.
    func ask(_ what: String, to label: String?, _ context: Context) async throws {
        guard let label, !((try? Endpoint(label))?.origin.isLoopback ?? false) else { return }
        try await context.requireYes(
            "Send \(what) to \(label)?", isGiven: isGiven, otherwise: "sending \(what) to \(label) needs a yes",
            undone: "nothing was sent")
    }
}
