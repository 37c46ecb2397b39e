import Catalog
import Fetcher
import HubCore
import InferenceKit
import ModelFormats

extension TryCommand {
    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        try checkPrompt(arguments)
        let target = try await locate(arguments.operands[0], context, arguments)
        do { try await run(target, context, arguments) } catch {
            // What is missing explains what fails.
            let failure = (error as? ReportedError)?.error ?? error as? AIError
            guard let incomplete = target.incomplete, let failure, failure.category == .provider else {
                throw error
            }
            throw AIError(failure.code, "\(target.id): \(incomplete)", context: failure.context)
        }
    }

    private static func run(_ target: Target, _ context: Context, _ arguments: ParsedArguments) async throws {
        let operands = arguments.operands
        var report = TryReport(id: target.id, path: target.path)
        report.memoryTotal = try Machine.memory().total
        if arguments.has(tokenize.flag.name) || arguments.has(tokenizeFile.flag.name) {
            let texts = arguments.all(tokenize) + (try await listedTexts(arguments, context))
            report.tokenized = try await Offload.run { try TryReport.tokenize(texts, folder: target.path) }
            return report.show(context)
        }
        if let file = arguments[render] {
            report.rendered = try await rendering(of: file, arguments, target.path, context)
            return report.show(context)
        }
        if arguments[inspect] {
            report.inspection = try await ModelInspection.inspect(folder: target.path)
            report.context = arguments[contextLength]
            return report.show(context)
        }
        if arguments[check] {
            report.check = try await ModelCheck.run(
                target.path, options: try await checkOptions(arguments, context))
            report.show(context)
            return try report.failCheck(context.mode)
        }
        let options = ModelOptions(threads: arguments[threads], context: arguments[contextLength])
        let smoke = try await SmokeTest.run(folder: target.path, options: options)
        report.smoke = smoke
        context.output.document(report.json)
        if let failure = smoke.failure { throw try told(failure, smoke, report, target, context) }
        guard operands.count > 1 else { return report.show(context) }
        try await generate(operands[1], config(arguments), arguments, options, &report, context)
        report.show(context)
    }

    /// Shows what a failed smoke test found, and gives the error to throw: one that people have not read already.
    private static func told(
        _ failure: AIError, _ smoke: SmokeTest, _ report: TryReport, _ target: Target, _ context: Context
    ) throws -> any Error {
        // Of what cannot be run the error says all there is to say.
        let isRunnable = smoke.inspection?.isSupported ?? true
        if isRunnable || context.mode == .quiet { report.show(context) }
        // The test came to its end, and that is its answer.
        if failure.code == .generationFailed { return AnswerIsNo() }
        // Where only the tokenizer is missing, people read the same before the download.
        if let inspection = smoke.inspection,
            failure.code == .unsupportedModel || inspection.obstacles == [TokenizerKind.none]
        {
            return try refusal(of: target, inspection, context)
        }
        guard isRunnable else {
            var failure = failure
            failure.message = "\(target.reference.map { "\($0)" } ?? target.id): \(failure.message)"
            return failure
        }
        guard context.mode == .human else { return failure }
        if let advice = failure.recoverySuggestion { context.output.note(advice) }
        return ReportedError(error: failure)
    }

    /// Results are kept in the catalog, where it can be used.
    private static func checkOptions(_ arguments: ParsedArguments, _ context: Context) async throws
        -> ModelCheck.Options
    {
        let workspace = try await context.workspace()
        let catalog = workspace.dispensable
        var options = ModelCheck.Options(isFull: arguments.texts(of: check.flag.name).contains("full"))
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

    private static func config(_ arguments: ParsedArguments) -> GenerateConfig {
        var config = arguments[greedy] ? GenerateConfig.precise : .default
        if let value = arguments[maxTokens] { config.maxTokens = value }
        if let value = arguments[temperature] { config.temperature = value }
        if let value = arguments[topK] { config.topK = value == 0 ? nil : value }
        if let value = arguments[topP] { config.topP = value }
        if let value = arguments[minP] { config.minP = value }
        if let value = arguments[repeatPenalty] { config.repetitionPenalty = value }
        config.seed = arguments[seed]
        config.stopSequences = arguments.all(stop)
        return config
    }

    private static func generate(
        _ prompt: String, _ config: GenerateConfig, _ arguments: ParsedArguments, _ options: ModelOptions,
        _ report: inout TryReport, _ context: Context
    ) async throws {
        // A conversation that the template rejects is reported before the weights are read.
        let rendered = try await rendering(ofPrompt: prompt, arguments, report.path, context)
        let text = rendered ?? prompt
        let model = try await LanguageModel.open(folder: report.path, options: options)
        report.context = model.context
        report.isGreedy = config.isGreedy
        if arguments[logits] {
            report.logits = try await model.logits(prompt: text, addsSpecialTokens: rendered == nil)
        }
        for line in prompt.split(separator: "\n", omittingEmptySubsequences: false) {
            context.output.line(Styled(String(line), .faint))
        }
        for try await chunk in model.generate(prompt: text, addsSpecialTokens: rendered == nil, config: config) {
            if !chunk.text.isEmpty { context.output.stream(chunk.text) }
            if let result = chunk.result { report.generation = result }
        }
        context.output.stream("\n")
        if report.generation?.finishReason == .cancelled { throw CancellationError() }
    }
}
