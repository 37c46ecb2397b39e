package import HubCore

/// A folder beside the cache into which deletions can move things instead: by rename alone, so that it costs nothing, frees
/// nothing, and comes back exactly. Each entry has its manifest before its first move.
package struct Trash: Sendable {
    let layout: CacheLayout
    /// The folder; it need not exist.
    package let path: String

    package init(_ layout: CacheLayout) {
        self.layout = layout
        path = layout.root + "-trash"
    }

    /// Makes the folder, with the cache's own mode: what lies there is as private as before.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` where a rename cannot go there.
    package func create() throws(AIError) {
        guard let cache = try FileSystem.status(layout.root) else { return }
        let place = FileSystem.exists(path) ? path : Path.parent(path)
        guard try FileSystem.status(place)?.device == cache.device else {
            throw AIError(
                .invalidInput, "\(path) would be on another file system than the cache, so nothing can be moved there",
                advice: "leave --trash out", context: .init(path: path))
        }
        guard !FileSystem.exists(path) else { return }
        try FileSystem.createDirectories(path)
        try FileSystem.setMode(path, cache.mode)
    }

    func place(_ entry: TrashEntry) -> String { Path.join(path, entry.name) }
    func place(_ name: String, of entry: TrashEntry) -> String { Path.join(place(entry), name) }

    /// What lies in the trash, the newest first. What has no manifest yet holds nothing.
    package func entries() throws(AIError) -> [TrashEntry] {
        var out: [TrashEntry] = []
        for name in try FileSystem.entries(path) ?? [] where !name.hasPrefix(".") {
            guard let bytes = try FileSystem.contents(Path.join(Path.join(path, name), TrashEntry.manifest)) else {
                continue
            }
            guard let json = try? JSON.parse(bytes), let entry = TrashEntry(name: name, json: json) else {
                throw AIError(
                    .ioError, "\(Path.join(path, name)) has a manifest that cannot be read",
                    advice: "move what you need out of it by hand, then remove it", context: .init(path: path))
            }
            out.append(entry)
        }
        return out.sorted { ($1.trashedAt, $1.name) < ($0.trashedAt, $0.name) }
    }

    func write(_ entry: TrashEntry) throws(AIError) {
        try FileSystem.createDirectories(place(entry))
        try FileSystem.replace(
            place(TrashEntry.manifest, of: entry), with: Array(JSON.object(entry.json).text().utf8), durable: true)
    }

    // MARK: Emptying

    /// Deletes entries for good.
    package func empty(_ entries: [TrashEntry]) throws(AIError) -> Deletion.Outcome {
        var freed = Deletion.Outcome.Freed()
        for entry in entries {
            // Half an entry is none to bring back.
            let gone = Path.join(path, ".deleted-" + entry.name)
            try FileSystem.rename(place(entry), to: gone)
        }
        for name in try FileSystem.entries(path) ?? [] where name.hasPrefix(".deleted-") {
            try delete(Path.join(path, name), &freed)
        }
        try FileSystem.removeEmptyDirectory(path)
        return Deletion.Outcome(freedBytes: freed.size, allocatedBytes: freed.allocated)
    }

    private func delete(_ folder: String, _ freed: inout Deletion.Outcome.Freed) throws(AIError) {
        for name in try FileSystem.entries(folder) ?? [] {
            let child = Path.join(folder, name)
            guard let status = try FileSystem.linkStatus(child) else { continue }
            if status.kind == .directory {
                try delete(child, &freed)
            } else if try FileSystem.remove(child), name != TrashEntry.manifest, !folder.hasSuffix("/refs") {
                freed.add(status)
            }
        }
        try FileSystem.removeTree(folder)
    }
}
