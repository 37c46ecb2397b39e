package import HubCore

/// The Xet client's folder beside the cache: chunks and shards, which are recreated when missing, and unfinished
/// uploads (`staging`). https://huggingface.co/docs/huggingface_hub/guides/manage-cache#chunk-based-caching-xet
package struct XetFolder: Sendable, Hashable {
    package let path: String

    package init(path: String) { self.path = path }

    /// Its contents.
    package struct Contents: Sendable, Hashable {
        /// st_size of all files, each physical file once.
        package var bytes: Int64 = 0
        package var files = 0
        /// When a file of it was last written, seconds since 1970; 0 if there is none.
        package var newest: Double = 0
        /// Folders that could not be read.
        package var unreadable: [String] = []

        package init() {}
    }

    /// Its current contents; an absent folder is empty.
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

    /// The files that can be recreated, and so deleted.
    package struct Removable: Sendable, Hashable {
        /// A folder comes after its contents.
        package fileprivate(set) var entries: [Entry] = []
        /// Bytes freed by deleting them: st_size of the files without another name.
        package fileprivate(set) var size: Int64 = 0
        /// When something in it was last read or changed, seconds since 1970; nil if it is empty.
        package fileprivate(set) var lastUsedAt: Double?

        package var isEmpty: Bool { entries.isEmpty }

        package struct Entry: Sendable, Hashable {
            package var path: String
            /// st_size in bytes; nil for a folder.
            package var size: Int64?
        }

        fileprivate mutating func list(_ folder: String) throws(AIError) {
            for name in try FileSystem.entries(folder) ?? [] {
                let path = Path.join(folder, name)
                guard let status = try FileSystem.linkStatus(path) else { continue }
                if status.kind == .directory {
                    try list(path)
                    continue
                }
                if status.kind == .file, status.links == 1 { size += status.size }
                entries.append(Entry(path: path, size: status.size))
                lastUsedAt = max(lastUsedAt ?? 0, status.accessed, status.modified)
            }
            entries.append(Entry(path: folder, size: nil))
        }
    }

    /// The files that could be deleted now.
    package func removable() throws(AIError) -> Removable {
        var out = Removable()
        for server in try servers() { for cache in server.caches { try out.list(cache) } }
        return out
    }

    /// The folders of servers with their deletable subfolders; links are left out.
    private func servers() throws(AIError) -> [(path: String, caches: [String])] {
        func folders(_ path: String) throws(AIError) -> [String] {
            var out: [String] = []
            for name in try FileSystem.entries(path) ?? [] {
                let child = Path.join(path, name)
                if try FileSystem.linkStatus(child)?.kind == .directory { out.append(child) }
            }
            return out
        }
        guard try FileSystem.linkStatus(path)?.kind == .directory else { return [] }
        var out: [(path: String, caches: [String])] = []
        for server in try folders(path) {
            // Other folders are not ours.
            let caches = try folders(server).filter { Self.caches.contains(Path.name($0)) }
            if !caches.isEmpty { out.append((server, caches)) }
        }
        return out
    }

    /// Newer and older clients use different names.
    private static let caches: Set<String> = ["chunk_cache", "chunk-cache", "shard_cache", "shard-cache"]

    /// Deletes the files that can be recreated, and returns the freed bytes. Pending uploads stay.
    ///
    /// - Parameter now: nothing is deleted if anything was written within the hour before: a transfer may be running.
    package func sweep(now: Double) throws(AIError) -> Int64 {
        let before = contents()
        guard isIdle(before, now: now) else { return 0 }
        let servers = try servers()
        guard !servers.isEmpty, let above = try OpenFolder.open(Path.parent(path)),
            let top = try above.ownFolder(OpenFolder.Entry(Path.name(path)))
        else { return 0 }
        for server in servers {
            let name = Path.name(server.path)
            guard let folder = try top.ownFolder(OpenFolder.Entry(name)) else { continue }
            for cache in server.caches { try folder.removeTree(Path.name(cache)) }
            try top.removeEmptyFolder(name)
        }
        return before.bytes - contents().bytes
    }

    /// Whether nothing was written within the last hour.
    package func isIdle(_ contents: Contents, now: Double) -> Bool { now - contents.newest >= 3600 }
}
