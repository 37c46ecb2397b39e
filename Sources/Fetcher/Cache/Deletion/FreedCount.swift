import HubCore

/// Counts the bytes freed row by row: a file is freed with its last name.
struct FreedCount {
    private let layout: CacheLayout
    private let store: SharedStore
    /// Deleted names of each physical file so far.
    private var namesGone: [PhysicalFile.Identity: UInt64] = [:]
    private var blobsGone: [RepositoryFolder: Set<String>] = [:]
    /// Bytes of st_size, and bytes on the disk, since ``begin()``.
    private(set) var freed: Int64 = 0
    private(set) var allocated: Int64 = 0

    init(_ layout: CacheLayout) {
        self.layout = layout
        store = SharedStore(layout: layout)
    }

    /// Begins a row.
    mutating func begin() { (freed, allocated) = (0, 0) }

    /// Whether a row deletes an entry of `blobs/`.
    func isGone(_ name: String, of folder: RepositoryFolder) -> Bool {
        blobsGone[folder, default: []].contains(name)
    }

    /// Counts one deleted name of a file.
    mutating func take(_ file: PhysicalFile, at path: String) {
        namesGone[file.identity, default: 0] += 1
        guard namesGone[file.identity]! == file.links else { return }
        freed += file.size
        // A file that is already gone has no allocation.
        allocated += (try? FileSystem.linkStatus(path))?.allocated ?? 0
    }

    /// Counts deleted entries of `blobs/`, each once.
    mutating func take(blobs names: Set<String>, of repository: CachedRepository) {
        let folder = repository.folder
        for name in names.sorted() where blobsGone[folder, default: []].insert(name).inserted {
            guard let blob = repository.blobs[name], !blob.isForeign, let file = blob.file else { continue }
            guard let hash = blob.sharedHash else {
                take(file, at: folder.blob(name))
                continue
            }
            // The link itself has no content; the payload is deleted with the last valid line of its manifest.
            guard let lines = store.references(hash) else { continue }
            let left = lines.filter { line in
                let parts = line.split(separator: "/")
                return !isGone(String(parts[2]), of: RepositoryFolder(cache: layout, name: String(parts[0])))
            }
            if left.isEmpty { take(file, at: store.payload(hash)) }
        }
    }

    mutating func take(partials: [CachedBlob], of folder: RepositoryFolder) {
        for partial in partials where blobsGone[folder, default: []].insert(partial.name).inserted {
            if let file = partial.file { take(file, at: folder.blob(partial.name)) }
        }
    }
}
