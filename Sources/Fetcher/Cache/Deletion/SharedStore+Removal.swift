import HubCore

extension SharedStore {
    /// After links to a payload are gone: under its lock, deletes it if its manifest has no valid line, else writes the
    /// valid lines.
    ///
    /// - Parameter openFiles: files that other processes read, which are kept.
    func remove(unused hash: String, sparing openFiles: OpenFiles = OpenFiles(), _ tally: inout FreedTally)
        throws(AIError)
    {
        // A link can outlive its target and the target's folder.
        guard let folder = try self.folder(of: hash) else { return }
        let lock = try lockFile(hash, in: folder)
        // Held only briefly; a longer holder is publishing, so the payload is needed.
        guard try lock.tryLock() != false, let valid = references(hash) else { return }
        guard valid.isEmpty else { return try writeManifest(hash, valid, in: folder) }
        if let status = try folder.status(of: hash) {
            guard status.kind == .file, openFiles.users[PhysicalFile(status).identity] == nil else { return }
            if try folder.remove(hash) { tally.add(status) }
        }
        // Last, for without it the payload could never be deleted.
        try folder.remove(hash + ".refs")
    }
}
