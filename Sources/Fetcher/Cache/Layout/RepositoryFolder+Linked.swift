package import HubCore

extension RepositoryFolder {
    /// The files of a snapshot as its links tell them: a blob's name is the digest. Empty without a snapshot; files that
    /// are not links are left out, because nothing says their digest.
    package func linkedFiles(of commit: Commit) throws(AIError) -> [RepositoryFile] {
        guard let place = try OpenFolder.open(snapshot(commit)) else { return [] }
        var files: [RepositoryFile] = []
        try addLinked(in: place, prefix: "", to: &files)
        return files
    }

    private func addLinked(in place: OpenFolder, prefix: String, to files: inout [RepositoryFile]) throws(AIError) {
        for entry in try place.entries() {
            let path = prefix + entry.name
            if try place.status(of: entry)?.kind == .directory {
                if let inner = try place.ownFolder(entry) {
                    try addLinked(in: inner, prefix: path + "/", to: &files)
                }
                continue
            }
            guard let name = blob(ofLink: entry, in: place), let digest = ContentDigest(etag: name),
                let status = try FileSystem.status(blob(name)), RepositoryPath.fault(path) == nil
            else { continue }
            let isLFS = digest.hex.utf8.count == 64
            files.append(
                RepositoryFile(
                    path: path, size: status.size, oid: isLFS ? String(repeating: "0", count: 40) : digest.hex,
                    sha256: isLFS ? digest.hex : nil))
        }
    }
}
