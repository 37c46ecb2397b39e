import Fetcher
import HubCore

/// Looks at a queue until a job is done, within the time of the call.
struct QueuePolling: Sendable {
    let client: RemoteClient
    let deadline: Deadline
    /// Seconds between two looks.
    let interval: Double

    init(_ client: RemoteClient, _ deadline: Deadline, usual: Double) {
        self.client = client
        self.deadline = deadline
        interval = client.limits.pollInterval ?? usual
    }

    /// What a look at the job found.
    enum State {
        case pending
        case done
        case failed(String)
    }

    /// Asks an address until the state of its answer is final; the answer.
    ///
    /// - Parameters:
    ///   - first: an answer that is known already.
    ///   - state: of an answer; nil if it names none that hub knows.
    /// - Throws: ``ErrorCode/generationFailed``-like errors of the provider as ``ErrorCode/requestRejected``;
    ///   ``ErrorCode/timedOut``.
    func result(
        of address: String, first: JSON?, fields: [(String, String)] = [], _ state: (JSON) -> State?
    ) async throws(AIError) -> JSON {
        var answer = first
        var unknown = 0
        while true {
            if let answer {
                switch state(answer) {
                case .done: return answer
                case .failed(let why):
                    throw AIError(
                        .requestRejected,
                        "\(client.name) could not do it" + (why.isEmpty ? "" : ": \(why.printable)"),
                        advice: "try again, or change the prompt")
                case .pending: break
                case nil:
                    // A new word may mean "not yet"; for ever it does not.
                    unknown += 1
                    guard unknown < 10 else {
                        throw AIError(
                            .protocolViolation, "\(client.name) reports a state of the job that hub does not know",
                            advice: "try again, or choose another provider")
                    }
                }
            }
            guard deadline.remaining > interval else { throw deadline.error(client.name) }
            do { try await client.context.workspace.engine().sleep(interval) } catch {
                throw AIError.wrapping(error)
            }
            var call = RemoteCall.get(address)
            call.fields = fields
            answer = try await client.json(call, by: deadline)
        }
    }
}
