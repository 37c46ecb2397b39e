import HubCore
import Synchronization

extension Context {
    /// Asks a yes-or-no question on stderr; anything but a yes is no.
    ///
    /// - Parameters:
    ///   - isGiven: whether `--yes` was given: then nothing is asked.
    ///   - what: for the error where nobody can be asked: "deleting needs a yes".
    /// - Throws: ``ErrorCode/confirmationRequired`` where there is no terminal or the output is for programs.
    func confirm(_ question: String, isGiven: Bool, otherwise what: String) async throws -> Bool {
        if isGiven { return true }
        guard isInteractive, mode != .json, progressMode != .json else {
            throw AIError(.confirmationRequired, what)
        }
        output.flush()
        output.prompt("\(question) [y/N] ")
        do {
            let answer = try await Context.readLineFromTerminal()
            return ["y", "yes"].contains((answer ?? "").lowercased())
        } catch {
            // The cursor still stands behind the question.
            output.prompt("\n")
            throw error
        }
    }

    /// A line from stdin, read on a thread of its own; cancellation does not wait for it.
    private static func readLineFromTerminal() async throws -> String? {
        let waiting = Once<String?>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting.begin(continuation)
                BackgroundThread.start { waiting.resume(.success(readLine())) }
            }
        } onCancel: {
            waiting.resume(.failure(CancellationError()))
        }
    }
}

/// A continuation that whoever comes first resumes.
private final class Once<Value: Sendable>: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Value, any Error>)
        case early(Result<Value, any Error>)
        case done
    }

    private let state = Mutex(State.idle)

    func begin(_ continuation: CheckedContinuation<Value, any Error>) {
        let early: Result<Value, any Error>? = state.withLock { state in
            if case .early(let result) = state {
                state = .done
                return result
            }
            state = .waiting(continuation)
            return nil
        }
        if let early { continuation.resume(with: early) }
    }

    func resume(_ result: Result<Value, any Error>) {
        let continuation: CheckedContinuation<Value, any Error>? = state.withLock { state in
            switch state {
            case .idle: state = .early(result)
            case .waiting(let continuation):
                state = .done
                return continuation
            case .early, .done: break
            }
            return nil
        }
        continuation?.resume(with: result)
    }
}
