import HubCore
import HubTokenizers
import ModelFormats

/// A model that is ready to run: weights mapped, tokenizer read.
struct LoadedModel: Sendable {
    let computation: Computation
    let scheduler: Scheduler
    /// Where it computes; a side that reads pictures does, too.
    let queue: ComputeQueue
    // Used on the scheduler's thread alone.
    nonisolated(unsafe) let sessions: SessionPool
    let tokenizer: Tokenizer
    let configuration: ModelConfiguration
    let eosIDs: Set<Int>
    /// What holds texts to grammars.
    let grammars: GrammarEngines
    /// What an answer to an encoder's text begins with.
    let answerStart: [Int]
    /// Tokens that no answer has, by `bad_words_ids`.
    let banned: [Int]
    /// How texts become vectors; nil for a model that does not embed.
    let sentences: SentenceModules?
    let sentenceLayers: SentenceLayers?
    /// How texts are compared by a vector of each token; nil for another model.
    let interaction: InteractionTokens?
    /// In whose place words are found; nil for a model for another task.
    let mask: MaskToken?
    /// How a reranker's output becomes a score; nil for another model.
    let rankScores: LabelScores?
    let loadSeconds: Double

    /// Maps and checks the files of a folder without obstacles.
    ///
    /// - Parameters:
    ///   - queue: where it computes.
    ///   - team: the threads of a side that reads pictures and is open on the same queue; nil for threads of its own.
    init(
        _ reading: FolderReading, options: ModelOptions, queue: ComputeQueue = ComputeQueue(),
        team: ComputeTeam? = nil
    ) throws(AIError) {
        let start = Clock.seconds
        self.queue = queue
        let runnable = try reading.runnable()
        guard let tokenizer = reading.tokenizer else {
            throw .unsupported(
                reading.folder,
                reading.sees
                    ? "the model reads pictures and no text"
                    : "the model forecasts series of numbers and reads no text")
        }
        let sentences = try reading.sentences()
        var d = runnable.description
        if sentences != nil { d = d.headless() }
        if sentences?.interaction != nil { d.task = .ranking }
        // By itself, the side of texts makes vectors of them.
        if d.tower != nil { d.task = .embedding }
        let context = try Self.context(d, options)
        d = d.limited(to: context)
        computation = try Computation(
            reading, d, runnable.names, runnable.weights, options, context: context, team: team)
        sessions = SessionPool(keeping: options.keptTexts) { [computation] in computation.session() }
        let usual = d.ending == nil ? SentenceModules.plain : SentenceModules.lastRow
        self.sentences = sentences ?? (d.task == .embedding || !d.isCausal ? usual : nil)
        sentenceLayers = try self.sentences.map { sentences throws(AIError) in
            try SentenceLayers(sentences, width: d.vectorWidth)
        }
        scheduler = Scheduler(computation.model, computation.workspace(isShared: options.isShared), queue)
        self.tokenizer = tokenizer
        grammars = GrammarEngines(tokenizer, vocabulary: d.vocabulary)
        configuration = runnable.configuration
        let folder = configuration.isGGUF ? nil : reading.folder
        mask = d.task == .fillMask ? try MaskToken(folder: folder, tokenizer) : nil
        interaction = try sentences?.interaction.map { settings throws(AIError) in
            try InteractionTokens(settings, tokenizer, ends: tokenizer.ends, folder: reading.folder)
        }
        rankScores =
            d.task == .ranking && interaction == nil
            ? try LabelScores(reranker: configuration, folder: folder) : nil
        let generation = try GenerationConfiguration.read(folder: reading.folder)
        eosIDs = tokenizer.ends.union(generation?.eosIDs ?? configuration.eosIDs)
        answerStart = try Self.answerStart(d, configuration, generation)
        banned = generation?.bannedIDs ?? configuration.bannedIDs
        loadSeconds = Clock.seconds - start + reading.seconds
        if case .filled(_, let usual) = d.ending { try checkEmbedded([tokenizer.padID ?? usual]) }
    }

