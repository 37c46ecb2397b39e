/// How a model is told from which language it translates, and to which.
enum Languages: Sendable, Hashable {
    /// A token before the text, `>>fra<<`, names that of the translation; a model for one language has none.
    case mark
    /// A token before the text or behind it names its language, and the first one of the answer that of the translation:
    /// `__fr__`, `fra_Latn`, or `fr_XX`.
    case tokens
    /// A phrase before the text names both.
    case phrases([Phrase])

    /// `translate English to German: `, by the names of the languages.
    struct Phrase: Sendable, Hashable {
        let source: String
        let target: String
        let text: String
    }
}
