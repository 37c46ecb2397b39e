/// The tokens of a text with their origins.
package struct Encoding: Sendable, Hashable {
    /// One token and its origin.
    package struct Token: Sendable, Hashable {
        /// Its id.
        package var id: Int
        /// 0 or 1: tells the model which text of a pair it belongs to.
        package var typeID: Int
        /// Its range in the text's UTF-8; empty for an inserted token.
        package var range: Range<Int>
        /// The index of its piece of the text; nil for an inserted token.
        package var word: Int?
        /// The index of its text in a pair; nil for an inserted token.
        package var sequence: Int?
        /// Whether the post-processor or padding inserted it.
        package var isSpecial = false
        /// Whether it is padding.
        package var isPadding = false
        /// The matched text of an added token, white space included.
        var found: [UInt8]?

        init(id: Int, typeID: Int, range: Range<Int> = 0..<0, word: Int? = nil, sequence: Int? = nil) {
            self.id = id
            self.typeID = typeID
            self.range = range
            self.word = word
            self.sequence = sequence
        }
    }

    /// The tokens.
    package internal(set) var tokens: [Token]

    /// Their ids.
    package var ids: [Int] { tokens.map(\.id) }
}
