import Fetcher
import HubCore
import ModelFormats

extension RmCommand {
    /// What is deleted.
    struct Request {
        /// References, globs and folders.
        var words: [String]
        var dryRun: Bool
        var yes: Bool
        var trash: Bool

        init(_ arguments: ParsedArguments) {
            words = arguments.operands
            dryRun = arguments[SharedFlags.dryRun]
            yes = arguments[SharedFlags.yes]
            trash = arguments[SharedFlags.trash]
        }
    }

    /// What a word names.
    private enum Target: Sendable {
        case cached(CacheSelector)
        case folder(LocalFolder)
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let targets = try request.words.map { text throws(AIError) in (text, try target(text, context)) }
        let workspace = try await context.workspace()
        // Moves that a user agreed to and that were interrupted; nothing is lost by them.
        if !request.dryRun { await context.finishDeletions(of: workspace) }
        let state = try await workspace.state(fresh: true)
        var failures = Failures()
        var planner = DeletionPlanner(state, protection: try await workspace.protection(for: state))
        var told: Set<DeletionPlan.Protected> = []
        var rows: [(text: String, rows: Range<Int>)] = []
        for (text, target) in targets {
            let start = planner.plan.rows.count
            try await failures.attempt(context.output) {
                switch target {
                case .cached(let selector):
                    do throws(AIError) { try plan(text, selector, state, &planner, &told) } catch {
                        // Names alone are models'.
                        guard error.code == .notCached, LocalFolder(context.environment.expand("./" + text)).isKnown
                        else { throw error }
                        var told = error
                        told.specificAdvice =
                            "./\(text.printable) is a folder: hub rm ./\(text.printable) deletes it"
                        throw told
                    }
                case .folder(let folder):
                    guard !request.trash else {
                        throw AIError(
                            .invalidInput, "\(text.printable) is not in the cache, so --trash does not apply to it",
                            advice: "leave --trash out, or move the folder yourself")
                    }
                    planner = try await adding(folder, text, to: planner, workspace)
                }
            }
            rows.append((text, start..<planner.plan.rows.count))
        }
        let view = DeletionView(
            context: context, workspace: workspace, plan: planner.plan, told: told, isNamed: true)
        if let fault = view.plan.pinsFault, view.plan.concernsPins {
            context.output.warning(
                "cannot read the pins (\(fault.message)): what was named goes even if it is pinned",
                advice: fault.recoverySuggestion)
        }
        if view.hasSomethingToSay {
            let outcome = try await view.run(
                isDryRun: request.dryRun, isAgreed: request.yes,
                isTrash: request.trash, &failures)
            let tried = outcome.map { $0.done.union($0.failed.map(\.row)) }
            for (text, rows) in rows where !rows.isEmpty && tried?.isDisjoint(with: rows) == true {
                try await failures.attempt(context.output) {
                    throw AIError(
                        .ioError, "\(text.printable) was not deleted: another process has started to use it",
                        advice: "try again when that process has finished")
                }
            }
        }
        try failures.finish()
    }

    private static func target(_ text: String, _ context: Context) throws(AIError) -> Target {
        text.namesFolder
            ? .folder(LocalFolder(context.environment.expand(text))) : .cached(try CacheSelector(text, context))
    }

    private static func plan(
        _ text: String, _ selector: CacheSelector, _ state: CacheState, _ planner: inout DeletionPlanner,
        _ told: inout Set<DeletionPlan.Protected>
    ) throws(AIError) {
        let repositories = state.repositories.filter { selector.matches($0) }
        let revisions = repositories.flatMap { repository in
            repository.revisions.filter { selector.matches($0, of: repository) }.map { (repository, $0) }
        }
        guard !revisions.isEmpty || (!repositories.isEmpty && !selector.namesRevision) else {
            throw AIError(
                .notCached, "\(text.printable) is not in the cache \(state.layout.root)",
                advice: "hub ls shows what is")
        }
        let before = planner
        if selector.files != nil {
            let matching = try revisions.map { repository, revision throws(AIError) in
                let paths = revision.files.map(\.path)
                let named = try selector.files(among: paths, of: repository.repository)
                return (repository, revision, Set(paths.filter { named?.matches($0) ?? false }))
            }
            guard matching.contains(where: { !$2.isEmpty }) else {
                throw AIError(
                    .notCached, "no cached file matches \(text.printable)",
                    advice: revisions.first.map { repository, revision in
                        "hub info \(repository.repository)@\(revision.commit.short) --files shows what is cached"
                    })
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
        let protected = planner.plan.protected.dropFirst(before.plan.protected.count)
        let pinned = protected.filter(\.obstacle.isPinned)
        let isEmpty = planner.plan.rows.count == before.plan.rows.count
        // What is named is refused whole: a plan for the rest of it would look as if it went. Of what a glob names the
        // rest goes, and the plan says what stays.
        if let first = pinned.first, !selector.isGlob {
            told.formUnion(pinned)
            planner.takeBack(to: before)
            throw first.refusal
        }
        if isEmpty, let first = pinned.first ?? protected.first {
            told.insert(first)
            throw first.refusal
        }
    }

    private static func adding(
        _ folder: LocalFolder, _ text: String, to planner: DeletionPlanner, _ workspace: Workspace
    ) async throws -> DeletionPlanner {
        let identities = try await Blocking.run {
            guard folder.isKnown else {
                throw AIError(
                    .notCached, "\(text.printable) is not a folder that hub pull --local-dir has filled",
                    advice: "hub deletes only files that a pull has recorded there")
            }
            return try folder.identities()
        }
        let protection = try await workspace.protection(for: identities)
        return try await Blocking.run {
            var planner = planner
            try planner.add(folder, sparing: protection.openFiles, reason: "asked for")
            return planner
        }
    }
}

extension CacheSelector {
    fileprivate var isGlob: Bool { if case .glob = self { true } else { false } }
}
