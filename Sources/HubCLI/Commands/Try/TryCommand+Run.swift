import Catalog
import Fetcher
import HubCore
import InferenceKit
import ModelFormats

extension TryCommand {
    /// What is tried, and how.
    struct Request {
        var model: String
        var prompt: String?
        var config: GenerateConfig
        var options: ModelOptions
        /// Texts to tokenize, and a file with a list of them; nil if it is not asked.
        var tokenize: (texts: [String], file: String?)?
        /// The file of a conversation to render.
        var render: String?
        var template: String?
        var system: String?
        var chat: Bool
        var raw: Bool
        var logits: Bool
        var inspect: Bool
        /// How files are checked; nil if it is not asked.
        var check: ModelCheck.Options?
        /// Whether the model is fetched without a question.
        var yes: Bool

        /// - Throws: ``ErrorCode/invalidInput`` for a prompt option without a prompt.
        init(_ arguments: ParsedArguments) throws(AIError) {
            model = arguments.operands[0]
            prompt = arguments.operands.count > 1 ? arguments.operands[1] : nil
            config = arguments[greedy] ? GenerateConfig.precise : .default
            if let value = arguments[maxTokens] { config.maxTokens = value }
            if let value = arguments[temperature] { config.temperature = value }
            if let value = arguments[topK] { config.topK = value == 0 ? nil : value }
            if let value = arguments[topP] { config.topP = value }
            if let value = arguments[minP] { config.minP = value }
            if let value = arguments[repeatPenalty] { config.repetitionPenalty = value }
            config.seed = arguments[seed]
            config.stopSequences = arguments.all(stop)
            options = ModelOptions(threads: arguments[threads], context: arguments[contextLength])
            let texts = arguments.all(TryCommand.tokenize)
            let file = arguments[tokenizeFile]
            tokenize = texts.isEmpty && file == nil ? nil : (texts, file)
            render = arguments[TryCommand.render]
            template = arguments[TryCommand.template]
            system = arguments[TryCommand.system]
            chat = arguments[TryCommand.chat]
            raw = arguments[TryCommand.raw]
            logits = arguments[TryCommand.logits]
            inspect = arguments[TryCommand.inspect]
            let checkFlag = TryCommand.check
            let isFull = arguments.texts(of: checkFlag.flag.name).contains("full")
            check = arguments[checkFlag] ? ModelCheck.Options(isFull: isFull) : nil
            yes = arguments[SharedFlags.yes]
            try checkPrompt()
        }

        /// Whether the model is computed with, not only looked at.
        var runs: Bool { !inspect && check == nil && render == nil && tokenize == nil }

        private func checkPrompt() throws(AIError) {
            guard prompt == nil else { return }
            if logits {
                throw AIError(
                    .invalidInput, "--logits needs a PROMPT", advice: "write hub try REF PROMPT --logits --json")
            }
            for (isGiven, flag) in [(system != nil, "system"), (chat, "chat")] where isGiven {
                throw AIError(.invalidInput, "--\(flag) needs a PROMPT")
            }
            if template != nil, render == nil {
                throw AIError(.invalidInput, "--template needs a PROMPT or --render")
            }
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let target = try await locate(request.model, context, request)
        do { try await run(target, context, request) } catch {
            // What is missing explains what fails.
            let failure = (error as? ReportedError)?.error ?? error as? AIError
            guard let incomplete = target.incomplete, let failure, failure.category == .provider else {
                throw error
            }
            throw AIError(failure.code, "\(target.id): \(incomplete)", context: failure.context)
        }
    }

    private static func run(_ target: Target, _ context: Context, _ request: Request) async throws {
        var report = TryReport(id: target.id, path: target.path)
        report.memoryTotal = try Machine.memory().total
        if let (texts, file) = request.tokenize {
            let texts = texts + (try await listedTexts(file, context))
            report.tokenized = try await Blocking.run { try TryReport.tokenize(texts, folder: target.path) }
            return report.show(context)
        }
        if let file = request.render {
            report.rendered = try await rendering(of: file, request, target.path, context)
            return report.show(context)
        }
        if request.inspect {
            report.inspection = try await ModelInspection.inspect(folder: target.path)
            report.context = request.options.context
            return report.show(context)
        }
        if let options = request.check {
            report.check = try await ModelCheck.run(
                target.path, options: try await remembering(options, context))
            report.show(context)
            return try report.failCheck(context.mode)
        }
        let options = request.options
        let smoke = try await SmokeTest.run(folder: target.path, options: options)
        report.smoke = smoke
        context.output.document(report.json)
        if let failure = smoke.failure { throw try told(failure, smoke, report, target, context) }
        guard let prompt = request.prompt else { return report.show(context) }
        try await generate(prompt, request, &report, context)
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

    private static func generate(
        _ prompt: String, _ request: Request, _ report: inout TryReport, _ context: Context
    ) async throws {
        // A conversation that the template rejects is reported before the weights are read.
        let rendered = try await rendering(ofPrompt: prompt, request, report.path, context)
        let text = rendered ?? prompt
        let model = try await LanguageModel.open(folder: report.path, options: request.options)
        report.context = model.context
        report.isGreedy = request.config.isGreedy
        if request.logits {
            report.logits = try await model.logits(prompt: text, addsSpecialTokens: rendered == nil)
        }
        for line in prompt.split(separator: "\n", omittingEmptySubsequences: false) {
            context.output.line(Styled(String(line), .faint))
        }
        for try await chunk in model.generate(
            prompt: text, addsSpecialTokens: rendered == nil, config: request.config)
        {
            if !chunk.text.isEmpty { context.output.stream(chunk.text) }
            if let result = chunk.result { report.generation = result }
        }
        context.output.stream("\n")
        if report.generation?.finishReason == .cancelled { throw CancellationError() }
    }
}
