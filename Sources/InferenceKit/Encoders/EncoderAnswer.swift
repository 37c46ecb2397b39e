/// What an encoder says of a text.
public enum EncoderAnswer: Sendable, Hashable {
    /// Other texts, best first.
    case ranking([RankedText])
    /// The labels of the text, best first.
    case labels([TextLabel])
    /// The label of each token.
    case tokens([TokenLabel])
    /// The likeliest words behind each mask.
    case masks([[MaskCandidate]])
}

/// What comes out of a model for a text, before it is made readable.
struct TextNumbers: Sendable, Hashable {
    /// The vector, or what the head gives.
    var values: [Float]
    /// Tokens that were read.
    var tokenCount: Int
}
