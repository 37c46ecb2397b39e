import Catalog
import Fetcher
import HubCore
import ModelFormats

extension PullCommand {
    /// What is fetched, where to, and how.
    struct Request {
        /// Models, and files of the first.
        var words: [String]
        var revision: String?
        var filter: FileFilter
        var format: WeightChoice.Format?
        var quantization: String?
        var isEstimate: Bool
        var force: Bool
        var connections: Int?
        /// Bytes a second.
        var rate: Int64?
        var localDir: String?
        var yes: Bool
        /// The lock to take, by its path.
        var lock: String?

        init(_ arguments: ParsedArguments) throws(AIError) {
            words = arguments.operands
            revision = arguments[PullCommand.revision]
            let include = arguments.all(PullCommand.include)
            filter = FileFilter(include: include.isEmpty ? nil : include, exclude: arguments.all(exclude))
            format = arguments[PullCommand.format]
            quantization = arguments[quant]
            isEstimate = arguments[estimate] || arguments[SharedFlags.dryRun]
            force = arguments[PullCommand.force]
            connections = arguments[PullCommand.connections]
            rate = arguments[limitRate]?.bytes
            localDir = arguments[PullCommand.localDir]
            yes = arguments[PullCommand.yes]
            lock = arguments.has("locked") ? arguments[PullCommand.locked] ?? LockedModels.fileName : nil
            guard lock != nil || !words.isEmpty else {
                throw AIError(.invalidInput, "missing REF", advice: "usage: \(PullCommand.command.usage)")
            }
        }

        /// What earlier choices of the revision mean beside this one.
        var earlierChoice: Puller.EarlierChoice {
            if format == .all { return .ends }
            return filter != .all || format != nil || quantization != nil ? .grows : .isFollowed
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        if let lock = request.lock { return try await runLocked(context, request, lock: lock) }
        var options = options(context, request)
        let names = PullNames(words: request.words, revision: request.revision, context: context)
        let first = try names.first()
        let workspace = try await context.workspace(joinsGroup: options.destination.isCache)
        let puller = try await workspace.puller()
        options.select = try selection(
            format: request.format, quantization: request.quantization, workspace, context)
        var failures = Failures()
        let wanted = try await names.wanted(first, puller, &failures)
        guard options.destination.isCache || wanted.count < 2 else {
            throw AIError(.invalidInput, "--local-dir takes the files of one model, not of \(wanted.count)")
        }
        var plans: [PullPlan] = []
        for wanted in wanted {
            try await failures.attempt(context.output) {
                plans.append(try await wanted.plan(puller, options, context, isEstimate: request.isEstimate))
            }
        }
        // A word that means nothing is a slip: the others may be one too.
        if failures.all.contains(where: { [2, 3].contains($0.exitStatus) }), !request.isEstimate { plans = [] }
        for plan in plans where plan.isFollowing {
            context.output.note(
                "\(plan.repository): using your earlier selection: \(plan.choice.description); pass --format all to fetch everything"
            )
        }
        try await carryOut(plans, options, request, workspace, puller, context, &failures)
    }

    /// Shows the estimate of plans, or fetches them.
    static func carryOut(
        _ plans: [PullPlan], _ options: Puller.Options, _ request: Request, _ workspace: Workspace,
        _ puller: Puller,
        _ context: Context, _ failures: inout Failures
    ) async throws {
        if request.isEstimate {
            // Nothing can be said of the disk where nothing is known of the models.
            if plans.isEmpty {
                context.output.document(["models": .array([])])
            } else {
                var estimate = try await PullEstimate(plans, workspace)
                estimate.budget = try await budget(for: plans, workspace, context)
                try await estimate.show(context)
            }
            for plan in plans {
                try await failures.attempt(context.output) {
                    if let refusal = try await puller.refusal(of: plan) { throw refusal }
                }
            }
            return try failures.finish()
        }
        if !plans.isEmpty {
            try await makeRoom(for: plans, isAgreed: request.yes, workspace, context)
            try puller.checkSpace(plans)
        }
        let results = plans.isEmpty ? [] : await fetch(plans, options, puller, context)
        context.output.document(["models": .array(results.map(json))])
        for result in results {
            try await failures.attempt(context.output) {
                try finish(result, isForced: options.force, context)
                try await warnOfDamage(result, workspace, context)
            }
        }
        try failures.finish()
    }

