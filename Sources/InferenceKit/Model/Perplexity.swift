import HubCore
import HubTokenizers
import Libc
import ModelFormats

/// The perplexity of a text: e to the mean negative log-likelihood of its tokens.
///
/// The text's tokens go through the model 256 at a time, each chunk after the beginning token only; every token of the
/// text is scored once.
public struct Perplexity: Sendable, Hashable {
    /// The mean negative log-likelihood of a token, in nats.
    public let meanNegativeLogLikelihood: Double
    /// The number of scored tokens.
    public let tokensScored: Int
    /// e to the mean.
    public var perplexity: Double { exp(meanNegativeLogLikelihood) }

    /// Tokens of the text in one chunk.
    private static let chunk = 256

    init(
        of text: String, tokenLimit: Int?, model: LoadedModel, _ workspace: Workspace, isCancelled: () -> Bool
    ) throws(AIError) {
        guard model.model.description.encoder == nil else {
            throw .unsupported(
                model.configuration.path, "perplexity needs a decoder alone; this model has an encoder")
        }
        guard let bos = model.configuration.bosIDs.first else {
            throw .unsupported(
                model.configuration.path, "perplexity needs bos_token_id, which the model does not have")
        }
        guard tokenLimit ?? 1 >= 1 else {
            throw AIError(.invalidInput, "the number of tokens to score must be at least 1")
        }
        let ids = try model.tokenizer.encode(text, addSpecialTokens: false).prefix(tokenLimit ?? .max)
        guard !ids.isEmpty else { throw AIError(.invalidInput, "the text has no tokens") }
        try model.checkEmbedded([bos] + ids)
        let size = min(Self.chunk, model.context)
        let session = model.session()
        var sum = 0.0
        var rest = ids
        while !rest.isEmpty {
            let targets = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            // The last token is only predicted, never fed.
            let inputs = [bos] + targets.dropLast()
            try session.run(anew: [RowInput](tokens: inputs), workspace, logitsFrom: 0, isCancelled: isCancelled) {
                row, logits in
                sum -= Logprobs(logits)[targets[row]]
            }
        }
        guard sum.isFinite else {
            throw .notFinite
        }
        meanNegativeLogLikelihood = sum / Double(ids.count)
        tokensScored = ids.count
    }
}
