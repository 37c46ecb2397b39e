import Catalog
import Fetcher
import HubCore

extension VerifyCommand {
    /// What is verified, and how.
    struct Request {
        /// Models, globs and folders; everything cached if there are none.
        var words: [String]
        var full: Bool
        var repair: Bool

        init(_ arguments: ParsedArguments) {
            words = arguments.operands
            full = arguments[VerifyCommand.full]
            repair = arguments[VerifyCommand.repair]
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let words = try request.words.map { text throws(AIError) in
            text.namesFolder
                ? Word.folder(text, LocalFolder(context.environment.expand(text)))
                : .selector(text, try CacheSelector(text, context))
        }
        let workspace = try await context.workspace()
        var failures = Failures()
        let targets = try await targets(words, workspace, &failures, context)
        var results = try await verify(targets, workspace, isFull: request.full, context)
        var view = VerifyView(context: context, isRepairing: request.repair)
        for result in results where result.isIncomplete {
            guard case .snapshot(_, let commit) = result.place, let repository = result.repository else { continue }
            view.references[result.path] = try await Blocking.run {
                try workspace.reference(to: commit, repository)
            }
        }
        // If the repair is interrupted, the findings are still reported.
        context.output.document(view.json(results))
        if request.repair { try await repairAll(&results, workspace, context) }
        context.output.render(json: view.json(results), quiet: view.damaged(results)) { view.show(results) }
        // Many models fail for one reason when the Hub is away.
        var told: Set<String> = []
        for fault in faults(of: results, isRepairing: request.repair) where told.insert(fault.message).inserted {
            try await failures.attempt(context.output) { throw fault }
        }
        // Damage is the answer, unless it should have gone: then it matters why it has not.
        if !request.repair, results.contains(where: { !$0.damage.isEmpty }) { throw AnswerIsNo() }
        try failures.finish()
        if results.contains(where: { !$0.damage.isEmpty }) { throw AnswerIsNo() }
    }

    /// What could not be found out. Without a network that is one thing to say, however many models it is said of.
    private static func faults(of results: [Verification], isRepairing: Bool) -> [AIError] {
        let all = results.flatMap(\.faults)
        let unknown = all.filter { $0.code == .offline }
        guard unknown.count > 1, !isRepairing else { return all }
        let text =
            "the files of \(Humanize.plural(unknown.count, "revision")) are unknown, and the network is switched off"
        return [AIError(.offline, text)] + all.filter { $0.code != .offline }
    }

    /// What a word of the command line names.
    private enum Word {
        case folder(String, LocalFolder)
        case selector(String, CacheSelector)
    }

    // MARK: What is meant

    private static func targets(
        _ words: [Word], _ workspace: Workspace, _ failures: inout Failures, _ context: Context
    ) async throws -> [VerificationTarget] {
        var targets: [VerificationTarget] = []
        var selectors: [(String, CacheSelector)] = []
        for word in words {
            switch word {
            case .selector(let text, let selector): selectors.append((text, selector))
            case .folder(let text, let folder):
                try await failures.attempt(context.output) { targets += try await local(text, folder, workspace) }
            }
        }
        guard words.isEmpty || !selectors.isEmpty else { return targets }
        let state = try await workspace.state(fresh: true)
        for remark in state.remarks { context.output.debug(remark) }
        var collected = VerificationTargets(workspace)
        func add(_ repository: CachedRepository, _ selector: CacheSelector?) async throws {
            try await collected.add(
                repository, files: selector?.files, withOrphans: selector?.namesRevision != true
            ) { selector?.matches($0, of: repository) ?? true }
        }
        // What cannot be read of one is in no other's way.
        for repository in words.isEmpty ? state.repositories : [] {
            try await failures.attempt(context.output) { try await add(repository, nil) }
        }
        for (text, selector) in selectors {
            let chosen = state.repositories.filter { selector.names($0) }
            if chosen.isEmpty {
                try await failures.attempt(context.output) {
                    throw AIError(
                        .notCached, "nothing in \(state.layout.root) matches \(text.printable)",
                        advice: "hub ls lists what is there")
                }
            }
            for repository in chosen {
                try await failures.attempt(context.output) { try await add(repository, selector) }
            }
        }
        if words.isEmpty, state.repositories.isEmpty {
            context.output.note("nothing is cached in \(state.layout.root)")
        }
        return targets + collected.targets
    }

    private static func local(_ text: String, _ folder: LocalFolder, _ workspace: Workspace) async throws
        -> [VerificationTarget]
    {
        try await Blocking.run {
            guard try FileSystem.status(folder.path)?.kind == .directory else {
                throw AIError(.fileNotFound, "\(text.printable) is not a folder")
            }
            return try VerificationTarget.targets(in: folder) { commit in
                workspace.dispensable.use { catalog throws(AIError) in try catalog.repository(of: commit) } ?? nil
            }
        }
    }

    // MARK: Reading

    private static func verify(
        _ targets: [VerificationTarget], _ workspace: Workspace, isFull: Bool, _ context: Context
    ) async throws -> [Verification] {
        let renderer = context.progress()
        defer { renderer.finish() }
        let rate = Lock(RateEstimator())
        let name = targets.count == 1 ? targets[0].repository?.description : nil
        let title = name ?? Humanize.plural(targets.count, "model")
        context.interruption.kept = "files that were right are remembered; the same command continues with the rest"
        defer { context.interruption.kept = nil }
        let verifier = Verifier(targets, catalog: workspace.dispensable, isFull: isFull) { progress in
            var snapshot = ProgressSnapshot(title: title, phase: "verifying")
            snapshot.doneBytes = progress.readBytes
            snapshot.totalBytes = progress.totalBytes
            snapshot.filesDone = progress.filesDone
            snapshot.filesTotal = progress.filesTotal
            snapshot.active = progress.active.map { .init($0.path, done: $0.read, total: $0.size) }
            rate.withLock { rate in
                rate.record(progress.readBytes)
                snapshot.bytesPerSecond = rate.bytesPerSecond
                snapshot.secondsLeft = rate.secondsLeft(to: progress.totalBytes)
            }
            renderer.update(snapshot)
        }
        return try await verifier.run()
    }

    // MARK: Repairing

    /// Fetches what is damaged, all of it over the same connections; what cannot be repaired is noted in its result.
    private static func repairAll(_ results: inout [Verification], _ workspace: Workspace, _ context: Context)
        async throws
    {
        let damaged = results.indices.filter { !results[$0].damage.isEmpty }
        guard !damaged.isEmpty else { return }
        let puller = try await workspace.puller()
        var plans: [(index: Int, plan: PullPlan)] = []
        for index in damaged {
            do {
                if let plan = try await Repair(results[index], puller).plan(fault: { results[index].note($0) }) {
                    plans.append((index, plan))
                }
            } catch {
                let fault = AIError.wrapping(error)
                guard fault.code != .cancelled else { throw fault }
                results[index].note(fault)
            }
        }
        guard !plans.isEmpty else { return }
        try puller.checkSpace(plans.map(\.plan))
        var options = Puller.Options()
        options.earlierChoice = .stays
        options.symlinks = !context.environment.isTrue("HF_HUB_DISABLE_SYMLINKS")
        let pulled = await PullCommand.fetch(plans.map(\.plan), options, puller, context)
        for ((index, _), result) in zip(plans, pulled) {
            results[index].note(result)
            guard let error = result.error else { continue }
            if error.code == .cancelled { throw CancellationError() }
            for fault in [result.fault].compactMap(\.self) + result.files.compactMap(\.error) {
                results[index].note(fault)
            }
        }
    }
}