    /// Where nothing was fetched, what verifying found before is still there.
    private static func warnOfDamage(_ result: Puller.Result, _ workspace: Workspace, _ context: Context)
        async throws
    {
        let plan = result.plan
        guard plan.destination.isCache, result.downloadedBytes == 0, await workspace.damage().hasDamage else {
            return
        }
        let revision = plan.ref == "main" ? nil : plan.ref ?? plan.commit.hash
        let reference = ModelReference(plan.repository, revision: revision)
        let condition = try await workspace.condition(plan.repository, at: plan.commit)
        if let damage = condition.damageSentence(reference) {
            context.output.warning("\(plan.repository): \(damage)")
        }
    }

    static func options(_ context: Context, _ request: Request) -> Puller.Options {
        var options = Puller.Options()
        options.filter = request.filter
        options.force = request.force
        options.earlierChoice = request.earlierChoice
        options.choosesWeights = request.format != nil || request.quantization != nil
        options.control = PullControl(
            connections: request.connections, bytesPerSecond: request.rate)
        if let folder = request.localDir {
            options.destination = .folder(LocalFolder(context.environment.expand(folder)))
        }
        options.symlinks = !context.environment.isTrue("HF_HUB_DISABLE_SYMLINKS")
        return options
    }

    /// Pulls models with their progress on stderr. `try` uses it too.
    static func fetch(_ plans: [PullPlan], _ options: Puller.Options, _ puller: Puller, _ context: Context)
        async -> [Puller.Result]
    {
        let watcher = PullWatcher(plans, context)
        defer { watcher.finish() }
        // A connection that a stopped process keeps is one that the server gives up.
        let key = context.suspension.onSuspend { done in
            options.control.pause {
                watcher.renderer.suspend()
                done()
            }
        } resume: {
            watcher.renderer.resume()
            options.control.resume()
        }
        defer { context.suspension.remove(key) }
        let results = await puller.pull(plans, options) { watcher.hear($0, plans[$1]) }
        for result in results { watcher.done(result) }
        return results
    }

    /// Says what became of a pull, and throws what failed.
    static func finish(_ result: Puller.Result, isForced: Bool, _ context: Context) throws {
        // In the cache --force always starts again.
        let command =
            isForced && result.plan.destination.isCache ? "the same command without --force" : "the same command"
        let plan = result.plan
        if let fault = result.fault { throw fault }
        if let error = result.error {
            let kept = result.files.filter { $0.status != .failed }.count
            let are = kept == 1 ? "is" : "are"
            if error.code == .cancelled {
                context.interruption.kept =
                    "\(kept) of \(Humanize.plural(result.files.count, "file")) \(are) complete, and what was received of the others is kept; \(command) continues"
                throw CancellationError()
            }
            for file in result.files where file.status == .failed && file.error?.code != .cancelled {
                if let other = file.error, other.message != error.message { context.output.failure(other) }
            }
            var told = error
            if kept > 0 {
                // A file that its owner changed would stop the same command again.
                let isStuck = result.files.allSatisfy { $0.status != .failed || $0.error?.code == .fileChanged }
                told.specificAdvice =
                    (told.recoverySuggestion.map { $0 + "\n" } ?? "")
                    + "\(kept) of \(result.files.count) files \(are) complete"
                    + (isStuck ? "" : "; \(command) continues with the others")
            }
            throw told
        }
        var facts = ["\(Humanize.plural(result.files.count, "file")), \(ByteCount(plan.totalBytes))"]
        if result.downloadedBytes > 0 {
            // "in 0.0 s" says nothing.
            let time = result.seconds < 0.05 ? "" : " in \(Humanize.duration(result.seconds))"
            facts.append("\(ByteCount(result.downloadedBytes)) fetched\(time)")
            if result.seconds > 0.2 { facts.append(Humanize.rate(Double(result.downloadedBytes) / result.seconds)) }
            facts.append("every digest checked")
        } else {
            facts.append("nothing to fetch")
        }
        context.output.line(
            Styled("\(plan.repository)", .name)
                + Styled(" at \(plan.commit.short): " + facts.joined(separator: ", ")))
        context.output.value(result.path)
    }

