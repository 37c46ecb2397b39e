public import HubChatTemplates
public import HubCore
public import HubTokenizers
import ModelFormats

/// A text model on the CPU, from a folder; no network, no database.
///
/// Weights stay mapped from the file and are shared with other processes. Texts that are generated at the same time share
/// the model's passes; the model has one thread of its own, beside those it computes with.
public final class LanguageModel: Sendable {
    /// The folder's metadata.
    public let inspection: ModelInspection
    /// Its tokenizer.
    public let tokenizer: Tokenizer
    /// Maximum number of positions of a text, prompt included.
    public let context: Int
    /// Seconds that opening took.
    public let loadSeconds: Double
    /// Threads it computes with.
    public let threads: Int
    /// The kernels in use: `avx512`, `avx2`, `neon` or `scalar`.
    public let instructionSet: String

    /// Whether activations are float32 and weights dequantised.
    public let isExact: Bool
    /// How keys and values are cached.
    public var cacheFormat: KeyValueFormat { model.cacheFormat }

    let model: LoadedModel
    /// Renders and tokenizes prompts; the model's own thread only computes.
    private let queue = ComputeQueue()

    init(_ model: LoadedModel, _ inspection: ModelInspection, _ options: ModelOptions) {
        self.model = model
        self.inspection = inspection
        isExact = options.isExact
        tokenizer = model.tokenizer
        context = model.context
        loadSeconds = model.loadSeconds
        threads = model.team.threads
        instructionSet = model.team.instructionSet
    }

    /// What it is for.
    public var task: ModelTask { model.task }
    /// All that it can do, what it is for first.
    public var tasks: [ModelTask] {
        switch task {
        case .embedding: return [task, .ranking]
        // Its output is a label as well.
        case .ranking where model.interaction != nil: return [task]
        case .ranking: return [task, .classification] + (embeds ? [.embedding] : [])
        default: return [task] + (embeds ? [.embedding] : [])
        }
    }
    /// Whether it is made for translations.
    public var translates: Bool { model.translates }
    /// The languages that it translates to, as it calls them; empty for a model for one, or for other things.
    public var languages: [String] { model.targets }
    /// Whether it generates text: a decoder with a head.
    public var generates: Bool { model.generates }

    /// A clause that names stored tensors which the model does not use, such as
    /// `tensor "v_head.summary.weight" is not used`; nil if it uses all.
    public var beside: String? {
        guard let first = model.model.beside.first else { return nil }
        let more = model.model.beside.count - 1
        return "tensor \"\(first.printable)\"\(more > 0 ? " and \(more) more are" : " is") not used"
    }

    /// Opens a model folder; it may be a snapshot of the cache, made of links.
    ///
    /// - Throws: Before any weight is read: ``ErrorCode/unsupportedModel`` naming everything that is not implemented,
    ///   ``ErrorCode/malformedModel`` for a broken file or a missing tensor, ``ErrorCode/insufficientMemory`` with
    ///   figures, ``ErrorCode/fileNotFound`` if there is no folder, ``ErrorCode/invalidInput`` for the options.
    public static func open(folder: String, options: ModelOptions = ModelOptions()) async throws(AIError)
        -> LanguageModel
    {
        try await ModelFolder.read(folder).open(options)
    }

    /// Generates from a prompt taken as it is.
    ///
    /// Nothing runs until the stream is iterated. Errors of the prompt and the configuration come there too.
    ///
    /// - Parameter addsSpecialTokens: Whether the tokenizer's own post-processor adds them; a prompt from
    ///   ``prompt(for:_:)`` already has them.
    public func generate(
        prompt: String, addsSpecialTokens: Bool = true, config: GenerateConfig = .default
    ) -> GenerationStream {
        generate(addsSpecialTokens, config) { (prompt, nil) }
    }

    /// Generates the assistant's next turn of a conversation; see ``prompt(for:_:)``.
    ///
    /// Nothing runs until the stream is iterated. Errors of the template come there too.
    public func generate(
        messages: [Message], _ options: ChatTemplate.Options = ChatTemplate.Options(),
        config: GenerateConfig = .default
    ) -> GenerationStream {
        generate(messages: messages, options, nil, config: config)
    }

    /// The same with chat templates in place of the model's own.
    func generate(
        messages: [Message], _ options: ChatTemplate.Options, _ templates: ChatTemplates?, config: GenerateConfig
    ) -> GenerationStream {
        generate(false, config) { [tokenizer, folder = inspection.folder] () throws(AIError) in
            (try Self.prompt(messages, options, templates, folder, tokenizer), nil)
        }
    }

    /// Generates the answer to a prompt that ``chatPrompt(for:_:_:)`` made, and reads it.
    func generate(_ prompt: ChatPrompt, config: GenerateConfig) -> GenerationStream {
        let constraint = config.constraint ?? prompt.constraint
        return generate(false, config.constraint(constraint)) { (prompt.text, prompt.reading) }
    }

