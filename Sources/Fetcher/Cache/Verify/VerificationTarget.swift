package import HubCore
package import ModelFormats

/// A set of files to verify together: the result from names only, and the files to read.
package struct VerificationTarget: Sendable {
    /// A file and its required content.
    struct Claim: Sendable {
        /// The path in the repository.
        var name: String
        /// The path on disk.
        var path: String
        var digest: ContentDigest
        /// nil if unknown.
        var size: Int64?
        /// The tree's entry; nil if unknown.
        var file: RepositoryFile?
        /// Its folder in ``VerifiedFile``.
        var folder: String
        /// Whether it was changed after it was fetched.
        var isForeign = false
    }

    var result: Verification
    var claims: [Claim] = []
    /// The catalog's key of the cache or local folder.
    let cache: String

    init(_ result: Verification, cache: String) { (self.result, self.cache) = (result, cache) }

    package var repository: Repository? { result.repository }
    package var commit: Commit? { result.commit }

    /// The target of a cached revision: missing files, broken links, extra files, and the files to read. Unreadable
    /// files are faults of the result.
    ///
    /// - Parameters:
    ///   - tree: the files of the commit; nil if unknown, with the reason in `fault`: blobs are then compared with
    ///     their names.
    ///   - choice: the file choice of pulls; nil if unknown. Files that were not chosen are not missing.
    ///   - files: checks only matching files; those named by a path or a quantization count as chosen.
    package init(
        _ revision: CachedRevision, of repository: CachedRepository, tree: RepositoryTree?, fault: AIError? = nil,
        choice: FileChoice?, files: NamedFiles? = nil
    ) {
        let folder = repository.folder
        self.init(
            Verification(.snapshot(folder, revision.commit), repository.repository, tree: tree),
            cache: folder.cache.root)
        if let fault { result.faults.append(fault) }
        let entries = revision.files.filter { files?.needs($0.path) ?? true }
        guard let tree else {
            if let unread = repository.unreadable(below: folder.snapshot(revision.commit)) {
                result.noteUnknown(unread)
            }
            addByNames(entries, folder, revision.commit)
            return
        }
        for file in tree.files where files?.needs(file.path) ?? true {
            let isNamed = files.map { $0.isExact && $0.matches(file.path) } ?? false
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

    /// Without a tree: the digest in a blob's name.
    private mutating func addByNames(_ entries: [CachedFile], _ folder: RepositoryFolder, _ commit: Commit) {
        for entry in entries {
            let path = Path.join(folder.snapshot(commit), entry.path)
            let isThere: Bool
            do throws(AIError) { isThere = try entry.isBroken ? FileSystem.status(path) != nil : true } catch {
                // The link's target may still exist.
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

    /// Notes a file that was named by its path, and that neither the commit, if it is known, nor the cache has.
    mutating func noteMissing(_ path: String) {
        var problem = VerificationProblem(.missing, path)
        problem.isUnheardOf = result.tree != nil
        result.problems.append(problem)
    }

    /// The blobs without links, which a pull would reuse by name; nil if there are none.
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
    /// Why a folder, or something below it, could not be read in the scan; nil if all could.
    package func unreadable(below path: String) -> AIError? {
        problems.first { $0.kind == .unreadable && ($0.path == path || $0.path.hasPrefix(path + "/")) }.map {
            AIError(.ioError, $0.text, context: .init(path: $0.path))
        }
    }
}