    private static func json(_ result: Puller.Result) -> JSON {
        let seconds = result.seconds
        return .object([
            "id": .string(result.plan.repository.id.name), "commit": .string(result.plan.commit.hash),
            "path": .string(result.path),
            "files": .array(
                result.files.map { file in
                    .object([
                        "path": .string(file.path), "size_bytes": .int(file.size),
                        "status": .string(file.status.rawValue),
                        "error": file.error.map { .object($0.json) },
                    ])
                }),
            "total_bytes": .int(result.plan.totalBytes), "downloaded_bytes": .int(result.downloadedBytes),
            "reused_bytes": .int(
                result.files.filter { $0.status == .cached || $0.status == .linked }.reduce(0) { $0 + $1.size }),
            "elapsed_seconds": .double(seconds),
            "bytes_per_second": seconds > 0 ? .double(Double(result.downloadedBytes) / seconds) : nil,
        ])
    }
}

/// Turns the events of pulls into progress on stderr.
final class PullWatcher: Sendable {
    let renderer: ProgressRenderer
    private let output: Output
    private let title: String
    /// The models; empty if there is only one.
    private let models: [String]
    private let rate = Lock(RateEstimator())
    private let retries = Lock<[String: Int]>([:])
    /// The reasons to wait that people have read.
    private let told = Lock<Set<String>>([])

    init(_ plans: [PullPlan], _ context: Context) {
        title = plans.count == 1 ? plans[0].repository.description : Humanize.plural(plans.count, "model")
        models = plans.count == 1 ? [] : plans.map(\.repository.description)
        output = context.output
        renderer = context.progress()
    }

    func finish() { renderer.finish() }

    func done(_ result: Puller.Result) {
        guard result.error == nil else { return }
        renderer.event(
            .done(
                id: result.plan.repository.description, path: result.path, downloadedBytes: result.downloadedBytes,
                elapsedSeconds: result.seconds))
    }

    func hear(_ event: PullEvent, _ plan: PullPlan) {
        let id = plan.repository.description
        switch event {
        case .planned(let plan):
            renderer.event(
                .plan(
                    id: id, commit: plan.commit.hash, files: plan.files.count, totalBytes: plan.totalBytes,
                    downloadBytes: plan.totals.downloadBytes))
        case .waiting(let path, let process):
            output.note("\(Self.name(process)) is fetching \(path); waiting for it")
        case .retrying(let path, let reason, let seconds):
            let attempt = retries.withLock { counts in
                counts[path, default: 0] += 1
                return counts[path]!
            }
            renderer.event(.retry(path: path, attempt: attempt, reason: reason, waitSeconds: seconds))
            // Every file of a Hub that is away waits for the same reason: once is enough.
            if seconds > 5, told.withLock({ $0.insert(reason).inserted }) {
                output.note("\(reason); trying again in \(Humanize.duration(seconds))")
            }
        case .verified(let path, let digest): renderer.event(.verified(path: path, digest: digest.hex))
        case .finished(let file):
            renderer.event(.file(id: id, path: file.path, status: file.status.rawValue, sizeBytes: file.size))
        case .progress(let progress): show(progress)
        }
    }

    private func show(_ progress: PullProgress) {
        var snapshot = ProgressSnapshot(title: title)
        snapshot.doneBytes = progress.completedBytes
        snapshot.totalBytes = progress.totalBytes
        snapshot.filesDone = progress.filesDone
        snapshot.filesTotal = progress.filesTotal
        snapshot.active = progress.active.map {
            .init($0.path, of: models.isEmpty ? nil : models[$0.plan], done: $0.received, total: $0.size)
        }
        snapshot.phase = Self.phase(progress)
        rate.withLock { rate in
            rate.record(progress.completedBytes)
            snapshot.bytesPerSecond = rate.bytesPerSecond
            snapshot.secondsLeft = rate.secondsLeft(to: progress.totalBytes)
        }
        // An average that falls says less than how long nothing came.
        if progress.silence >= Self.patience { (snapshot.bytesPerSecond, snapshot.secondsLeft) = (nil, nil) }
        renderer.update(snapshot)
    }

    /// What is done just now where that is not receiving bytes.
    static func phase(_ progress: PullProgress) -> String? {
        if progress.isPaused { return "paused" }
        if progress.silence >= patience {
            return "no data for \(Humanize.duration(progress.silence.rounded(.down)))"
        }
        if let waiting = progress.waiting { return "waiting for \(name(waiting.process))" }
        return progress.completedBytes == progress.totalBytes && !progress.active.isEmpty ? "verifying" : nil
    }

    /// Seconds without a byte that are worth a word.
    private static let patience = 3.0

    private static func name(_ process: Int32?) -> String {
        process.map { "process \($0)" } ?? "another process"
    }
}
