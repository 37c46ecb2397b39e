import Fetcher
import HubCore

extension PullCommand {
    /// `hub pull --locked`: exactly what a lock names, of the models that were named or of all.
    static func runLocked(_ context: Context, _ request: Request, lock path: String) async throws {
        let lock = try await LockedModels.read(path)
        let entries = try LockedModels.entries(request.words, of: lock, path, context)
        var options = Self.options(context, request)
        options.earlierChoice = .grows
        guard options.destination.isCache || entries.count < 2 else {
            throw AIError(.invalidInput, "--local-dir takes the files of one model, not of \(entries.count)")
        }
        if entries.isEmpty { context.output.note("\(path.printable) locks nothing") }
        let workspace = try await context.workspace(joinsGroup: options.destination.isCache)
        let puller = try await workspace.puller()
        var failures = Failures()
        var plans: [PullPlan] = []
        for entry in entries {
            try await failures.attempt(context.output) { plans.append(try await puller.plan(entry, options)) }
        }
        // Part of a lock is not what was asked for.
        if !failures.all.isEmpty, !request.isEstimate { plans = [] }
        try await carryOut(plans, options, request, workspace, puller, context, &failures)
    }
}
