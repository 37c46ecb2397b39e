import HubCore

extension AIError {
    /// What a model computed is no answer.
    static let notFinite = AIError(
        .generationFailed, "the output has NaN or infinite values; the weights may be damaged")
}

extension Collection where Element: BinaryFloatingPoint {
    /// These numbers, which somebody gets.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` if one is NaN or infinite.
    func checkedFinite() throws(AIError) -> Self {
        guard allSatisfy(\.isFinite) else { throw .notFinite }
        return self
    }
}
