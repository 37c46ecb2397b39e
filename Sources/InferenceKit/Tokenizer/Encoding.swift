/// What a tokenizer makes of a text, token by token.
public struct Encoding: Sendable, Hashable {
    /// One token and where it comes from.
    public struct Token: Sendable, Hashable {
        /// Its id.
        public var id: Int
        /// 0 or 1: what tells models which text of a pair it belongs to.
        public var typeID: Int
        /// The bytes of the text, as UTF-8, that it stands for; empty for a token that was added.
        public var range: Range<Int>
        /// Which piece of the text it is of; nil for a token that was added.
        public var word: Int?
        /// Which text of a pair it is of; nil for a token that was added.
        public var sequence: Int?
        /// Whether it was put there by the tokenizer's post-processor or as padding.
        public var isSpecial = false
        /// Whether it only fills up.
        public var isPadding = false
        /// What an added token was found as, white space and all.
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
