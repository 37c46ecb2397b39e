import Catalog
import HubCore

extension Workspace {
    /// What other programs still use of the files that a plan deletes, in a sentence for each: their bytes are not freed.
    ///
    /// What hub cache adopt linked is known by the catalog; what hub cache link linked is found by its name in the other store.
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
                for name in row.blobs.sorted() where seen.insert(name).inserted {
                    let blob = folder.blob(name)
                    guard let status = (try? FileSystem.linkStatus(blob)) ?? nil, status.kind == .file else {
                        continue
                    }
                    let places = (known[name] ?? []) + ollama.map({ $0 + name }) + linked
                    told += Self.uses(Set(places).subtracting([blob]).sorted(), of: blob, status)
                }
            }
            return told
        }
    }

    /// How other files have the content of a blob, in a sentence, and one for each link that breaks.
    private static func uses(_ paths: [String], of blob: String, _ status: FileStatus) -> [String] {
        let owners = paths.compactMap { owner($0, of: blob, status) }
        let list = owners.joined(separator: ", ")
        let stay = owners.isEmpty ? [] : ["\(ByteCount(status.size)) stay on the disk: \(list)"]
        let target = FileSystem.resolved(blob)
        let links = paths.filter { FileSystem.linkText($0) != nil && FileSystem.resolved($0) == target }
        return stay + links.map { "\($0.printable) is a link to what is deleted, and breaks" }
    }

    /// How another file has the content of a blob; nil if it has not.
    private static func owner(_ path: String, of blob: String, _ status: FileStatus) -> String? {
        guard let other = (try? FileSystem.linkStatus(path)) ?? nil, other.kind == .file,
            other.size == status.size
        else { return nil }
        let isSame = other.inode == status.inode && other.device == status.device
        if isSame { return "\(path.printable) is the same file" }
        return FileDigest.areClones(path, blob) ? "\(path.printable) shares its blocks" : nil
    }
}
