package import Catalog
package import HubCore

/// Reads a whole cache folder, or only what has changed in it since the catalog last saw it.
package struct CacheScanner {
    let layout: CacheLayout
    let catalog: Catalog?

    /// - Parameter catalog: remembers scans and knows trees and times of use; nil reads everything anew.
    package init(_ layout: CacheLayout, catalog: Catalog?) {
        self.layout = layout
        self.catalog = catalog
    }

    /// What Python's own scan passes over in the cache's root.
    private static let knownNames: Set<String> = [
        ".locks", "CACHEDIR.TAG", ".DS_Store", "Thumbs.db", "desktop.ini",
    ]
    /// A folder changed so shortly before it was read could change again within the same tick of the file system's
    /// clock; it is read once more next time.
    private static let settlingNanoseconds: Int64 = 100_000_000

    /// The state of the cache; an absent folder is an empty cache.
    ///
    /// - Parameter fresh: reads everything from the disk, for decisions about deleting.
    package func scan(fresh: Bool = false) throws(AIError) -> CacheState {
        let store = SharedStore(layout: layout)
        let hasStore = store.exists()
        var state = CacheState(layout: layout, repositories: [], unusedPayloads: [], remarks: [])
        let remembered = fresh ? [:] : try catalog?.scans(ofCache: layout.root) ?? [:]
        let uses = try catalog?.uses(ofCache: layout.root) ?? [:]
        var changed: [RememberedScan] = []
        var blobs: [String: [(etag: String, size: Int64)]] = [:]
        for name in try FileSystem.entries(layout.root) ?? [] {
            if Self.knownNames.contains(name) || (name == "blobs" && hasStore) { continue }
            let path = Path.join(layout.root, name)
            guard let status = try FileSystem.linkStatus(path) else { continue }
            guard status.kind == .directory, let repository = Repository(folderName: name) else {
                if !name.hasPrefix("tmp") { state.remarks.append("\(path) belongs to no Hugging Face library") }
                continue
            }
            let folder = RepositoryFolder(cache: layout, name: name)
            if let known = remembered[name], isCurrent(known),
                let read = ScanText.read(known.scan, folder, repository)
            {
                state.repositories.append(try withNewTrees(read.repository))
                state.remarks += read.remarks
                continue
            }
            let now = Int64(Timestamp.now * 1e9)
            var scanner = RepositoryScanner(folder: folder, repository: repository, store: hasStore ? store : nil) {
                commit in
                (try? folder.readTree(commit)) ?? (try? catalog?.tree(of: repository, at: commit)) ?? nil
            }
            let scanned = try scanner.scan()
            // A folder that is neither a repository nor empty is not one for Python either, but it is shown.
            state.repositories.append(scanned)
            state.remarks += scanner.remarks
            let settled = scanner.directories.mapValues { now - $0 < Self.settlingNanoseconds ? -1 : $0 }
            changed.append(
                RememberedScan(
                    folder: name, scan: ScanText.write(scanned, remarks: scanner.remarks), directories: settled))
            blobs[name] = scanned.blobs.values.compactMap { blob in blob.file.map { (blob.name, $0.size) } }
        }
        let gone = remembered.keys.filter { name in !state.repositories.contains { $0.folder.name == name } }
        if let catalog, !changed.isEmpty || !gone.isEmpty {
            try catalog.remember(scans: changed, blobs: blobs, gone: Array(gone), ofCache: layout.root)
        }
        try refreshLinkCounts(of: &state)
        try addUses(uses, to: &state)
        if hasStore {
            let used = Set(state.repositories.flatMap { $0.blobs.values.compactMap(\.sharedHash) })
            state.unusedPayloads = try store.payloads().filter { !used.contains($0.name) }
        }
        return state
    }

    /// With the trees that the catalog has learned of since the scan.
    private func withNewTrees(_ known: CachedRepository) throws(AIError) -> CachedRepository {
        guard let catalog else { return known }
        var out = known
        for index in out.revisions.indices where out.revisions[index].isComplete == nil {
            let revision = out.revisions[index]
            guard let tree = try catalog.tree(of: known.repository, at: revision.commit) else { continue }
            out.revisions[index] = revision.judged(by: tree, blobs: known.blobs, fallback: revision.lastUsedAt)
        }
        return out
    }

    /// A hard link made or removed in another repository changes how many names a file has, and no folder of this one.
    /// Where that number is not the number of names in this cache, it is asked for again.
    private func refreshLinkCounts(of state: inout CacheState) throws(AIError) {
        var names: [PhysicalFile.Identity: UInt64] = [:]
        func isOwn(_ blob: CachedBlob) -> Bool { blob.sharedHash == nil && !blob.isForeign }
        for repository in state.repositories {
            let plain = repository.revisions.flatMap { $0.files.compactMap(\.file) }
            for file in repository.blobs.values.filter(isOwn).compactMap(\.file) + plain {
                names[file.identity, default: 0] += 1
            }
        }
        func refreshed(_ file: PhysicalFile?, _ path: String) throws(AIError) -> PhysicalFile? {
            guard var file, names[file.identity] != file.links else { return file }
            if let status = try FileSystem.status(path), PhysicalFile(status).identity == file.identity {
                file.links = status.links
            }
            return file
        }
        for r in state.repositories.indices {
            let folder = state.repositories[r].folder
            for (name, blob) in state.repositories[r].blobs where isOwn(blob) {
                state.repositories[r].blobs[name]?.file = try refreshed(blob.file, folder.blob(name))
            }
            for v in state.repositories[r].revisions.indices {
                let snapshot = folder.snapshot(state.repositories[r].revisions[v].commit)
                for (f, file) in state.repositories[r].revisions[v].files.enumerated() where file.file != nil {
                    state.repositories[r].revisions[v].files[f].file = try refreshed(
                        file.file, Path.join(snapshot, file.path))
                }
            }
        }
    }

    /// Whether no folder of a remembered scan has changed.
    private func isCurrent(_ scan: RememberedScan) -> Bool {
        guard !scan.directories.isEmpty else { return false }
        return scan.directories.allSatisfy { path, modified in
            guard let status = try? FileSystem.linkStatus(Path.join(layout.root, path)) else {
                return modified == 0
            }
            return status.modifiedNanoseconds == modified
        }
    }

    /// The newest of what `hub` noted and what the file system says of each revision's largest file. One look for each
    /// revision: reading a model reads its largest file.
    private func addUses(_ uses: [String: [String: Double]], to state: inout CacheState) throws(AIError) {
        for r in state.repositories.indices {
            let folder = state.repositories[r].folder
            for v in state.repositories[r].revisions.indices {
                let revision = state.repositories[r].revisions[v]
                var used = revision.lastUsedAt
                let blobs = state.repositories[r].blobs
                let largest = revision.files.compactMap { file -> (String, Int64)? in
                    file.blob.flatMap { blobs[$0]?.file }.map { (file.blob!, $0.size) }
                }.max { $0.1 < $1.1 }
                if let largest, let status = try FileSystem.status(folder.blob(largest.0)) {
                    used = max(used, status.accessed)
                }
                if let noted = uses[folder.name]?[revision.commit.hash] { used = max(used, noted) }
                state.repositories[r].revisions[v].lastUsedAt = used
            }
            // A partial grows without its folder changing.
            for p in state.repositories[r].partials.indices {
                let status = try FileSystem.linkStatus(folder.blob(state.repositories[r].partials[p].name))
                state.repositories[r].partials[p].file = status.map(PhysicalFile.init)
            }
        }
    }
}
