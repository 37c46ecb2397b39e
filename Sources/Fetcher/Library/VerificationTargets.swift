import Catalog
import HubCore
import ModelFormats

/// Collects what of the cache is to be verified, each revision once.
package struct VerificationTargets {
    package private(set) var targets: [VerificationTarget] = []
    private var seen: Set<Verification.Place> = []
    private let workspace: Workspace
    private let trees: TreeSource

    package init(_ workspace: Workspace) {
        self.workspace = workspace
        trees = TreeSource(workspace)
    }

    /// Adds revisions of a repository, and its blobs without a revision.
    ///
    /// - Parameters:
    ///   - files: the files to verify, as a reference names them; nil means all of them. Parts of a revision may be added
    ///     several times.
    ///   - withOrphans: whether blobs without a revision are verified as well; not if `files` are named.
    ///   - isWanted: which of the revisions.
    /// - Throws: if nothing of the repository can be read, ``ErrorCode/nothingMatches`` for a quantization or a glob that
    ///   fits no file. A path that is nowhere is missing.
    package mutating func add(
        _ repository: CachedRepository, files: String? = nil, withOrphans: Bool = true,
        where isWanted: (CachedRevision) -> Bool = { _ in true }
    ) async throws {
        if repository.revisions.isEmpty, let fault = repository.unreadable(below: repository.folder.path) {
            throw fault
        }
        var (missing, isAnyNamed): (AIError?, Bool) = (nil, false)
        var lacking: [VerificationTarget] = []
        for revision in repository.revisions where isWanted(revision) {
            if files == nil, !seen.insert(.snapshot(repository.folder, revision.commit)).inserted { continue }
            let (tree, fault) = try await trees.tree(of: repository.repository, at: revision.commit)
            var named: NamedFiles?
            if let files {
                do throws(AIError) {
                    named = try NamedFiles(
                        files, amongPaths: tree?.files.map(\.path) ?? revision.files.map(\.path),
                        of: repository.repository)
                } catch {
                    guard error.code == .nothingMatches else { throw error }
                    missing = error
                    continue
                }
            }
            var target = await Blocking.run { [workspace, named] in
                let choice = workspace.dispensable.use { catalog throws(AIError) in
                    try CacheRecord(workspace.layout, in: catalog).choice(
                        of: revision.commit, repository.folder.name)?.choice
                }
                return VerificationTarget(
                    revision, of: repository, tree: tree, fault: fault, choice: choice ?? nil, files: named)
            }
            if let files, let named, !Self.hasSome(of: named, revision, tree) {
                if named.isExact {
                    target.noteMissing(files)
                    lacking.append(target)
                    continue
                }
                // Of files that nobody knows a glob may mean some.
                if let tree {
                    missing = tree.noFile(of: repository.repository, fits: FileChoice(named.filter))
                    continue
                }
            }
            isAnyNamed = true
            targets.append(target)
        }
        // Another revision may have what this one lacks.
        if !isAnyNamed {
            if lacking.isEmpty, let missing { throw missing }
            targets += lacking
        }
        guard files == nil, withOrphans, seen.insert(.orphans(repository.folder)).inserted else { return }
        if let orphans = VerificationTarget(orphansOf: repository) { targets.append(orphans) }
    }

    /// Whether a revision has a file that is named, on the Hub or in the cache.
    private static func hasSome(of named: NamedFiles, _ revision: CachedRevision, _ tree: RepositoryTree?) -> Bool {
        tree?.files.contains { named.needs($0.path) } == true || revision.files.contains { named.needs($0.path) }
    }
}
