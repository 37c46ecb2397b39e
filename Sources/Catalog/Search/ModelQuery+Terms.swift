public import HubCore

extension ModelQuery {
    /// A query as a person types it: words, and terms such as `author:google` or `tag:"text to speech"`.
    ///
    /// - Throws: as ``take(terms:)``.
    public init(parsing text: String) throws(AIError) {
        self.init()
        try take(terms: text)
    }

    /// Adds words and terms to the existing conditions.
    ///
    /// The terms are `author:`, `task:`, `library:`, `license:`, `tag:`, `capability:` and `format:`, in any case; only
    /// `tag:` may come more than once. A value with spaces is double-quoted, and so are words that only look like a
    /// term. The Hub's own tags with a colon (`dataset:squad`, `base_model:org/name`, `arxiv:2310.06825`) are tags here
    /// too. Anything else with a colon is a word.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a term with a missing or invalid value, a misspelled term, an unclosed
    ///   quotation mark, and values that exclude each other.
    public mutating func take(terms text: String) throws(AIError) {
        var rest = text[...]
        var words: [String] = []
        while true {
            rest = rest.drop(while: \.isWhitespace)
            guard let first = rest.first else { break }
            if first == "\"" {
                words.append(try Self.takeQuoted(&rest))
                continue
            }
            let name = rest.prefix { !$0.isWhitespace && $0 != ":" && $0 != "\"" }
            guard rest[name.endIndex...].first == ":", let term = try Term(name) else {
                words.append(Self.takeWord(&rest))
                continue
            }
            rest = rest[name.endIndex...].dropFirst()
            let value = rest.first == "\"" ? try Self.takeQuoted(&rest) : Self.takeWord(&rest)
            guard value.contains(where: { !$0.isWhitespace }) else {
                throw AIError(.invalidInput, "\(name): has no value", advice: "write it like \(name):VALUE")
            }
            try take(term, value, named: name)
        }
        self.text = ([self.text] + words).filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The names before the colon.
    private enum Term: String, CaseIterable {
        case author, task, library, license, tag, capability, format
        /// A prefix of the Hub's own tags with a colon.
        case namespace

        /// The prefixes of the Hub's tags, except `license`.
        private static let namespaces: Set<String> = [
            "arxiv", "base_model", "dataset", "deploy", "diffusers", "doi", "region",
        ]

        /// nil for a word like any other.
        ///
        /// - Throws: ``ErrorCode/invalidInput`` if it is a misspelled term.
        init?(_ name: Substring) throws(AIError) {
            let lower = name.lowercased()
            if let term = Term(rawValue: lower), term != .namespace {
                self = term
            } else if Self.namespaces.contains(lower) {
                self = .namespace
            } else if lower.utf8.count >= 4,
                let near = Term.allCases.first(where: {
                    $0 != .namespace && EditDistance.between(Array(lower.utf8), Array($0.rawValue.utf8)) == 1
                })
            {
                throw AIError(
                    .invalidInput, "unknown term \(String(name).printable):, did you mean \(near.rawValue):?",
                    advice: "put words that look like a term in double quotes")
            } else {
                return nil
            }
        }
    }

    private mutating func take(_ term: Term, _ value: String, named name: Substring) throws(AIError) {
        switch term {
        case .author: try Self.set(&author, value, "author")
        case .task: try Self.set(&task, value, "task")
        case .library: try Self.set(&library, value, "library")
        case .license: try Self.set(&license, value, "license")
        case .tag: add(tag: value)
        case .namespace: add(tag: "\(name.lowercased()):\(value)")
        case .format:
            let format = try Self.choice(value, of: Self.formats, "format")
            try Self.set(&self.format, format, "format")
        case .capability:
            let name = try Self.choice(value, of: ModelCapability.allCases.map(\.rawValue), "capability")
            var known = capability?.rawValue
            try Self.set(&known, name, "capability")
            capability = ModelCapability(rawValue: name)
        }
    }

    private mutating func add(tag: String) {
        if !tags.contains(tag) { tags.append(tag) }
    }

    private static func set(_ condition: inout String?, _ value: String, _ what: String) throws(AIError) {
        if let old = condition, old != value {
            throw AIError(
                .invalidInput,
                "\(what) \"\(old.printable)\" and \(what) \"\(value.printable)\" exclude each other: leave one out")
        }
        condition = value
    }

    private static func choice(_ value: String, of choices: [String], _ what: String) throws(AIError) -> String {
        let lower = value.lowercased()
        guard choices.contains(lower) else {
            throw AIError(
                .invalidInput, "\"\(value.printable)\" is not a known \(what)",
                advice: "\(what): takes \(choices.joined(separator: ", "))")
        }
        return lower
    }

    private static func takeWord(_ rest: inout Substring) -> String {
        let word = rest.prefix { !$0.isWhitespace }
        rest = rest[word.endIndex...]
        return String(word)
    }

    /// Reads a quoted text.
    private static func takeQuoted(_ rest: inout Substring) throws(AIError) -> String {
        let inner = rest.dropFirst()
        guard let end = inner.firstIndex(of: "\"") else {
            throw AIError(.invalidInput, "the closing quotation mark of \(String(rest).printable) is missing")
        }
        rest = inner[end...].dropFirst()
        return String(inner[..<end])
    }
}
