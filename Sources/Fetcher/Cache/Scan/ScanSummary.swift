import HubCore

/// The encoding of a repository's overview, with the file states it depends on.
enum ScanSummary {
    private static let form: UInt8 = 2

    static func write(_ overview: RepositoryOverview, _ watched: [WatchedPath]) -> [UInt8] {
        var out = ScanWriter(form: form)
        out.write(watched) { path, out in
            out.write(whole: path.modified)
            out.write(path: path.path)
        }
        out.write(overview.isLink)
        out.write(overview.revisions) { revision, out in
            out.write(revision.commit.hash)
            out.write(revision.refs) { $1.write($0) }
            out.write(revision.size)
            out.write(revision.freeable)
            out.write(revision.isComplete)
            out.write(revision.downloadedAt)
            out.write(revision.lastUsedAt ?? 0)
            out.write(revision.largestFile ?? "")
        }
        for number in [overview.size, overview.freeable, Int64(overview.files), overview.orphanSize] {
            out.write(number)
        }
        out.write(overview.partials) { partial, out in
            out.write(partial.name)
            out.write(partial.file!)
        }
        out.write(overview.danglingRefs) { $1.write($0) }
        out.write(overview.problems) { $1.write($0) }
        out.write(overview.shared) { shared, out in
            out.write(shared.file)
            out.write(byte: shared.place.rawValue)
            out.write(shared.names)
            out.write(shared.isNeeded)
            out.write(shared.path)
        }
        out.write(overview.own) { $1.write($0) }
        return out.bytes
    }

    /// The overview, if the bytes have this format and nothing read for it has changed.
    ///
    /// - Parameter root: the cache's folder.
    static func current(_ bytes: [UInt8], _ candidate: ScanCandidate, in root: OpenFolder)
        -> RepositoryOverview?
    {
        bytes.withUnsafeBytes { bytes in
            var reader = ScanReader(bytes, form: form)
            let count = reader.count()
            guard count > 0 else { return nil }
            for _ in 0..<count {
                let modified = reader.whole()
                guard let path = reader.path(), (root.modifiedNanoseconds(path) ?? 0) == modified else {
                    return nil
                }
            }
            guard reader.bool() == candidate.isLink else { return nil }
            let overview = overview(&reader, candidate)
            return reader.isSound && reader.isAtEnd ? overview : nil
        }
    }

    private static func overview(_ reader: inout ScanReader, _ candidate: ScanCandidate)
        -> RepositoryOverview
    {
        let revisions = reader.list(revision)
        let (size, freeable, files, orphanSize) = (reader.size(), reader.size(), reader.size(), reader.size())
        let partials = reader.list { reader in
            let name = reader.text()
            return CachedBlob(name: name, file: reader.file())
        }
        let danglingRefs = reader.list { $0.text() }
        let problems = reader.list { $0.problem() }
        let shared = reader.list { reader -> RepositoryOverview.SharedFile? in
            let file = reader.file()
            guard let place = RepositoryOverview.SharedFile.Place(rawValue: reader.byte()) else { return nil }
            return .init(
                file: file, place: place, names: reader.unsigned(), isNeeded: reader.bool(), path: reader.text())
        }
        let own = reader.list { $0.identity() }
        return RepositoryOverview(
            folder: candidate.folder, repository: candidate.repository, revisions: revisions, size: size,
            freeable: freeable, files: Int(files), partials: partials, danglingRefs: danglingRefs,
            problems: problems, orphanSize: orphanSize, shared: shared, own: own, isLink: candidate.isLink)
    }

    private static func revision(_ reader: inout ScanReader) -> RepositoryOverview.Revision? {
        guard let commit = Commit(reader.text()) else { return nil }
        let refs = reader.list { $0.text() }
        let (size, freeable, isComplete) = (reader.size(), reader.size(), reader.optionalBool())
        let (downloaded, used, largest) = (reader.time(), reader.time(), reader.text())
        return .init(
            commit: commit, refs: refs, size: size, freeable: freeable,
            isComplete: isComplete, downloadedAt: downloaded, lastUsedAt: used,
            largestFile: largest.isEmpty ? nil : largest)
    }
}
