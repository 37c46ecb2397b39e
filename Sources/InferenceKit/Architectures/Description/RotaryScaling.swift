extension ModelDescription.Rotary {
    /// How the frequencies are changed for a context longer than the model was trained with.
    /// https://github.com/huggingface/transformers/blob/main/src/transformers/modeling_rope_utils.py
    enum Scaling: Sendable, Hashable {
        case none
        /// Divided by a factor.
        case linear(factor: Double)
        /// The base grows with the length of the text, once it exceeds the original positions.
        case dynamic(factor: Double, originalPositions: Int)
        /// As in Llama 3.1: divided by `factor` where a turn takes more than `originalPositions / lowFrequencyFactor`
        /// positions, unchanged where it takes fewer than `originalPositions / highFrequencyFactor`, blended between.
        case llama3(factor: Float, lowFrequencyFactor: Float, highFrequencyFactor: Float, originalPositions: Int)
        /// Blended by the number of turns in the original positions (https://arxiv.org/abs/2309.00071).
        ///
        /// - Parameter attention: factor of cosines and sines.
        case yarn(
            factor: Double, originalPositions: Int, fast: Double, slow: Double, attention: Double, isTruncated: Bool
        )
        /// A divisor for each pair, other ones for texts longer than the original positions
        /// (https://arxiv.org/abs/2402.13753).
        ///
        /// - Parameter attention: factor of cosines and sines.
        case long(short: [Double], long: [Double], originalPositions: Int, attention: Double)

        /// The first pairs turn, the others do not; divided by a factor.
        case proportional(turning: Int, factor: Double)

        /// The length of text up to which positions are rotated alike, whatever follows; nil where any length is.
        var originalPositions: Int? {
            switch self {
            case .none, .linear, .llama3, .yarn, .proportional: nil
            case .dynamic(_, let positions), .long(_, _, let positions, _): positions
            }
        }
    }
}
