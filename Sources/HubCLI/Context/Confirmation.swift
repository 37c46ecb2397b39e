import HubCore

extension Context {
    /// Asks a yes-or-no question on stderr; anything but a yes is no.
    ///
    /// - Parameters:
    ///   - isGiven: whether `--yes` was given: then nothing is asked.
    ///   - what: the message of the error if no one can be asked: "deleting needs a yes".
    /// - Throws: ``ErrorCode/confirmationRequired`` without a terminal, or if the output is for programs.
    func confirm(_ question: String, isGiven: Bool, otherwise what: String) async throws -> Bool {
        if isGiven { return true }
        guard isInteractive, mode != .json, progressMode != .json else {
            throw AIError(.confirmationRequired, what)
        }
        output.flush()
        output.prompt("\(question) [y/N] ")
        do {
            let answer = try await StandardInput.line()
            return ["y", "yes"].contains((answer ?? "").lowercased())
        } catch {
            // The cursor still stands behind the question.
            output.prompt("\n")
            throw error
        }
    }
}
