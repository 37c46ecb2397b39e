/// What a mirror covers: the models of one Hub, or those of one author there.
package struct MirrorScope: Sendable, Hashable {
    /// The address of the Hub.
    package let endpoint: String
    /// The author as somebody wrote it.
    let spelling: String?

    package init(endpoint: String, author: String? = nil) {
        self.endpoint = endpoint
        spelling = author
    }

    /// The author in lower case, for the Hub tells none apart by case; empty for all of them.
    var author: String { spelling?.lowercased() ?? "" }
}

/// A walk along the Hub's list of models, and how far it has come.
package struct MirrorWalk: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// From the model that changed last down to what is known.
        case recent
        /// Over every model, which also finds what changed without a date, and what is gone.
        case whole
    }

    package var kind: Kind
    /// The address of the page to go on with.
    package var cursor: String
    /// The last change there was when the walk began, seconds since 1970 by the Hub's clock: what is known without a gap
    /// when it has ended. nil while no date was seen.
    package var newest: Double?
    /// When it began, seconds since 1970.
    package var beganAt: Double
    /// Pages and models so far.
    package internal(set) var pages = 0
    package internal(set) var models = 0
    /// The last model of the catalog at the beginning; nil before the first page.
    var lastRow: Int64?

    /// Says that the catalog does not hold the walk that is to go on: the file is another one by now, or another process
    /// has taken a page.
    package struct Lost: Error {}

    package init(_ kind: Kind, cursor: String, newest: Double? = nil, at now: Double) {
        self.kind = kind
        self.cursor = cursor
        self.newest = newest
        beganAt = now
    }
}
