import Catalog
import Fetcher
import HubCore
import InferenceKit
import ModelFormats

extension TryCommand {
    static func run(_ context: Context, _ request: Request) async throws {
        if request.isConversation, [.local, .auto].contains(request.provider) {
            try ChatSession.checkTerminal(context, once: "hub try REF PROMPT --chat")
        }
        let target: ModelPlace
        let (source, reasons) = try await ModelSource.choose(request.wish, context)
        reasons.tell(context.output)
        switch source {
        case .local(let place): target = place
        case .remote(let model): return try await test(model, request, context)
        }
        try request.wish.checkLocal()
        do { try await run(target, context, request) } catch {
            // What is missing explains what fails.
            let failure = (error as? ReportedError)?.error ?? error as? AIError
            guard let incomplete = target.incomplete, let failure, failure.category == .provider else {
                throw error
            }
            throw AIError(failure.code, "\(target.id): \(incomplete)", context: failure.context)
        }
    }

    private static func run(_ target: ModelPlace, _ context: Context, _ request: Request) async throws {
        var report = TryReport(id: target.id, path: target.path)
        report.memoryTotal = try Machine.memory().total
        report.options = request.options
        if let (texts, file) = request.tokenize {
            let texts = texts + (try await self.texts(file, context))
            report.tokenized = try await Blocking.run { try TryReport.tokenize(texts, folder: target.path) }
            return report.show(context)
        }
        if let file = request.render {
            report.rendered = try await rendering(of: file, request, target.path, context)
            return report.show(context)
        }
        if request.inspect {
            report.inspection = try await ModelInspection.inspect(folder: target.path)
            return report.show(context)
        }
        if let options = request.check {
            report.check = try await ModelCheck.run(
                target.path, options: try await remembering(options, context))
            report.show(context)
            return try report.failCheck(context.mode)
        }
        if request.isConversation { return try await converse(target, request, &report, context) }
        if let file = request.series { return try await forecast(file, target, request, &report, context) }
        if !request.attach.isEmpty || request.index != nil {
            return try await see(request.attach, target, request, &report, context)
        }
        if request.isTest { return try await test(target, request, &report, context) }
        try await use(target, request, &report, context)
    }

    // MARK: The smoke test

    private static func test(
        _ target: ModelPlace, _ request: Request, _ report: inout TryReport, _ context: Context
    ) async throws {
        let smoke = try await SmokeTest.run(
            folder: target.path, options: request.options, task: request.task)
        report.smoke = smoke
        context.output.document(report.json)
        try await remember(smoke, of: target, request, context)
        if let failure = smoke.failure { throw try told(failure, smoke, report, target, context) }
        report.show(context)
    }

    /// Keeps in the catalog how a cached model's test ended.
    private static func remember(
        _ smoke: SmokeTest, of target: ModelPlace, _ request: Request, _ context: Context
    ) async throws {
        guard let repository = target.reference?.repository, let commit = target.commit else { return }
        // What is not supported, or lacks memory, was not tried.
        guard smoke.failure.map({ [.generationFailed, .malformedModel].contains($0.code) }) ?? true else { return }
        let tried = TriedModel(
            at: context.now, verdict: smoke.verdict.rawValue,
            tokensPerSecond: smoke.speed.flatMap { $0.unit == .tokens ? $0.tokensPerSecond : nil })
        let catalog = try await context.workspace(tellsFault: false).dispensable
        if let speed = smoke.speed {
            let threads = try request.options.threads ?? MemoryBandwidth.threads()
            await context.remember(memorySpeed: speed.memoryBytesPerSecond, threads: threads, catalog)
        }
        await Blocking.run {
            _ = catalog.use { catalog throws(AIError) in try catalog.remember(tried, of: repository, at: commit) }
        }
    }

    /// Shows what a failed smoke test found, and gives the error to throw: one that people have not read already.
    private static func told(
        _ failure: AIError, _ smoke: SmokeTest, _ report: TryReport, _ target: ModelPlace, _ context: Context
    ) throws -> any Error {
        // Of what cannot be run the error says all there is to say.
        let isRunnable = smoke.inspection?.isSupported ?? true
        if isRunnable || context.mode == .quiet { report.show(context) }
        // The test came to its end, and that is its answer.
        if failure.code == .generationFailed { return AnswerIsNo() }
        guard isRunnable, context.mode == .human else {
            return try ModelPlace.refusal(of: target, smoke.inspection, because: failure, context)
        }
        if let advice = failure.recoverySuggestion { context.output.note(advice) }
        return ReportedError(error: failure)
    }

    // MARK: The files

    /// Results are kept in the catalog, where it can be used.
    private static func remembering(_ options: ModelCheck.Options, _ context: Context) async throws
        -> ModelCheck.Options
    {
        let workspace = try await context.workspace()
        let catalog = workspace.dispensable
        var options = options
        options.memory = CheckMemory(
            cache: workspace.layout.root,
            recall: { blob, version, isWhole in
                catalog.use { catalog throws(AIError) in
                    try catalog.check(of: blob.sha256, in: blob.fingerprint, version: version, isWhole: isWhole)
                } ?? nil
            },
            keep: { blob, version, isWhole, findings in
                catalog.use { catalog throws(AIError) in
                    try catalog.remember(
                        check: findings, of: blob.sha256, in: blob.fingerprint, version: version, isWhole: isWhole,
                        at: Timestamp.now)
                }
            })
        return options
    }
}
