/// From which language a text is translated, and to which, as the model calls them: `fr`, `fra_Latn`, `French`.
public struct Translation: Sendable, Hashable {
    /// nil where the model finds out, or has a usual one.
    public var source: String?
    /// nil where the model has only one.
    public var target: String?

    /// The languages of a translation.
    public init(from source: String? = nil, to target: String? = nil) {
        (self.source, self.target) = (source, target)
    }
}
