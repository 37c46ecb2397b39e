import Fetcher
import HubCore

extension RemoveCommand {
    /// What a word names.
    private enum Target: Sendable {
        case cached(CacheSelector)
        case folder(LocalFolder)
    }

    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        let targets = try arguments.operands.map { text throws(AIError) in (text, try target(text, context)) }
        let workspace = try await context.workspace()
        // Moves that were agreed to and cut off; nothing is lost by them.
        if !arguments[SharedFlags.dryRun] { await context.finishTrash(of: workspace) }
        let state = try await workspace.state(fresh: true)
        var failures = Failures()
        var planner = try await workspace.planner(state)
        for (text, target) in targets {
            try await failures.attempt(context.output) {
                switch target {
                case .cached(let selector): try plan(text, selector, state, &planner)
                case .folder(let folder):
                    guard !arguments[SharedFlags.trash] else {
                        throw AIError(
                            .invalidInput, "\(text.printable) is no part of the cache: --trash is for what is",
                            advice: "leave --trash out, or move the folder yourself")
                    }
                    planner = try await adding(folder, text, to: planner, workspace)
                }
            }
        }
        var view = DeletionView(context: context, workspace: workspace, plan: planner.plan)
        view.isPinTold = planner.plan.protected.contains { $0.reason.hasPrefix("pinned") }
        if view.hasSomethingToSay {
            try await view.run(
                isDryRun: arguments[SharedFlags.dryRun], isAgreed: arguments[SharedFlags.yes],
                isTrash: arguments[SharedFlags.trash])
        }
        try failures.finish()
    }

    private static func target(_ text: String, _ context: Context) throws(AIError) -> Target {
        text.namesFolder
            ? .folder(LocalFolder(context.environment.expand(text))) : .cached(try CacheSelector(text, context))
    }

    private static func plan(
        _ text: String, _ selector: CacheSelector, _ state: CacheState, _ planner: inout DeletionPlanner
    ) throws(AIError) {
        let repositories = state.repositories.filter { selector.matches($0) }
        let revisions = repositories.flatMap { repository in
            repository.revisions.filter { selector.matches($0, of: repository) }.map { (repository, $0) }
        }
        guard !revisions.isEmpty || (!repositories.isEmpty && !selector.namesRevision) else {
            throw AIError(
                .notCached, "\(text.printable) is not in the cache \(state.layout.root)",
                advice: "hub ls lists what is")
        }
        let protected = planner.plan.protected.count
        if let pattern = selector.files {
            let matching = revisions.map { ($0, $1, Set($1.files.map(\.path).filter { pattern.matches($0) })) }
            guard matching.contains(where: { !$2.isEmpty }) else {
                throw AIError(.notCached, "no cached file matches \(text.printable)")
            }
            for (repository, revision, paths) in matching where !paths.isEmpty {
                try planner.add(files: paths, of: revision, repository, reason: "asked for")
            }
        } else {
            for (repository, revision) in revisions {
                try planner.add(revision, of: repository, reason: "asked for")
            }
            // What holds no revision at all can be asked for as well.
            for repository in repositories where repository.revisions.isEmpty {
                try planner.add(repository, reason: "asked for")
            }
        }
        if let pinned = planner.plan.protected.dropFirst(protected).first(where: { $0.reason.hasPrefix("pinned") })
        {
            let name = "\(pinned.repository)" + (pinned.commit.map { "@\($0.short)" } ?? "")
            throw AIError(
                .invalidInput, "\(name) is \(pinned.reason)", advice: "hub unpin \(name) lets it go",
                context: .init(repository: pinned.repository.description))
        }
    }

    private static func adding(
        _ folder: LocalFolder, _ text: String, to planner: DeletionPlanner, _ workspace: Workspace
    ) async throws -> DeletionPlanner {
        let identities = try await Offload.run {
            guard folder.isKnown else {
                throw AIError(
                    .notCached, "\(text.printable) is no folder that hub pull --local-dir has filled",
                    advice: "only what a pull has noted there is deleted")
            }
            return try folder.identities()
        }
        let protection = try await workspace.protection(for: identities)
        return try await Offload.run {
            var planner = planner
            try planner.add(folder, sparing: protection.openFiles, reason: "asked for")
            return planner
        }
    }
}
