import HubCore

/// Who watches over the calls of a model: a person at a terminal, or at the page.
protocol ToolOverseer: Sendable {
    /// Whether a person can be asked.
    var isThere: Bool { get }
    /// Hears of a call that nobody is asked about.
    func hear(_ what: String)
    /// Hears why a call does not run.
    func warn(_ what: String, advice: String)
    /// Asks whether a call may run.
    ///
    /// - Parameter arguments: all of them, as they are shown.
    func allows(_ name: String, with arguments: String) async throws -> Bool
}

extension Context: ToolOverseer {
    var isThere: Bool { isInteractive && mode == .human && output.settings.outputIsTerminal }

    func hear(_ what: String) { output.note(what) }

    func warn(_ what: String, advice: String) { output.warning(what, advice: advice) }

    func allows(_ name: String, with arguments: String) async throws -> Bool {
        try await confirm(
            "The model calls \(name) \(arguments). Run it?", isGiven: false, otherwise: "a tool needs a yes")
    }
}
