package import HubCore

/// The repositories of a folder.
///
///     DIR/org/name/            a model, branch main
///     DIR/name/                a canonical model, if it holds .hub.json, config.json or weights
///     DIR/datasets/org/name/   other kinds: datasets, spaces, kernels
///     DIR/org/name/.hub.json   optional metadata under the Hub's own names (pipeline_tag, tags, gated, private, ...)
///     DIR/org/name@REV/        another revision: `pr1` is refs/pr/1, anything else a branch (`feature%2Fx` has a slash)
///
/// Scanned for each request, so files may come, go and change; digests are kept while a file is unchanged. A file is in
/// LFS if it is 1 MiB or larger or has an extension of weights.
package final class FolderSource: RepositorySource {
    /// The folder with links resolved. No byte outside it is ever served.
    package let root: String

    private let digests = DigestStore()
    private let repositories = Lock<[Repository: FolderRepository]>([:])
    private let report: @Sendable (AIError) -> Void

    /// - Parameter report: called for a repository that a list omits because its metadata cannot be read.
    /// - Throws: ``ErrorCode/fileNotFound`` if the folder does not exist.
    package init(_ folder: String, report: @escaping @Sendable (AIError) -> Void) throws(AIError) {
        guard let root = FileSystem.resolved(folder), let status = try FileSystem.status(root),
            status.kind == .directory
        else {
            throw AIError(.fileNotFound, "\(folder.printable) is not a folder", context: .init(path: folder))
        }
        self.root = root
        self.report = report
    }

    package func cards(_ kind: RepositoryKind) throws(AIError) -> [RepositoryCard] {
        var cards: [RepositoryCard] = []
        for id in try names(kind) {
            // One bad repository must not hide the others.
            do throws(AIError) {
                if let found = try repository(Repository(kind, id)) { cards.append(try found.card()) }
            } catch {
                report(error)
            }
        }
        return cards
    }

    package func repository(_ repository: Repository) throws(AIError) -> (any ServedRepository)? {
        guard let folder = try folder(of: repository) else { return nil }
        return repositories.withLock { known in
            if let found = known[repository], found.folder == folder { return found }
            let made = FolderRepository(repository, folder: folder, root: root, digests: digests)
            known[repository] = made
            return made
        }
    }

    /// Names that cannot be organisations: the Hub's addresses begin with them.
    private static let reserved: Set<String> = ["api", "models", "datasets", "spaces", "kernels"]

    private func base(_ kind: RepositoryKind) -> String { kind == .model ? root : Path.join(root, kind.plural) }

    private func names(_ kind: RepositoryKind) throws(AIError) -> [RepositoryID] {
        var out: [RepositoryID] = []
        for owner in try FileSystem.entries(base(kind)) ?? []
        where !(kind == .model && Self.reserved.contains(owner)) {
            let place = Path.join(base(kind), owner)
            guard let names = try FileSystem.entries(place) else { continue }
            if Self.isRepository(names) {
                if let id = try? RepositoryID(owner) { out.append(id) }
            } else {
                out += names.compactMap { try? RepositoryID("\(owner)/\($0)") }
            }
        }
        return out
    }

    /// The folder of a repository, links resolved; nil if it is missing or outside the root.
    private func folder(of repository: Repository) throws(AIError) -> String? {
        let parts = repository.id.name.split(separator: "/").map(String.init)
        guard let owner = parts.first, !(repository.kind == .model && Self.reserved.contains(owner)) else {
            return nil
        }
        // Compares with the names on disk: a file system that ignores case would serve one repository by many names.
        guard try FileSystem.entries(base(repository.kind))?.contains(owner) == true else { return nil }
        let top = Path.join(base(repository.kind), owner)
        let names = try FileSystem.entries(top) ?? []
        guard Self.isRepository(names) == (parts.count == 1), parts.count == 1 || names.contains(parts[1]) else {
            return nil
        }
        guard let folder = FileSystem.resolved(parts.count == 1 ? top : Path.join(top, parts[1])),
            FolderScan.isInside(folder, root), try FileSystem.status(folder)?.kind == .directory
        else { return nil }
        return folder
    }

    /// Whether a folder with these entries is a repository itself and not an organisation.
    private static func isRepository(_ names: [String]) -> Bool {
        names.contains { $0 == ".hub.json" || $0 == "config.json" || FolderRepository.isWeights($0) }
    }
}
