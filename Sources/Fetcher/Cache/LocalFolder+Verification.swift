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
        let extra = try folder.files().filter { !known.contains(ExactText($0)) }
        if !all.isEmpty { all[0].result.problems += extra.map { VerificationProblem(.extra, $0) } }
        return all
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

extension LocalFolder {
    /// All metadata by file name, valid or not.
    func notes() throws(AIError) -> [(name: String, note: Note)] {
        let ending = ".metadata"
        var out: [(name: String, note: Note)] = []
        for path in try names(below: downloads) where path.hasSuffix(ending) {
            let name = String(path.dropLast(ending.count))
            guard RepositoryPath.fault(name) == nil, let note = try writtenNote(of: name) else { continue }
            out.append((name, note))
        }
        return out
    }

    /// The files, without the bookkeeping and `.git`.
    fileprivate func files() throws(AIError) -> [String] { try names(below: path, except: [".cache", ".git"]) }

    /// The stored file list of a commit.
    func readTree(_ commit: Commit) throws(AIError) -> RepositoryTree? {
        try RepositoryTree.read(treePath(commit), commit)
    }

    /// The files below a folder by relative path; links are not followed.
    ///
    /// - Parameter except: names directly in the folder to skip.
    func names(below top: String, except: Set<String> = []) throws(AIError) -> [String] {
        var out: [String] = []
        func visit(_ place: String, _ prefix: String) throws(AIError) {
            for name in try FileSystem.entries(place) ?? [] where !(prefix.isEmpty && except.contains(name)) {
                let path = Path.join(place, name)
                guard let status = try FileSystem.linkStatus(path) else { continue }
                if status.kind == .directory {
                    try visit(path, prefix + name + "/")
                } else {
                    out.append(prefix + name)
                }
            }
        }
        try visit(top, "")
        return out
    }
}
