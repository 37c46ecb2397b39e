public import HubCore
import HubTokenizers
import Libc
import ModelFormats

extension LanguageModel {
    /// How the mask is written in a text; nil for a model that has none. `[MASK]` and `<mask>` are understood as well.
    public var mask: String? { model.mask?.spelling }

    /// Whether a text has a mask.
    public func hasMask(_ text: String) -> Bool {
        guard let mask = model.mask else { return false }
        return mask.written(in: text).contains(mask.spelling)
    }

    /// The likeliest words behind each mask of a text, likeliest first.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model that fills no masks, ``ErrorCode/invalidInput`` for a text
    ///   without a mask or longer than the model takes, ``ErrorCode/cancelled``.
    public func fill(_ text: String, count: Int = 5) async throws(AIError) -> [[MaskCandidate]] {
        guard task == .fillMask else { throw mismatch("it fills no masks") }
        guard let mask = model.mask else {
            throw .unsupported(inspection.folder, "the tokenizer has no token for masks")
        }
        return try await model.scheduler.alone { [model] workspace, isCancelled throws(AIError) in
            let read = try model.tokenized(mask.written(in: text), cutting: nil)
            let places = read.ids.indices.filter { read.ids[$0] == mask.id }
            guard !places.isEmpty else {
                throw AIError(.invalidInput, "the text has no \(mask.spelling), in whose place words are sought")
            }
            var run = EncoderRun(model.computation, workspace)
            let outputs = try run.outputs([model.input(read)], at: [places], isCancelled: isCancelled)[0]
            return places.indices.map { place in
                outputs[place * model.vocabulary..<(place + 1) * model.vocabulary].withUnsafeBufferPointer {
                    Self.candidates($0, count, model.tokenizer)
                }
            }
        }
    }

    private static func candidates(_ logits: Logits, _ count: Int, _ tokenizer: Tokenizer) -> [MaskCandidate] {
        let probabilities = Logprobs(logits)
        return probabilities.top(max(0, count)).map { id in
            MaskCandidate(token: tokenizer.decode([id]), id: id, probability: exp(probabilities[id]))
        }
    }
}