    /// A conversation as a prompt, with how its answer is read.
    ///
    /// - Parameter templates: the chat templates; nil for the model's own.
    /// - Throws: What ``ChatPrompt/init(_:_:templates:folder:tokenizer:)`` throws.
    func chatPrompt(
        for messages: [Message], _ options: ChatOptions, _ templates: ChatTemplates? = nil
    ) async throws(AIError) -> ChatPrompt {
        try await queue.run { [tokenizer, folder = inspection.folder] _ throws(AIError) in
            try ChatPrompt(messages, options, templates: templates, folder: folder, tokenizer: tokenizer)
        }
    }

    /// The prompt that a conversation is rendered to.
    ///
    /// - Throws: What ``LocalModel/stream(messages:options:config:)`` throws of the conversation.
    package func prompt(for messages: [Message], _ options: ChatOptions) async throws(AIError) -> String {
        try await chatPrompt(for: messages, options).text
    }

    private func generate(
        _ addsSpecialTokens: Bool, _ config: GenerateConfig,
        prompt: @escaping @Sendable () throws(AIError) -> (text: String, reading: AnswerReading?)
    ) -> GenerationStream {
        let seed = config.seed ?? UInt64.random(in: .min ... .max)
        return GenerationStream { [model, queue] in
            let job = GenerationJob()
            queue.start {
                do throws(AIError) {
                    let (text, reading) = try prompt()
                    model.scheduler.add(
                        try GenerationRun(
                            model: model, prompt: text, addsSpecialTokens: addsSpecialTokens, config: config,
                            seed: seed, reading: reading, job: job))
                } catch {
                    job.end(.failure(error))
                }
            }
            return job
        }
    }

    /// A conversation rendered by the model's chat template; special tokens must not be added to it.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model without a chat template, and what
    ///   ``ChatTemplates/read(model:)`` and ``ChatTemplates/render(json:_:)`` throw.
    public func prompt(
        for messages: [Message], _ options: ChatTemplate.Options = ChatTemplate.Options()
    ) async throws(AIError) -> String {
        // A template may take seconds before it hits its limits.
        try await queue.run { [tokenizer, folder = inspection.folder] _ throws(AIError) in
            try Self.prompt(messages, options, nil, folder, tokenizer)
        }
    }

    private static func prompt(
        _ messages: [Message], _ options: ChatTemplate.Options, _ templates: ChatTemplates?, _ folder: String,
        _ tokenizer: Tokenizer
    ) throws(AIError) -> String {
        guard messages.allSatisfy({ $0.images.isEmpty }) else {
            throw AIError(
                .unsupportedModel, "\(folder): pictures are not read on this machine", context: .init(path: folder))
        }
        let chosen = if let templates { templates } else { try ChatTemplates.read(model: folder) }
        guard let templates = chosen else {
            throw .unsupported(folder, "the model has no chat template")
        }
        let template = try templates.template(hasTools: options.tools != nil)
        var options = options
        for (name, token) in templates.specialTokens.members where options.variables[name] == nil {
            options.variables[name] = token
        }
        let format = AnswerFormat(template: template.source, tokenizer: tokenizer)
        return try TemplateMessages.render(messages, template, format, options).text
    }

    /// The logits of the position after a prompt, one for each token of the vocabulary.
    ///
    /// - Parameters:
    ///   - addsSpecialTokens: see ``generate(prompt:addsSpecialTokens:config:)``.
    ///   - translation: the languages of a model that translates.
    /// - Throws: ``ErrorCode/invalidInput`` for a prompt without tokens, ``ErrorCode/contextFull`` for one longer than the
    ///   context, ``ErrorCode/generationFailed`` if a logit is NaN or infinite, ``ErrorCode/cancelled``.
    public func logits(
        prompt: String, addsSpecialTokens: Bool = true, translation: Translation? = nil
    ) async throws(AIError) -> [Float] {
        try await model.scheduler.alone { [model] workspace, isCancelled throws(AIError) in
            try model.checkGenerates()
            let (source, ids) =
                if let translation { try model.start(prompt, translation) } else {
                    try model.start(prompt, addsSpecialTokens)
                }
            var last: [Float] = []
            try model.session().run(
                anew: [RowInput](tokens: ids), answering: [RowInput](tokens: source), workspace,
                logitsFrom: ids.count - 1, isCancelled: isCancelled
            ) {
                last = Array($1)
            }
            return try last.checkedFinite()
        }
    }

    /// The perplexity of a text; see ``Perplexity``.
    ///
    /// - Parameters:
    ///   - text: Tokenized without special tokens; its tokens are scored in chunks.
    ///   - tokenLimit: Maximum number of scored tokens; nil for all.
    /// - Throws: ``ErrorCode/invalidInput`` for a text without tokens, ``ErrorCode/unsupportedModel`` for a model
    ///   without a beginning token, ``ErrorCode/cancelled``.
    public func perplexity(of text: String, tokenLimit: Int? = nil) async throws(AIError) -> Perplexity {
        try await model.scheduler.alone { [model] workspace, isCancelled throws(AIError) in
            try model.checkGenerates()
            return try Perplexity(
                of: text, tokenLimit: tokenLimit, model: model, workspace, isCancelled: isCancelled)
        }
    }
}
