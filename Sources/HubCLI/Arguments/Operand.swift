/// A word that is not a flag.
struct Operand: Sendable {
    /// How many words it takes.
    enum Count: Sendable { case one, optional, some, any }

    /// What completes it.
    enum Kind: Sendable, Hashable {
        case text
        /// A model, or a file of one.
        case model
        /// A model that the cache holds.
        case cachedModel
        /// A model, or a folder.
        case modelOrFolder
        /// A model that the cache holds, or a folder.
        case cachedModelOrFolder
        case file
        case folder
        /// An alias of the registry.
        case alias
        /// A token that has a name.
        case storedToken
        /// A conversation that is kept.
        case conversation
        /// A model in the trash.
        case trashed
        /// A command, or a topic of help.
        case page
        case choice([String])

        /// Whether the word is one of its choices.
        func takes(_ word: String) -> Bool {
            if case .choice(let words) = self { words.contains(word) } else { false }
        }

        var isModel: Bool {
            [.model, .cachedModel, .modelOrFolder, .cachedModelOrFolder, .trashed].contains(self)
        }
        var takesFolder: Bool { [.folder, .modelOrFolder, .cachedModelOrFolder].contains(self) }
    }

    var name: String
    var count: Count
    var kind: Kind

    init(_ name: String, _ count: Count, _ kind: Kind) {
        self.name = name
        self.count = count
        self.kind = kind
    }

    /// `REF`, `[QUERY]`, `REF...`, `[REF]...`.
    var usage: String {
        switch count {
        case .one: name
        case .optional: "[\(name)]"
        case .some: "\(name)..."
        case .any: "[\(name)]..."
        }
    }
}
