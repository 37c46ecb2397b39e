import HubCore
import HubTokenizers
import ModelFormats

/// A model that is ready to run: weights mapped, tokenizer read. Used on one thread at a time.
struct LoadedModel: Sendable {
    let decoder: Decoder
    let tokenizer: Tokenizer
    let configuration: ModelConfiguration
    let eosIDs: Set<Int>
    /// Maximum number of positions of a text, prompt included.
    let context: Int
    let loadSeconds: Double

    /// Maps and checks the files of a folder without obstacles.
    init(_ reading: FolderReading, options: ModelOptions) throws(AIError) {
        let start = Clock.seconds
        let runnable = try reading.runnable()
        context = try Self.context(runnable.description, options)
        let needed = reading.memory.bytes(context: context)
        let available: Int64
        if let given = options.availableMemory {
            available = given
        } else {
            available = try Machine.memory().available
        }
        guard needed <= available else {
            throw AIError(
                .insufficientMemory,
                "\(reading.folder) needs \(ByteCount(needed)) of memory with a context of \(context) tokens; "
                    + "\(ByteCount(available)) is available",
                advice: "close other programs, ask for a shorter context, or choose a smaller model",
                context: .init(path: reading.folder))
        }
        let team = try ComputeTeam(threads: options.threads)
        let weights = try DecoderWeights(runnable.description, runnable.weights)
        decoder = Decoder(runnable.description, weights, team)
        tokenizer = runnable.tokenizer
        configuration = runnable.configuration
        eosIDs = Set(try GenerationConfiguration.read(folder: reading.folder)?.eosIDs ?? configuration.eosIDs)
        loadSeconds = Clock.seconds - start + reading.seconds
    }

    /// 4,096 positions unless more are requested: the cache of a long context can be larger than the weights.
    static func context(_ description: DecoderDescription, _ options: ModelOptions) throws(AIError) -> Int {
        guard let asked = options.context else { return min(description.maxPositions, ModelOptions.defaultContext) }
        guard (1...description.maxPositions).contains(asked) else {
            throw AIError(
                .invalidInput,
                "a context of \(asked) tokens is not possible: this model takes 1 to \(description.maxPositions)")
        }
        return asked
    }

    /// The prompt's ids, with special tokens of the tokenizer's post-processor if requested.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a prompt without tokens or longer than the context,
    ///   ``ErrorCode/malformedModel`` for an id that the model has no embedding for.
    func promptIDs(_ prompt: String, _ addsSpecialTokens: Bool) throws(AIError) -> [Int] {
        let ids = try tokenizer.encode(prompt, addSpecialTokens: addsSpecialTokens)
        guard !ids.isEmpty else { throw AIError(.invalidInput, "the prompt has no tokens") }
        guard ids.count <= context else {
            throw AIError(.invalidInput, "the prompt has \(ids.count) tokens; the context has room for \(context)")
        }
        try checkEmbedded(ids)
        return ids
    }

    /// - Throws: ``ErrorCode/malformedModel`` for an id that the model has no embedding for.
    func checkEmbedded(_ ids: [Int]) throws(AIError) {
        guard let id = ids.first(where: { $0 >= decoder.description.vocabulary }) else { return }
        throw .malformed(
            configuration.path, "the tokenizer gives the id \(id); vocab_size is \(decoder.description.vocabulary)")
    }

    func sequence(capacity: Int) -> DecoderSequence {
        DecoderSequence(decoder.description, capacity: capacity, threads: decoder.team.threads)
    }

    /// Runs a prompt in batches; returns the logits of its last position, or nil if cancelled.
    func prefill(_ ids: ArraySlice<Int>, _ sequence: DecoderSequence, cancelled: () -> Bool) -> Logits? {
        var rest = ids
        while rest.count > sequence.batch {
            if cancelled() { return nil }
            _ = decoder.run(rest.prefix(sequence.batch), sequence, logits: .none)
            rest = rest.dropFirst(sequence.batch)
        }
        return cancelled() ? nil : decoder.run(rest, sequence, logits: .last)
    }
}
