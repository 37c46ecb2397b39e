import HubCore
import HubServer

/// A folder as a source, with what no folder can tell: models that exist in lists only, Xet hashes, and large files that
/// are not in LFS.
struct LoopbackSource: RepositorySource {
    let base: FolderSource
    let state: LoopbackState
    let xetHash: @Sendable (ServedFile) -> String?
    let gitFiles: [String: ContentDigest]

    func cards(_ kind: RepositoryKind) throws(AIError) -> [RepositoryCard] {
        let cards = try base.cards(kind)
        let listedModels = state.monitor.update { $0.listedModels }
        guard kind == .model, !listedModels.isEmpty else { return cards }
        let known = Set(cards.map(\.id))
        return cards + listedModels.map(RepositoryCard.init).filter { !known.contains($0.id) }
    }

    func repository(_ repository: Repository) throws(AIError) -> (any ServedRepository)? {
        try base.repository(repository).map { Decorated(base: $0, repository: repository, source: self) }
    }

    private struct Decorated: ServedRepository {
        let base: any ServedRepository
        let repository: Repository
        let source: LoopbackSource

        func card() throws(AIError) -> RepositoryCard { try base.card() }
        func refs() throws(AIError) -> [ServedRef] { try base.refs() }
        func revision(_ name: String) throws(AIError) -> ServedRevision? {
            guard let revision = try base.revision(name) else { return nil }
            let files = revision.files.map { file in
                var file = file
                if let digest = source.gitFiles[file.path] {
                    file = ServedFile(
                        path: file.path, digest: digest, location: file.location, identity: file.identity)
                }
                file.xetHash = source.xetHash(file)
                return file
            }
            return ServedRevision(repository, files: files, commit: revision.commit)
        }
    }
}
