package import HubCore

/// What is to be verified together: what the names alone tell of it, and the files that must be read.
package struct VerificationTarget: Sendable {
    /// That a file must hold certain content.
    struct Claim: Sendable {
        /// As it is called in the repository.
        var name: String
        /// Where it can be read.
        var path: String
        var digest: ContentDigest
        /// nil where nobody knows it.
        var size: Int64?
        /// What the tree says; nil where it is not known.
        var file: RepositoryFile?
        /// By what ``VerifiedFile`` knows it.
        var folder: String
        /// Whether somebody changed it after it was fetched.
        var isForeign = false
    }

    var result: Verification
    var claims: [Claim] = []
    /// By what the catalog knows the cache, or the folder of one's own.
    let cache: String

    init(_ result: Verification, cache: String) { (self.result, self.cache) = (result, cache) }

    package var repository: Repository? { result.repository }
    package var commit: Commit? { result.commit }

    /// Looks at a cached revision: what is missing, leads nowhere or does not belong there, and what must be read. What
    /// cannot be looked at is a fault of the result.
    ///
    /// - Parameters:
    ///   - tree: the files of the commit; nil where nobody could be asked, `fault` being the reason: blobs are then
    ///     compared with their names.
    ///   - choice: what pulls have chosen of the files; nil where that is not known. What was not chosen is not missing.
    ///   - files: looks only at what matches; one that is named by its path has been chosen.
    package init(
        _ revision: CachedRevision, of repository: CachedRepository, tree: RepositoryTree?, fault: AIError? = nil,
        choice: FileChoice?, files: GlobPattern? = nil
    ) {
        let folder = repository.folder
        self.init(
            Verification(.snapshot(folder, revision.commit), repository.repository, tree: tree),
            cache: folder.cache.root)
        if let fault { result.faults.append(fault) }
        let entries = revision.files.filter { files?.matches($0.path) ?? true }
        guard let tree else {
            if let unread = repository.unreadable(below: folder.snapshot(revision.commit)) {
                result.noteUnknown(unread)
            }
            addByNames(entries, folder, revision.commit)
            return
        }
        let isNamed = files.map { !GlobPattern.isPattern($0.pattern) } ?? false
        for file in tree.files where files?.matches(file.path) ?? true {
            let isChosen = isNamed || choice?.matches(file.path) ?? false
            do throws(AIError) { try add(file, folder, revision.commit, isChosen) } catch {
                result.noteUnknown(error)
            }
        }
        let known = Set(tree.files.map { ExactText($0.path) })
        result.problems += entries.filter { !known.contains(ExactText($0.path)) }.map {
            VerificationProblem(.extra, $0.path)
        }
    }

    private mutating func add(
        _ file: RepositoryFile, _ folder: RepositoryFolder, _ commit: Commit, _ isChosen: Bool
    ) throws(AIError) {
        let path = Path.join(folder.snapshot(commit), file.path)
        let digest = VerificationProblem.Finding.text(file.digest.hex)
        guard let entry = try FileSystem.linkStatus(path) else {
            guard isChosen else {
                result.absent += 1
                return
            }
            result.problems.append(VerificationProblem(.missing, file.path, expected: digest, file: file))
            return
        }
        let isLink = entry.kind == .symlink
        guard let target = isLink ? try FileSystem.status(path) : entry else {
            let text = FileSystem.linkText(path).map { VerificationProblem.Finding.text($0) }
            result.problems.append(
                VerificationProblem(.brokenLink, file.path, expected: digest, actual: text, file: file))
            return
        }
        guard target.kind == .file else {
            result.problems.append(
                VerificationProblem(.mismatch, file.path, expected: digest, actual: .text("not a file"), file: file)
            )
            return
        }
        claims.append(
            Claim(
                name: file.path, path: path, digest: file.digest, size: file.size, file: file,
                folder: isLink ? folder.name : "\(folder.name)/snapshots/\(commit.hash)/\(file.path)"))
    }

    /// Where the tree is not known: what a blob's name says of it.
    private mutating func addByNames(_ entries: [CachedFile], _ folder: RepositoryFolder, _ commit: Commit) {
        for entry in entries {
            let path = Path.join(folder.snapshot(commit), entry.path)
            let isThere: Bool
            do throws(AIError) { isThere = try entry.isBroken ? FileSystem.status(path) != nil : true } catch {
                // Where a link leads may be there all the same.
                result.noteUnknown(error)
                continue
            }
            if !isThere {
                result.problems.append(
                    VerificationProblem(
                        .brokenLink, entry.path, expected: entry.blob.map { .text($0) },
                        actual: FileSystem.linkText(path).map { .text($0) }))
            } else if let digest = entry.blob.flatMap(ContentDigest.init(etag:)) {
                claims.append(Claim(name: entry.path, path: path, digest: digest, folder: folder.name))
            } else {
                result.unknown += 1
            }
        }
    }

    /// The blobs that no snapshot links to, which a pull would take for what their names say; nil where there are none.
    package init?(orphansOf repository: CachedRepository) {
        let folder = repository.folder
        self.init(
            Verification(.orphans(folder), repository.repository, tree: nil), cache: folder.cache.root)
        for blob in repository.orphans where !blob.isForeign && blob.file != nil {
            guard let digest = ContentDigest(etag: blob.name) else { continue }
            claims.append(
                Claim(name: "blobs/\(blob.name)", path: folder.blob(blob.name), digest: digest, folder: folder.name)
            )
        }
        if claims.isEmpty { return nil }
    }
}

extension CachedRepository {
    /// Why something could not be read when the cache was looked at; nil where a folder and all below it could.
    package func unreadable(below path: String) -> AIError? {
        problems.first { $0.kind == .unreadable && ($0.path == path || $0.path.hasPrefix(path + "/")) }.map {
            AIError(.ioError, $0.text, context: .init(path: $0.path))
        }
    }
}
