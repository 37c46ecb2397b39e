import HubCore

/// The encoding of a repository's scan for the catalog.
enum ScanDetails {
    private static let form: UInt8 = 2

    static func write(_ repository: CachedRepository) -> [UInt8] {
        var out = ScanWriter(form: form)
        let blobs = Array(repository.blobs.values)
        out.write(blobs) { write($0, &$1) }
        // Links refer to blobs by index in the list; missing blobs by name.
        let places = Dictionary(uniqueKeysWithValues: blobs.indices.map { (blobs[$0].name, $0) })
        out.write(repository.revisions) { revision, out in
            out.write(revision.commit.hash)
            out.write(revision.refs) { $1.write($0) }
            out.write(revision.isComplete)
            out.write(revision.downloadedAt)
            out.write(revision.lastUsedAt)
            out.write(revision.files) { file, out in
                out.write(file.path)
                out.write(file.isBroken)
                let place = file.blob.flatMap { places[$0] }
                out.write(count: place.map { $0 + 2 } ?? (file.blob == nil ? 0 : 1))
                if let blob = file.blob, place == nil { out.write(blob) }
                out.write(file.file != nil)
                if let physical = file.file { out.write(physical) }
            }
        }
        out.write(repository.partials) { write($0, &$1) }
        out.write(repository.danglingRefs) { $1.write($0) }
        out.write(repository.problems) { $1.write($0) }
        return out.bytes
    }

    private static func write(_ blob: CachedBlob, _ out: inout ScanWriter) {
        out.write(blob.name)
        out.write(blob.isForeign)
        out.write(blob.sharedHash != nil)
        if let hash = blob.sharedHash { out.write(hash) }
        out.write(blob.file != nil)
        if let file = blob.file { out.write(file) }
    }

    /// nil if the bytes are not a scan of this format.
    static func read(_ bytes: [UInt8], _ candidate: ScanCandidate) -> CachedRepository? {
        bytes.withUnsafeBytes { bytes in
            var reader = ScanReader(bytes, form: form)
            let blobs = reader.list(blob)
            let revisions = reader.list { revision(&$0, blobs) }
            let repository = CachedRepository(
                folder: candidate.folder, repository: candidate.repository, revisions: revisions,
                blobs: Dictionary(blobs.map { ($0.name, $0) }) { $1 }, partials: reader.list(blob),
                danglingRefs: reader.list { $0.text() }, problems: reader.list { $0.problem() })
            return reader.isSound && reader.isAtEnd ? repository : nil
        }
    }

    private static func revision(_ reader: inout ScanReader, _ blobs: [CachedBlob]) -> CachedRevision? {
        guard let commit = Commit(reader.text()) else { return nil }
        let refs = reader.list { $0.text() }
        return CachedRevision(
            commit: commit, refs: refs, files: [], isComplete: reader.optionalBool(),
            downloadedAt: reader.time(), lastUsedAt: reader.time()
        ).with(
            reader.list { reader in
                let (path, isBroken) = (reader.text(), reader.bool())
                let place = reader.count()
                guard place < blobs.count + 2 else { return nil }
                return CachedFile(
                    path: path, blob: place == 0 ? nil : place == 1 ? reader.text() : blobs[place - 2].name,
                    file: reader.bool() ? reader.file() : nil, isBroken: isBroken)
            })
    }

    private static func blob(_ reader: inout ScanReader) -> CachedBlob? {
        let (name, isForeign) = (reader.text(), reader.bool())
        let hash = reader.bool() ? reader.text() : nil
        return CachedBlob(
            name: name, file: reader.bool() ? reader.file() : nil, sharedHash: hash, isForeign: isForeign)
    }
}

extension CachedRevision {
    fileprivate func with(_ files: [CachedFile]) -> CachedRevision {
        var out = self
        out.files = files
        return out
    }
}
