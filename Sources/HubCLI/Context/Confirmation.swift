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

    /// Asks for a yes without which a command does nothing.
    ///
    /// - Parameter undone: the message of the error after any other answer: "nothing was deleted".
    /// - Throws: ``ErrorCode/confirmationRequired`` without a yes, whether it was refused or could not be asked for.
    func requireYes(_ question: String, isGiven: Bool, otherwise what: String, undone: String) async throws {
        guard try await confirm(question, isGiven: isGiven, otherwise: what) else {
            throw AIError(.confirmationRequired, undone)
        }
    }

    /// Asks before a file is replaced.
    ///
    /// - Parameters:
    ///   - isGiven: whether `--force` was given.
    ///   - kept: the message if the answer is no.
    /// - Throws: ``ErrorCode/confirmationRequired`` unless it may be replaced.
    func confirmReplacing(_ name: String, isGiven: Bool, kept: String) async throws {
        do {
            try await requireYes(
                "Replace \(name)?", isGiven: isGiven, otherwise: "\(name) exists", undone: kept)
        } catch let error as AIError where error.code == .confirmationRequired {
            throw AIError(error.code, error.message, advice: "--force replaces it")
        }
    }
}
