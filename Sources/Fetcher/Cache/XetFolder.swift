package import HubCore

/// What the Xet transfers of Python's client keep beside the cache: chunks and shards that are fetched and made again
/// when they are missing, and the uploads of which something is still to be sent (`staging`).
/// https://huggingface.co/docs/huggingface_hub/guides/manage-cache#chunk-based-caching-xet
package struct XetFolder: Sendable, Hashable {
    package let path: String

    package init(path: String) { self.path = path }

    /// What lies in it.
    package struct Contents: Sendable, Hashable {
        /// st_size of all files, each physical file once.
        package var bytes: Int64 = 0
        package var files = 0
        /// When a file of it was last written, seconds since 1970; 0 where there is none.
        package var newest: Double = 0
        /// Folders that could not be read.
        package var unreadable: [String] = []

        package init() {}
    }

    /// What it holds now; an absent folder holds nothing.
    package func contents() -> Contents {
        var contents = Contents()
        var seen: Set<PhysicalFile.Identity> = []
        func visit(_ open: () throws(AIError) -> OpenFolder?, _ path: String) {
            do throws(AIError) {
                guard let folder = try open() else { return }
                for entry in try folder.entries() {
                    guard let status = try folder.status(of: entry) else { continue }
                    if status.kind == .directory, entry.isText {
                        visit({ () throws(AIError) in try folder.folder(entry.name) }, Path.join(path, entry.name))
                    } else if status.kind == .file {
                        contents.newest = max(contents.newest, status.modified)
                        guard seen.insert(PhysicalFile(status).identity).inserted else { continue }
                        contents.files += 1
                        contents.bytes += status.size
                    }
                }
            } catch {
                contents.unreadable.append(path)
            }
        }
        visit({ () throws(AIError) in try OpenFolder.open(path) }, path)
        return contents
    }

    /// Deletes what can be fetched and made again, and returns the bytes that went. What waits to be uploaded stays.
    ///
    /// - Parameter now: nothing goes where anything was written within the hour before: a transfer may be at work.
    package func sweep(now: Double) throws(AIError) -> Int64 {
        let before = contents()
        guard isIdle(before, now: now) else { return 0 }
        for server in try FileSystem.entries(path) ?? [] {
            let folder = Path.join(path, server)
            guard try FileSystem.linkStatus(folder)?.kind == .directory else { continue }
            let caches = ["chunk-cache", "shard-cache"].map { Path.join(folder, $0) }.filter(FileSystem.exists)
            for cache in caches { try FileSystem.removeTree(cache) }
            // What never was a server's folder is somebody's own.
            if !caches.isEmpty { try FileSystem.removeEmptyDirectory(folder) }
        }
        return before.bytes - contents().bytes
    }

    /// Whether nothing was written within the last hour.
    package func isIdle(_ contents: Contents, now: Double) -> Bool { now - contents.newest >= 3600 }
}
