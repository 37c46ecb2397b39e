import HubCore

/// What people are asked on the page while an answer is made. A question is known by its id, which only the events of that
/// answer say, and is there until it is answered or the answer ends.
final class PageQuestions: Sendable {
    private let waiting = Lock<[String: CheckedContinuation<Bool, Never>]>([:])

    /// Asks, and waits for the answer.
    ///
    /// - Parameters:
    ///   - question: what the page shows.
    ///   - send: sends an event to the page.
    /// - Throws: `CancellationError` if the answer ends before.
    func ask(_ question: JSONObject, _ send: (JSON) -> Void) async throws -> Bool {
        let id = FileSystem.randomHex(16)
        var shown = question
        shown["id"] = .string(id)
        let isYes = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.withLock { $0[id] = continuation }
                send(.object(["question": .object(shown)]))
                // Cancelled before it could be found.
                if Task.isCancelled { answer(id, false) }
            }
        } onCancel: {
            answer(id, false)
        }
        try Task.checkCancellation()
        return isYes
    }

    /// Answers a question.
    ///
    /// - Returns: whether it still waited.
    @discardableResult
    func answer(_ id: String, _ isYes: Bool) -> Bool {
        guard let continuation = waiting.withLock({ $0.removeValue(forKey: id) }) else { return false }
        continuation.resume(returning: isYes)
        return true
    }
}

/// Who sits at the page during an answer.
struct PagePerson: ToolOverseer {
    let questions: PageQuestions
    let send: @Sendable (JSON) -> Void

    var isThere: Bool { true }
    // The page shows each call, and what came of it.
    func hear(_ what: String) {}
    func warn(_ what: String, advice: String) {}

    func allows(_ name: String, with arguments: String) async throws -> Bool {
        try await questions.ask(["tool": .string(name), "arguments": .string(arguments)], send)
    }

    /// - Throws: ``ErrorCode/confirmationRequired`` after a no.
    func mustAllow(_ question: String) async throws {
        guard try await questions.ask(["text": .string(question)], send) else {
            throw AIError(.confirmationRequired, "nothing was sent")
        }
    }
}
