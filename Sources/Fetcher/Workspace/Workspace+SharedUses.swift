import Catalog
package import HubCore

extension Workspace {
    /// What other programs still use of the files that a plan deletes, in a sentence for each: their bytes are not freed.
    ///
    /// Programs that hub linked are known by the catalog; ollama's blobs are found by their names.
    package func sharedUses(of plan: DeletionPlan) async -> [String] {
        await Blocking.run { [self] in
            let adoptions = dispensable.use { catalog throws(AIError) in try catalog.adoptions() } ?? []
            let ollama = StoreLocations(environment).ollama.map { Path.join($0, "blobs/sha256-") }
            var known: [String: [String]] = [:]
            for adoption in adoptions where adoption.action != "register" {
                known[adoption.sha256, default: []] += [adoption.path, adoption.source]
            }
            var told: [String] = []
            var seen: Set<String> = []
            for row in plan.rows {
                guard let folder = row.folder else { continue }
                let names = row.blobs.isEmpty ? ((try? blobs(of: row, folder)) ?? []) : row.blobs
                for name in names.sorted() where seen.insert(name).inserted {
                    let blob = folder.blob(name)
                    guard let status = (try? FileSystem.linkStatus(blob)) ?? nil, status.kind == .file else {
                        continue
                    }
                    for path in (known[name] ?? []) + ollama.map({ $0 + name }) where path != blob {
                        guard let use = Self.use(path, of: blob, status) else { continue }
                        told.append("\(ByteCount(status.size)) stay on the disk: \(path) \(use)")
                        break
                    }
                }
            }
            return told
        }
    }

    private func blobs(of row: DeletionPlan.Row, _ folder: RepositoryFolder) throws(AIError) -> Set<String> {
        guard case .revision(let commit) = row.subject else { return [] }
        return try folder.linkedBlobs(below: folder.snapshot(commit))
    }

    /// How another file has the content of a blob; nil if it has not.
    private static func use(_ path: String, of blob: String, _ status: FileStatus) -> String? {
        guard let other = (try? FileSystem.linkStatus(path)) ?? nil, other.kind == .file, other.size == status.size
        else { return nil }
        if other.inode == status.inode, other.device == status.device { return "is the same file" }
        return FileDigest.areClones(path, blob) ? "shares its blocks" : nil
    }
}
