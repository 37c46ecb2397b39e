package import HubCore

/// The folder in which Hugging Face's own client for Xet storage keeps chunks between downloads, apart from the cache of
/// models: `HF_XET_CACHE`, else `xet` below `HF_HOME`. In it each server has a folder with `chunk_cache`, `shard_cache`
/// (older clients wrote a dash) and `staging`. The first two can be fetched again; the third holds uploads that are not
/// finished, and it stays, as does whatever else lies there.
/// https://huggingface.co/docs/huggingface_hub/guides/manage-cache#chunk-based-caching-xet
package struct XetFolder: Sendable, Hashable {
    /// The folder.
    package let path: String
    /// Bytes that its going would free: st_size of the files that have no other name.
    package private(set) var size: Int64 = 0
    /// What can go, by path below the folder; a folder comes behind what is in it.
    package private(set) var entries: [Entry] = []
    /// When something in it was last read or changed, seconds since 1970; nil where it is empty.
    package private(set) var lastUsedAt: Double?
    private var changedAt = 0.0

    package struct Entry: Sendable, Hashable {
        package var path: String
        /// st_size in bytes; nil for a folder.
        package var size: Int64?
    }

    private static let caches: Set<String> = ["chunk_cache", "chunk-cache", "shard_cache", "shard-cache"]

    /// Reads the folder, which need not exist.
    package init(_ environment: HubEnvironment) throws(AIError) {
        path =
            environment["HF_XET_CACHE"].map(environment.expand) ?? Path.join(environment.huggingFaceHome, "xet")
        for server in try Self.folders(in: path) {
            for name in try Self.folders(in: Path.join(path, server)) where Self.caches.contains(name) {
                try list("\(server)/\(name)")
            }
        }
    }

    /// Whether there is nothing that can go.
    package var isEmpty: Bool { entries.isEmpty }

    /// Why it is to be left alone now; nil where nothing speaks against its going. Its client takes no lock that would
    /// show that it is at work, so it is left alone for an hour, as other clients' partials are.
    package func obstacle(now: Double) -> String? {
        now - changedAt < 3600 ? "in use: another program may still be writing into it" : nil
    }

    /// The folders in a folder; a link is none, for what it leads to is somebody else's.
    private static func folders(in path: String) throws(AIError) -> [String] {
        guard try FileSystem.linkStatus(path)?.kind == .directory else { return [] }
        var out: [String] = []
        for name in try FileSystem.entries(path) ?? []
        where try FileSystem.linkStatus(Path.join(path, name))?.kind == .directory {
            out.append(name)
        }
        return out
    }

    private mutating func list(_ below: String) throws(AIError) {
        for name in try FileSystem.entries(Path.join(path, below)) ?? [] {
            let place = "\(below)/\(name)"
            guard let status = try FileSystem.linkStatus(Path.join(path, place)) else { continue }
            if status.kind == .directory {
                try list(place)
                continue
            }
            if status.kind == .file, status.links == 1 { size += status.size }
            entries.append(Entry(path: place, size: status.size))
            changedAt = max(changedAt, status.modified)
            lastUsedAt = max(lastUsedAt ?? 0, status.accessed, status.modified)
        }
        entries.append(Entry(path: below))
    }

    /// Removes what was listed; what has come since stays.
    ///
    /// - Returns: bytes freed: st_size of each file whose last name went.
    package func remove() throws(AIError) -> Int64 {
        var freed: Int64 = 0
        for entry in entries {
            let place = Path.join(path, entry.path)
            if entry.size == nil {
                try FileSystem.removeEmptyDirectory(place)
                continue
            }
            guard let status = try FileSystem.linkStatus(place), try FileSystem.remove(place) else { continue }
            if status.kind == .file, status.links == 1 { freed += status.size }
        }
        return freed
    }
}
