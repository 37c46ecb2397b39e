import HubCore
import HubServer

/// The one repository and revision that a request is about, for ``HubService``.
struct OneRevision: RepositorySource, ServedRepository {
    let repository: Repository
    let revision: ServedRevision

    func cards(_ kind: RepositoryKind) -> [RepositoryCard] { [] }
    func repository(_ repository: Repository) -> (any ServedRepository)? {
        repository == self.repository ? self : nil
    }
    func card() -> RepositoryCard { RepositoryCard(["id": .string(repository.id.name)]) }
    func refs() -> [ServedRef] { [] }
    /// Whatever the name: it was resolved before.
    func revision(_ name: String) -> ServedRevision? { revision }
}

/// No repository at all.
struct NoRepositories: RepositorySource {
    func cards(_ kind: RepositoryKind) -> [RepositoryCard] { [] }
    func repository(_ repository: Repository) -> (any ServedRepository)? { nil }
}
