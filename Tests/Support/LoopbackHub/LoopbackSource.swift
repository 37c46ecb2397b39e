import HubCore
import HubServer

/// A folder as a source, with models that exist in lists only and with Xet hashes that no folder can tell.
struct LoopbackSource: RepositorySource {
    let base: FolderSource
    let listedModels: [JSONObject]
    let xetHash: @Sendable (ServedFile) -> String?

    func cards(_ kind: RepositoryKind) throws(AIError) -> [RepositoryCard] {
        let cards = try base.cards(kind)
        guard kind == .model, !listedModels.isEmpty else { return cards }
        let known = Set(cards.map(\.id))
        return cards + listedModels.map(RepositoryCard.init).filter { !known.contains($0.id) }
    }

    func repository(_ repository: Repository) throws(AIError) -> (any ServedRepository)? {
        try base.repository(repository).map { Decorated(base: $0, repository: repository, xetHash: xetHash) }
    }

    private struct Decorated: ServedRepository {
        let base: any ServedRepository
        let repository: Repository
        let xetHash: @Sendable (ServedFile) -> String?

        func card() throws(AIError) -> RepositoryCard { try base.card() }
        func refs() throws(AIError) -> [ServedRef] { try base.refs() }
        func revision(_ name: String) throws(AIError) -> ServedRevision? {
            guard let revision = try base.revision(name) else { return nil }
            let files = revision.files.map { file in
                var file = file
                file.xetHash = xetHash(file)
                return file
            }
            return ServedRevision(repository, files: files, commit: revision.commit)
        }
    }
}
