package import HubCore

/// The source of a Hub's repositories: a folder, a cache, a test.
package protocol RepositorySource: Sendable {
    /// The cards of all repositories of a kind, in no particular order. Cheap: no file's content is read for it.
    func cards(_ kind: RepositoryKind) throws(AIError) -> [RepositoryCard]

    /// One repository; nil if there is none.
    func repository(_ repository: Repository) throws(AIError) -> (any ServedRepository)?
}

/// One repository that is served.
package protocol ServedRepository: Sendable {
    /// The Hub's metadata, without files.
    func card() throws(AIError) -> RepositoryCard

    /// Its branches, tags and pull requests.
    func refs() throws(AIError) -> [ServedRef]

    /// The current files of a revision: a branch or tag by short or full name, or a commit or its prefix of at least
    /// seven digits. nil if unknown.
    func revision(_ name: String) throws(AIError) -> ServedRevision?
}

/// A name for a commit.
package struct ServedRef: Sendable, Hashable {
    /// `main`
    package var name: String
    /// `refs/heads/main`; the prefix says whether it is a branch, a tag or a pull request.
    package var ref: String
    package var commit: String

    package init(name: String, ref: String, commit: String) {
        self.name = name
        self.ref = ref
        self.commit = commit
    }
}

/// A repository's metadata: the members of the Hub's JSON under the Hub's own names.
package struct RepositoryCard: Sendable, Hashable {
    package var fields: JSONObject

    package init(_ fields: JSONObject) { self.fields = fields }

    package var id: String { fields["id"]?.string ?? "" }
    package var isPrivate: Bool { fields["private"]?.bool == true }
    /// Whether access has to be granted: `gated` is false, `"auto"` or `"manual"`; an old crawl has `true`.
    package var isGated: Bool {
        switch fields["gated"] {
        case .string, .bool(true): true
        default: false
        }
    }
    package var tags: [String] { fields["tags"]?.array?.compactMap(\.string) ?? [] }
}
