import Catalog
import Fetcher
import HubCore
import InferenceKit

extension TryCommand {
    @Sendable static func run(_ context: Context, _ arguments: ParsedArguments) async throws {
        let operands = arguments.operands
        try checkPrompt(arguments)
        let target = try await locate(operands[0], context, isAgreed: arguments[SharedFlags.yes])
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
            return try report.failCheck()
        }
        let options = ModelOptions(threads: arguments[threads], context: arguments[contextLength])
        let smoke = try await SmokeTest.run(folder: target.path, options: options)
        report.smoke = smoke
        context.output.document(report.json)
        if let failure = smoke.failure {
            // Of what cannot be run the error says all there is to say; the document has it in any case.
            if failure.code != .unsupportedModel || context.mode == .quiet { report.show(context) }
            // What cannot run here is no verdict on the model's health.
            if failure.code == .generationFailed { throw AnswerIsNo() }
            if failure.code == .unsupportedModel, let obstacles = smoke.inspection?.obstacles {
                throw AIError(
                    .unsupportedModel, "\(target.id) cannot be run yet: \(obstacles.joined(separator: "; "))",
                    context: .init(path: target.path))
            }
            throw failure
        }
        guard operands.count > 1 else { return report.show(context) }
        try await generate(operands[1], config(arguments), arguments, options, &report, context)
        report.show(context)
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

    /// - Parameter namesake: What is named so in the folder, which an error points out.
    private static func reference(_ text: String, _ context: Context, _ namesake: String?) throws(AIError)
        -> ModelReference
    {
        do {
            return try context.reference(text)
        } catch {
            guard let namesake else { throw error }
            throw AIError(error.code, error.message, advice: "the one of this folder is \(namesake)")
        }
    }

    /// A folder of this machine, or the snapshot of a reference, pulled first where it is not here.
    private static func locate(_ text: String, _ context: Context, isAgreed: Bool) async throws -> (
        id: String, path: String
    ) {
        if text.namesFolder || text.hasSuffix(".gguf") {
            let path = Path.withoutEnd(context.environment.expand(text))
            guard FileSystem.exists(path) else {
                throw AIError(
                    .fileNotFound, "there is no \(path.printable)",
                    advice: "hub try takes a folder with config.json and weights, or org/name")
            }
            return (Path.name(Path.normalized(path)), path)
        }
        // What many mean who type a path that looks like a repository's name.
        let namesake = FileSystem.exists(text) ? "./\(text)" : nil
        let reference = try reference(text, context, namesake)
        guard reference.files == nil else {
            throw AIError(.invalidInput, "\(reference) names a file; hub try takes a model")
        }
        let workspace = try await context.workspace()
        let id = reference.repository.id.name
        if let (folder, commit) = try await Offload.run({ try workspace.snapshot(of: reference) }) {
            await Offload.run { workspace.markUsed(folder, commit) }
            return (id, folder.snapshot(commit))
        }
        if let namesake {
            context.output.note("a repository's name is looked for; the one of this folder is \(namesake)")
        }
        guard !workspace.isOffline else { throw AIError.offline(reference) }
        let puller = try workspace.puller()
        var options = Puller.Options()
        options.select = try PullCommand.selection(context, ParsedArguments(), workspace)
        let plan = try await puller.plan(reference, options)
        context.output.note("\(reference) is not here: \(ByteCount(plan.totals.downloadBytes)) to fetch")
        do {
            guard
                try await context.confirm(
                    "Fetch it?", isGiven: isAgreed, otherwise: "\(reference) is not in the cache")
            else {
                throw AIError(
                    .notCached, "\(reference) is not in the cache", advice: "hub pull \(reference) fetches it")
            }
        } catch let error as AIError where error.code == .confirmationRequired {
            throw AIError(
                .notCached, "\(reference) is not in the cache",
                advice: "hub pull \(reference) fetches it, or say --yes")
        }
        try puller.checkSpace([plan])
        let result = await PullCommand.fetch([plan], options, puller, context)[0]
        if let error = result.error { throw error.code == .cancelled ? CancellationError() : error }
        return (id, result.path)
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
        // A conversation that the template refuses is told before the weights are touched.
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
