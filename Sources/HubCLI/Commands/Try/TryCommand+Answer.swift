import HubCore
import InferenceKit

/// What encoders do with texts, and what they are not asked for.
extension TryCommand {
    /// What a model is to do: by the flags, else what it is for.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for flags that do not fit the model, saying what it is for.
    static func task(of model: LanguageModel, _ request: Request, _ report: TryReport) throws(AIError) -> ModelTask
    {
        let task = request.task ?? model.task
        func refusal(_ message: String, also: String? = nil) -> AIError {
            refuse(message, model, request, report, also: also)
        }
        guard model.tasks.contains(task) else { throw refusal("--task \(task.rawValue) does not fit") }
        if let tasks = request.tasks, let usual = tasks.first, !tasks.contains(task) {
            throw unsuited("\(request.command) is not for this model", usual.rawValue, model, request, report)
        }
        if request.config.translation != nil, !model.translates, model.languages.isEmpty {
            throw unsuited("this model does not translate", "translation", model, request, report)
        }
        if task != .textGeneration, let flag = request.generating.first(where: { $0 != "raw" }) {
            throw refusal("--\(flag) is for models that generate")
        }
        let makesVectors = task == .embedding || request.embeds
        if !makesVectors, let flag = request.vectorFlag { throw refusal("--\(flag) is about vectors") }
        if request.query != nil, ![.ranking, .embedding].contains(task) {
            let byCosine =
                "hub rank \(word(request)) --task \(ModelTask.embedding.rawValue) QUERY --texts FILE compares vectors"
            throw unsuited(
                "only rerankers and embedding models rank texts", "text-ranking", model, request, report,
                also: model.embeds ? byCosine : nil)
        }
        if !request.labels.isEmpty, !model.entails {
            throw refusal("--labels is for models for natural language inference, with a label for entailment")
        }
        if request.textPair != nil, !model.tasks.contains(.classification) {
            throw refusal("--text-pair is for models that give texts labels")
        }
        if model.task == .ranking, task == .ranking, request.texts != nil, request.query == nil,
            !request.asksForVectors
        {
            throw refusal("--texts needs --query")
        }
        if let prompt = request.prompt, task == .fillMask, let mask = model.mask, !model.hasMask(prompt) {
            let vector = "hub embed \(word(request)) TEXT gives the vector of a text"
            throw refusal("the PROMPT has no \(mask)", also: model.embeds ? vector : nil)
        }
        return task
    }

    /// - Throws: ``ErrorCode/unsupportedModel`` for a conversation with a model that does not generate.
    static func checkTalks(_ model: LanguageModel, _ request: Request, _ report: TryReport) throws(AIError) {
        guard !model.generates else { return }
        throw AIError(
            .unsupportedModel, "\(report.id) \(model.task.purpose); it does not answer",
            advice: model.task.example(request.model, mask: model.mask))
    }

    /// What does not fit, what the model is for, and a command that fits.
    private static func refuse(
        _ message: String, _ model: LanguageModel, _ request: Request, _ report: TryReport, also: String? = nil
    ) -> AIError {
        let example = model.task.example(request.model, mask: model.mask)
        return AIError(
            .invalidInput, "\(message); \(report.id) \(model.task.purpose)",
            advice: [example, also].compactMap { $0 }.joined(separator: "\n"))
    }

    /// A model for something else than the command, and where others are.
    private static func unsuited(
        _ message: String, _ task: String, _ model: LanguageModel, _ request: Request, _ report: TryReport,
        also: String? = nil
    ) -> AIError {
        AIError(
            .unsupportedModel, "\(message): \(report.id) \(model.task.purpose)",
            advice: ["hub search --task \(task) finds models that do", also].compactMap { $0 }
                .joined(separator: "\n"))
    }

    private static func word(_ request: Request) -> String { ShellQuoting.word(request.model) }

    // MARK: What is done

    static func rank(
        _ texts: [String], for query: String, _ model: LanguageModel, _ request: Request, _ report: inout TryReport
    ) async throws {
        guard !texts.isEmpty else { throw AIError(.invalidInput, "there is no text to rank") }
        let byCosine = request.task == .embedding || model.task == .embedding
        let ranking =
            byCosine
            ? try await model.rankByCosine(texts, for: query, options: request.embedding)
            : try await model.rank(texts, for: query)
        report.answer = (query, .ranking(ranking))
    }

    static func answer(
        _ prompt: String, _ task: ModelTask, _ model: LanguageModel, _ request: Request, _ report: inout TryReport
    ) async throws {
        switch task {
        case .fillMask: report.answer = (prompt, .masks(try await model.fill(prompt)))
        case .tokenClassification: report.answer = (prompt, .tokens(try await model.labelTokens([prompt])[0]))
        default:
            let labels =
                request.labels.isEmpty
                ? try await model.classify([TextPair(prompt, request.textPair)])[0]
                : try await model.classify(prompt, as: request.labels)
            report.answer = ([prompt, request.textPair].compactMap { $0 }.joined(separator: "\n"), .labels(labels))
        }
    }
}
