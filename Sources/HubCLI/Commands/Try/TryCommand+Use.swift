import HubCore
import HubTokenizers
import InferenceKit

/// What a model does with a prompt and with texts.
extension TryCommand {
    static func use(
        _ target: ModelPlace, _ request: Request, _ report: inout TryReport, _ context: Context
    ) async throws {
        let texts = try await texts(request.texts, context)
        var scored: String?
        if let file = request.perplexity { scored = try await text(file, context) }
        let model = try await open(target, request, &report, context)
        let task = try task(of: model, request, report)
        if let query = request.query {
            try await rank(request.rankedTexts + texts, for: query, model, request, &report)
        } else if request.embeds || task == .embedding && request.prompt != nil {
            let prompt = task == .embedding ? request.prompt.map { [$0] } ?? [] : []
            try await embed(prompt + request.embed + texts, model, request, &report)
        }
        if let prompt = request.prompt {
            switch task {
            case .textGeneration: try await generate(prompt, model, request, &report, context)
            case .embedding: break
            default: try await answer(prompt, task, model, request, &report)
            }
        }
        if let scored {
            report.perplexity = try await model.perplexity(of: scored, tokenLimit: request.perplexityTokens)
        }
        report.show(context)
    }

    /// Opens a model, reading its folder once.
    static func open(
        _ target: ModelPlace, _ request: Request, _ report: inout TryReport, _ context: Context
    ) async throws -> LanguageModel {
        let folder = try await ModelFolder.read(target.path)
        report.read = folder.inspection
        context.output.document(report.json)
        if folder.forecasts { throw forecasts(request, report) }
        if folder.sees, !folder.readsTexts { throw sees(request, report) }
        do throws(AIError) {
            let model = try await folder.open(request.options)
            report.context = model.context
            report.opening = SmokeTest.openingChecks(model)
            if let beside = model.beside { context.output.warning("\(report.id): \(beside)") }
            context.output.document(report.json)
            return model
        } catch {
            throw try ModelPlace.refusal(of: target, folder.inspection, because: error, context)
        }
    }

    // MARK: Text

    private static func generate(
        _ prompt: String, _ model: LanguageModel, _ request: Request, _ report: inout TryReport, _ context: Context
    ) async throws {
        // A conversation that the template rejects is reported before a weight is read.
        let rendered = try await rendering(ofPrompt: prompt, request, report.path, context)
        let config = try config(model, request, report)
        report.isGreedy = config.isGreedy
        do {
            try await generate(prompt, rendered, config, model, request, &report, context)
        } catch let error as AIError { throw error.advisingOnPrompt }
    }

    private static func generate(
        _ prompt: String, _ rendered: String?, _ config: GenerateConfig, _ model: LanguageModel, _ request: Request,
        _ report: inout TryReport, _ context: Context
    ) async throws {
        let text = rendered ?? prompt
        if request.logits {
            report.logits = try await model.logits(
                prompt: text, addsSpecialTokens: rendered == nil, translation: config.translation)
        }
        // The prompt stands before what continues it: what is refused prints nothing.
        var isShown = false
        for try await chunk in model.generate(
            prompt: text, addsSpecialTokens: rendered == nil, config: config)
        {
            if !isShown { show(prompt: prompt, context) }
            isShown = true
            if !chunk.text.isEmpty { context.output.stream(chunk.text) }
            if let token = TokenLog(chunk, model.tokenizer) { report.logprobs.append(token) }
            if let result = chunk.result { report.generation = result }
        }
        context.output.stream("\n")
        if report.generation?.finishReason == .cancelled { throw CancellationError() }
    }

    private static func show(prompt: String, _ context: Context) {
        for line in prompt.split(separator: "\n", omittingEmptySubsequences: false) {
            context.output.row(Styled(String(line), .faint))
        }
    }

    /// A translation is the likeliest one unless flags say otherwise.
    private static func config(_ model: LanguageModel, _ request: Request, _ report: TryReport) throws(AIError)
        -> GenerateConfig
    {
        var config = request.config
        guard model.translates || config.translation != nil else { return config }
        let languages = model.languages.sorted()
        if config.translation == nil, languages.count > 1, !request.raw {
            throw AIError(
                .invalidInput, "\(report.id) translates to \(languages.count) languages",
                advice: "choose one with --to: \(languages.joined(separator: ", "))")
        }
        if !request.samples { (config.temperature, config.topP) = (0, nil) }
        return config
    }

    // MARK: Vectors

    private static func embed(
        _ texts: [String], _ model: LanguageModel, _ request: Request, _ report: inout TryReport
    ) async throws {
        guard model.embeds else {
            throw AIError(
                .unsupportedModel, "\(report.id) does not embed: it has no modules.json, which says how",
                advice: "hub search --task sentence-similarity finds models that do",
                context: .init(path: report.path))
        }
        guard !texts.isEmpty else { throw AIError(.invalidInput, "there is no text to embed") }
        let all = try await model.embed(
            texts + (request.similar.map { [$0] } ?? []), options: request.embedding)
        report.embeddings = zip(texts, all).map { ($0, $1) }
        guard request.similar != nil, let query = all.last else { return }
        report.similar = report.embeddings.map { ($0.text, $0.result.cosineSimilarity(to: query) ?? 0) }
            .enumerated()
            // The first of equals first.
            .sorted { ($1.element.1, $0.offset) < ($0.element.1, $1.offset) }.map(\.element)
    }
}

extension AIError {
    /// The same of one prompt, where there is no conversation to begin anew.
    var advisingOnPrompt: AIError {
        guard code == .contextFull else { return self }
        var error = self
        error.specificAdvice = "shorten the prompt, or allow a longer --context if the model has one"
        return error
    }
}
