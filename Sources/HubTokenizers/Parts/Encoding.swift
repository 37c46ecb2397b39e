/// The tokens of a text.
public struct Encoding: Sendable, Hashable {
    /// One token and its origin.
    public struct Token: Sendable, Hashable {
        /// Its id.
        public var id: Int
        /// 0 or 1: tells the model which text of a pair it belongs to.
        public var typeID: Int
        /// Its range in the text's UTF-8; empty for an inserted token.
        public var range: Range<Int>
        /// The index of its piece of the text; nil for an inserted token.
        public var word: Int?
        /// The index of its text in a pair; nil for an inserted token.
        public var sequence: Int?
        /// Whether the post-processor or padding inserted it.
        public var isSpecial = false
        /// Whether it is padding.
        public var isPadding = false
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
    public internal(set) var tokens: [Token]

    /// Their ids.
    public var ids: [Int] { tokens.map(\.id) }
}
