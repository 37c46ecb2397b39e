import Fetcher
import HubCore
import RemoteKit

/// Whether texts may go to the Hub's inference providers, which may charge for answers, where nobody named them.
///
/// A person agrees once, on a terminal; `hub auth logout --provider hf` takes that back. A program has to name a provider:
/// `--yes` says nothing of this.
struct SendingAgreement {
    private let context: Context
    /// Why a provider would be asked, in a clause.
    private let reason: String
    /// What can be done otherwise, in a clause.
    private let instead: String?

    init(_ reason: String, instead: String? = nil, _ context: Context) {
        (self.reason, self.instead, self.context) = (reason, instead, context)
    }

    /// - Parameter model: the one that would be asked.
    /// - Throws: ``ErrorCode/confirmationRequired`` without an agreement.
    func ask(for model: String) async throws {
        try requirePerson()
        let router = try context.environment.inferenceEndpoint().origin
        let agreed = SendingAgreements(context.environment)
        if try await Blocking.run({ try agreed.date(of: router) }) != nil { return }
        guard context.mode != .json, context.progressMode != .json else {
            throw refusal("\(reason), and nobody has agreed")
        }
        let subject = reason.contains(model) ? "it" : model
        context.output.note("\(reason); \(subject) may be served by others, who may charge for it")
        let isAllowed = try await context.confirm(
            "Send what you type to the Hub's inference providers (\(router)), now and later?", isGiven: false,
            otherwise: reason)
        guard isAllowed else { throw refusal("nothing was sent") }
        try await agreed.set(context.now, of: router)
        context.output.note("this is remembered; hub auth logout --provider hf takes it back")
    }

    /// Whether the person at this terminal agreed before.
    func isThere() async throws -> Bool {
        guard context.isInteractive else { return false }
        let router = try context.environment.inferenceEndpoint().origin
        let agreed = SendingAgreements(context.environment)
        return try await Blocking.run { try agreed.date(of: router) } != nil
    }

    /// - Throws: ``ErrorCode/confirmationRequired`` where nobody can be asked.
    func requirePerson() throws(AIError) {
        guard context.isInteractive else {
            throw refusal("\(reason), and no provider was named")
        }
    }

    private func refusal(_ message: String) -> AIError {
        AIError(
            .confirmationRequired, message,
            advice: "--provider hf sends it to the Hub's inference providers" + (instead.map { "; \($0)" } ?? ""))
    }
}
