import HubCore

/// An error that people have already read; only its exit status and its place in the document are still due.
struct ReportedError: Error {
    let error: AIError
}

/// Thrown at the end of a command that did its work and whose answer is no: exit status 1, nothing more is said.
struct AnswerIsNo: Error {}

/// The errors of a command that was asked for several things: all is done that can be, the first failure decides the
/// exit status.
struct Failures {
    private(set) var all: [AIError] = []
    /// The advice that people have read: for many names that are wrong alike, once is enough.
    private var told: Set<String> = []
    var first: AIError? { all.first }

    /// Runs one of the things; a failure is reported at once and kept. Cancellation is thrown on, for it ends them all.
    mutating func attempt(
        _ output: Output, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
    )
        async throws
    {
        do { try await body() } catch {
            let wrapped = AIError.wrapping(error)
            guard wrapped.code != .cancelled else { throw wrapped }
            let error = await output.advised(wrapped)
            output.failure(error, omitting: told)
            if let advice = error.recoverySuggestion { told.insert(advice) }
            all.append(error)
        }
    }

    /// Throws if something failed: the command's last line.
    func finish() throws {
        if let first { throw ReportedError(error: first) }
    }
}
