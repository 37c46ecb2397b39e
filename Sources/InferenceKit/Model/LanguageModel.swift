public import HubChatTemplates
public import HubCore
public import HubTokenizers
import ModelFormats

/// A text model on the CPU, from a folder; no network, no database.
///
/// Weights stay mapped from the file and are shared with other processes; activations are float32. Calls on one model
/// run one after another on its own thread.
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

    private let model: LoadedModel
    private let queue: ComputeQueue

    private init(_ model: LoadedModel, _ inspection: ModelInspection, _ queue: ComputeQueue) {
        self.model = model
        self.inspection = inspection
        self.queue = queue
        tokenizer = model.tokenizer
        context = model.context
        loadSeconds = model.loadSeconds
        threads = model.decoder.team.threads
        instructionSet = model.decoder.team.instructionSet
    }

    /// Opens a model folder; it may be a snapshot of the cache, made of links.
    ///
    /// - Throws: Before any weight is read: ``ErrorCode/unsupportedModel`` naming everything that is not implemented,
    ///   ``ErrorCode/malformedModel`` for a broken file or a missing tensor, ``ErrorCode/insufficientMemory`` with
    ///   figures, ``ErrorCode/fileNotFound`` if there is no folder, ``ErrorCode/invalidInput`` for the options.
    public static func open(folder: String, options: ModelOptions = ModelOptions()) async throws(AIError)
        -> LanguageModel
    {
        let queue = ComputeQueue()
        return try await queue.run { isCancelled throws(AIError) in
            let reading = try FolderReading(folder)
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            return LanguageModel(try LoadedModel(reading, options: options), ModelInspection(reading), queue)
        }
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
        generate(addsSpecialTokens, config) { prompt }
    }

    /// Generates the assistant's next turn of a conversation; see ``prompt(for:_:)``.
    ///
    /// Nothing runs until the stream is iterated. Errors of the template come there too.
    public func generate(
        messages: [Message], _ options: ChatTemplate.Options = ChatTemplate.Options(),
        config: GenerateConfig = .default
    ) -> GenerationStream {
        let folder = inspection.folder
        return generate(false, config) { () throws(AIError) in try Self.prompt(messages, options, folder) }
    }

    private func generate(
        _ addsSpecialTokens: Bool, _ config: GenerateConfig,
        prompt: @escaping @Sendable () throws(AIError) -> String
    ) -> GenerationStream {
        let seed = config.seed ?? UInt64.random(in: .min ... .max)
        return GenerationStream { [model, queue] in
            let job = GenerationJob()
            queue.start {
                job.end(
                    Result { () throws(AIError) in
                        var run = GenerationRun(
                            model: model, prompt: try prompt(), addsSpecialTokens: addsSpecialTokens,
                            config: config,
                            seed: seed, job: job)
                        return try run.run()
                    })
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
        let folder = inspection.folder
        // A template may take seconds before it hits its limits.
        return try await queue.run { _ throws(AIError) in try Self.prompt(messages, options, folder) }
    }

    private static func prompt(
        _ messages: [Message], _ options: ChatTemplate.Options, _ folder: String
    ) throws(AIError) -> String {
        guard let templates = try ChatTemplates.read(model: folder) else {
            throw .unsupported(folder, "the model has no chat template")
        }
        return try templates.render(json: messages.map(\.json), options).text
    }

    /// The logits of the position after a prompt, one for each token of the vocabulary.
    ///
    /// - Parameter addsSpecialTokens: see ``generate(prompt:addsSpecialTokens:config:)``.
    /// - Throws: ``ErrorCode/invalidInput`` for a prompt without tokens or longer than the context,
    ///   ``ErrorCode/cancelled``.
    public func logits(prompt: String, addsSpecialTokens: Bool = true) async throws(AIError) -> [Float] {
        try await queue.run { [model] isCancelled throws(AIError) in
            let ids = try model.promptIDs(prompt, addsSpecialTokens)
            let sequence = model.sequence(capacity: ids.count)
            guard let logits = model.prefill(ids[...], sequence, cancelled: isCancelled) else {
                throw AIError(.cancelled, "interrupted")
            }
            return Array(logits)
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
        try await queue.run { [model] isCancelled throws(AIError) in
            try Perplexity(of: text, tokenLimit: tokenLimit, model: model, isCancelled: isCancelled)
        }
    }
}
