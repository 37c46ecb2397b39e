import HubCore

extension AIError {
    /// A model's output has NaN or infinite values.
    static let notFinite = AIError(
        .generationFailed, "the output has NaN or infinite values; the weights may be damaged")
}

extension Collection where Element: BinaryFloatingPoint {
    /// These numbers, checked before a caller gets them.
    ///
    /// - Throws: ``ErrorCode/generationFailed`` if one is NaN or infinite.
    func checkedFinite() throws(AIError) -> Self {
        guard allSatisfy(\.isFinite) else { throw .notFinite }
        return self
    }
}
