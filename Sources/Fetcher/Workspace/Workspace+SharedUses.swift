import Catalog
import HubCore

extension Workspace {
    /// What other programs still use of the files that a plan deletes, in a sentence for each: their bytes are not freed.
    ///
    /// What hub adopt linked is known by the catalog; what hub link linked is found by its name in the other store.
    package func sharedUses(of plan: DeletionPlan) async -> [String] {
        await Blocking.run { [self] in
            let adoptions = dispensable.use { catalog throws(AIError) in try catalog.adoptions() } ?? []
            let locations = StoreLocations(environment)
            let ollama = locations.ollama.map { Path.join($0, "blobs/sha256-") }
            var known: [String: [String]] = [:]
            for adoption in adoptions where adoption.action != "register" {
                known[adoption.sha256, default: []] += [adoption.path, adoption.source]
            }
            var told: [String] = []
            var seen: Set<String> = []
            for row in plan.rows {
                guard let folder = row.folder else { continue }
                let linked = row.repository.map { locations.names(of: $0.id.name) } ?? []
                let names = row.blobs.isEmpty ? ((try? blobs(of: row, folder)) ?? []) : row.blobs
                for name in names.sorted() where seen.insert(name).inserted {
                    let blob = folder.blob(name)
                    guard let status = (try? FileSystem.linkStatus(blob)) ?? nil, status.kind == .file else {
                        continue
                    }
                    let places = (known[name] ?? []) + ollama.map({ $0 + name }) + linked
                    told += places.lazy.filter { $0 != blob }.compactMap { Self.use($0, of: blob, status) }.prefix(
                        1)
                }
            }
            return told
        }
    }

    private func blobs(of row: DeletionPlan.Row, _ folder: RepositoryFolder) throws(AIError) -> Set<String> {
        guard case .revision(let commit) = row.subject else { return [] }
        return try folder.linkedBlobs(below: folder.snapshot(commit))
    }

    /// How another file has the content of a blob, in a sentence; nil if it has not.
    private static func use(_ path: String, of blob: String, _ status: FileStatus) -> String? {
        guard let other = (try? FileSystem.linkStatus(path)) ?? nil else { return nil }
        if other.kind == .symlink {
            let isOfBlob = FileSystem.resolved(path) == FileSystem.resolved(blob)
            return isOfBlob ? "\(path.printable) is a link to what is deleted, and breaks" : nil
        }
        guard other.kind == .file, other.size == status.size else { return nil }
        let stays = "\(ByteCount(status.size)) stay on the disk: \(path.printable)"
        if other.inode == status.inode, other.device == status.device { return "\(stays) is the same file" }
        return FileDigest.areClones(path, blob) ? "\(stays) shares its blocks" : nil
    }
}