    /// What an answer begins with: `decoder_start_token_id`, else the token that begins texts, then the token that is
    /// forced.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a model with an encoder that does not say.
    private static func answerStart(
        _ d: ModelDescription, _ configuration: ModelConfiguration, _ generation: GenerationConfiguration?
    ) throws(AIError) -> [Int] {
        guard d.encoder != nil else { return [] }
        guard let start = generation?.decoderStartID ?? configuration.decoderStartID ?? configuration.bosIDs.first
        else {
            throw .malformed(configuration.path, "it has no decoder_start_token_id")
        }
        guard d.task == .textGeneration else { return [start] }
        return [start] + [generation?.forcedBosID ?? configuration.forcedBosID].compactMap { $0 }
    }

    /// 4,096 positions unless more are requested: the cache of a long context can be larger than the weights.
    static func context(_ description: ModelDescription, _ options: ModelOptions) throws(AIError) -> Int {
        if case .filled(let count, _) = description.ending {
            guard options.isShared || options.context ?? count == count else {
                throw AIError(
                    .invalidInput,
                    "a context of \(options.context ?? 0) tokens is not possible: this model always reads \(count)")
            }
            return count
        }
        guard let asked = options.context else { return min(description.maxPositions, ModelOptions.defaultContext) }
        // A server opens every model with one limit; those that take fewer positions have their own.
        if options.isShared, asked > description.maxPositions { return description.maxPositions }
        guard (1...description.maxPositions).contains(asked) else {
            throw AIError(
                .invalidInput,
                "a context of \(asked) tokens is not possible: this model takes 1 to \(description.maxPositions)")
        }
        return asked
    }

    var vocabulary: Int { model.description.vocabulary }
    var model: Model { computation.model }
    var team: ComputeTeam { computation.team }
    var isExact: Bool { computation.isExact }
    var cacheFormat: KeyValueFormat { computation.cacheFormat }
    var context: Int { computation.context }
    var task: ModelTask { model.description.task }
    var generates: Bool { task == .textGeneration }
    var labels: LabelSettings? { model.description.labels }

    /// - Throws: ``ErrorCode/unsupportedModel`` for a model for another task.
    func checkGenerates() throws(AIError) {
        guard generates else {
            throw .unsupported(
                configuration.path, "the model generates no text: it is for \(model.description.task.rawValue)")
        }
    }

    /// The prompt's ids, with special tokens of the tokenizer's post-processor if requested.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a prompt without tokens, ``ErrorCode/contextFull`` for one longer than the
    ///   context, ``ErrorCode/malformedModel`` for an id that the model has no embedding for.
    func promptIDs(_ prompt: String, _ addsSpecialTokens: Bool) throws(AIError) -> [Int] {
        let ids = try tokenizer.encode(prompt, addSpecialTokens: addsSpecialTokens)
        guard !ids.isEmpty else { throw AIError(.invalidInput, "the prompt has no tokens") }
        guard ids.count <= context else {
            throw FullContext(ids.count, context).error(of: "the prompt")
        }
        try checkEmbedded(ids)
        return ids
    }

    /// What an encoder reads of a prompt, and what the decoder begins with; a decoder alone begins with the prompt.
    ///
    /// - Throws: What ``promptIDs(_:_:)`` throws.
    func start(_ prompt: String, _ addsSpecialTokens: Bool) throws(AIError) -> (source: [Int], ids: [Int]) {
        let ids = try promptIDs(prompt, addsSpecialTokens)
        guard model.description.encoder != nil else { return ([], ids) }
        try checkEmbedded(answerStart)
        return (ids, answerStart)
    }

    /// - Throws: ``ErrorCode/malformedModel`` for an id that the model has no embedding for.
    func checkEmbedded(_ ids: [Int]) throws(AIError) {
        guard let id = ids.first(where: { $0 >= vocabulary }) else { return }
        throw .malformed(
            configuration.path, "the tokenizer gives the id \(id); vocab_size is \(vocabulary)")
    }

    /// A text of its own, which nothing else uses.
    func session() -> Session { computation.session() }
}
