import HubCore

/// The branches and tags by which clients asked for commits. Python's client resolves a branch once and then asks for files
/// by commit; the cache should still say which branch that is.
final class CommitNames: Sendable {
    private let names = Lock<[Repository: [Commit: String]]>([:])
    private static let most = 10_000

    func note(_ name: String, _ commit: Commit, of repository: Repository) {
        names.withLock { names in
            if names.count >= Self.most, names[repository] == nil { names = [:] }
            var known = names[repository] ?? [:]
            // A name has moved on from its earlier commit.
            known = known.filter { $0.value != name }
            if known[commit] != "main" { known[commit] = name }
            names[repository] = known
        }
    }

    func name(of commit: Commit, in repository: Repository) -> String? {
        names.withLock { $0[repository]?[commit] }
    }
}
