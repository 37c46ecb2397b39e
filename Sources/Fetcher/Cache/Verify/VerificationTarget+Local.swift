package import HubCore

extension VerificationTarget {
    /// The verification targets of a local folder: the files of each commit, by their metadata.
    ///
    /// - Parameter repository: the repository, if known.
    /// - Throws: ``ErrorCode/fileNotFound`` if no pull has put files there.
    package static func targets(
        in folder: LocalFolder, repository: (Commit) -> Repository?
    ) throws(AIError) -> [VerificationTarget] {
        let notes = try folder.notes()
        guard !notes.isEmpty else {
            throw AIError(
                .fileNotFound, "\(folder.path) has no notes of what its files should be",
                advice: "hub verify takes cached models, and folders that hub pull --local-dir has filled")
        }
        var targets: [Commit: VerificationTarget] = [:]
        for (name, note) in notes {
            guard let commit = Commit(note.commit), let digest = ContentDigest(etag: note.etag) else { continue }
            var target =
                targets[commit]
                ?? VerificationTarget(
                    Verification(.local(folder, commit), repository(commit), tree: try folder.readTree(commit)),
                    cache: folder.path)
            try target.add(name, note, digest, folder)
            targets[commit] = target
        }
        // Files without a commit are reported once.
        var all = targets.values.sorted { $0.claims.count > $1.claims.count }
        let known = Set(notes.map { ExactText($0.name) })
        for name in try folder.files() where !all.isEmpty && !known.contains(ExactText(name)) {
            try all[0].addUnfetched(name, folder)
        }
        return all
    }

    /// A file that no pull has put there: it may be in the place of one of the model's.
    private mutating func addUnfetched(_ name: String, _ folder: LocalFolder) throws(AIError) {
        guard let file = result.tree?.files.first(where: { ExactText($0.path) == ExactText(name) }),
            try FileSystem.status(folder.place(name))?.kind == .file
        else { return result.problems.append(VerificationProblem(.extra, name)) }
        claims.append(
            Claim(
                name: name, path: folder.place(name), digest: file.digest, size: file.size, file: file,
                folder: name, isForeign: true))
    }

    private mutating func add(
        _ name: String, _ note: LocalFolder.Note, _ digest: ContentDigest, _ folder: LocalFolder
    )
        throws(AIError)
    {
        let file = result.tree?.files.first { ExactText($0.path) == ExactText(name) && $0.digest == digest }
        guard let status = try FileSystem.status(folder.place(name)), status.kind == .file else {
            result.problems.append(
                VerificationProblem(.missing, name, expected: .text(digest.hex), file: file))
            return
        }
        claims.append(
            Claim(
                name: name, path: folder.place(name), digest: digest, size: file?.size, file: file, folder: name,
                isForeign: note.mayBeChanged(status, size: file?.size)))
    }
}
