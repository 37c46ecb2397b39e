import Catalog
import Fetcher
import HubCore
import InferenceKit

/// The smoke test of a remote model.
extension TryCommand {
    static func test(_ model: RemoteModel, _ request: Request, _ context: Context) async throws {
        try checkRemote(model, request)
        context.output.document(["id": .string(model.name), "provider": .string(model.label)])
        var trial: RemoteTrial
        do { trial = try await RemoteTrial.run(model) } catch {
            // It was tried, and it broke.
            if let error = error as? AIError, [.streamInterrupted, .protocolViolation].contains(error.code) {
                try await remember(.fail, nil, model, model.label, context)
            }
            throw error
        }
        try await trial.findPrice(of: model, context)
        try await remember(trial.verdict, trial.result.tokensPerSecond, model, trial.label(model), context)
        trial.show(model, context)
        if trial.verdict == .fail { throw AnswerIsNo() }
    }

    /// - Throws: ``ErrorCode/invalidInput`` for what a remote model is not tried with.
    private static func checkRemote(_ model: RemoteModel, _ request: Request) throws(AIError) {
        guard request.prompt == nil, !request.chat else {
            throw AIError(
                .invalidInput, "hub try only tests a remote model; hub chat talks with it",
                advice:
                    "write hub chat --provider \(ShellQuoting.word(model.label)) \(ShellQuoting.word(request.model))"
            )
        }
        guard let flag = request.local.first else { return }
        throw AIError(
            .invalidInput, "--\(flag) is for a model on this machine, and \(model.label) answers",
            advice: "leave it out, or write --provider local")
    }

    /// Keeps how the test ended. A server's own models are on no list.
    private static func remember(
        _ verdict: CheckResult.Status, _ rate: Double?, _ model: RemoteModel, _ label: String, _ context: Context
    ) async throws {
        guard let repository = model.repository else { return }
        let tried = TriedModel(
            at: context.now, verdict: verdict.rawValue, tokensPerSecond: rate.flatMap { $0 > 0 ? $0 : nil })
        let catalog = try await context.workspace(tellsFault: false).dispensable
        await Blocking.run {
            _ = catalog.use { catalog throws(AIError) in
                try catalog.remember(tried, of: Repository(.model, repository), at: label)
            }
        }
    }
}
