import Fetcher
import HubCore

/// `hub rm`
enum RemoveCommand {
    static let command = Command(
        name: "rm", purpose: .changes, doc: "delete models from the cache",
        detail: """
            Shows what goes, why and what that frees, asks, and deletes. Where nobody can be asked and --yes is \
            missing, it shows the plan, deletes nothing and ends with status 2.
            """,
        operands: [Operand("REF|GLOB", .some, .model)],
        flags: [SharedFlags.dryRun.flag, SharedFlags.yes.flag],
        examples: [
            .init("hub rm gpt2", "One model, after a yes."),
            .init("hub rm 'org/*' --dry-run", "What would go."),
            .init("hub rm gpt2@main --yes", "One revision, without being asked."),
        ],
        run: run)

    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        let selectors = try arguments.operands.map { text throws(AIError) -> (text: String, selector: CacheSelector) in
            let selector = try CacheSelector(text, context)
            if case .reference(let reference) = selector, reference.files != nil {
                throw AIError(.invalidInput, "\"\(text.printable)\" names files; rm deletes models and revisions whole")
            }
            return (text, selector)
        }
        let workspace = try await context.workspace()
        let state = try await workspace.state(fresh: true)
        var failures = Failures()
        var planner = DeletionPlanner(state)
        for (text, selector) in selectors {
            try await failures.attempt(context.output) {
                let repositories = state.repositories.filter { selector.matches($0) }
                let revisions = repositories.flatMap { repository in
                    repository.revisions.filter { selector.matches($0, of: repository) }.map { (repository, $0) }
                }
                guard !revisions.isEmpty || (!repositories.isEmpty && !selector.namesRevision) else {
                    throw AIError(.notCached, "\(text.printable) is not in the cache \(state.layout.root)", advice: "hub ls lists what is")
                }
                for (repository, revision) in revisions { try planner.add(revision, of: repository, reason: "asked for") }
                // What holds no revision at all can be asked for as well.
                for repository in repositories where repository.revisions.isEmpty { try planner.add(repository, reason: "asked for") }
            }
        }
        let view = DeletionView(context: context, workspace: workspace, plan: planner.plan)
        if !planner.plan.isEmpty || !planner.plan.protected.isEmpty {
            try await view.run(isDryRun: arguments[SharedFlags.dryRun], isAgreed: arguments[SharedFlags.yes])
        }
        try failures.finish()
    }
}
