import HubCore

/// How payloads of the shared store are deleted.
struct PayloadRemoval {
    let store: SharedStore
    /// Files that other processes read are kept.
    var openFiles = OpenFiles()

    /// After links to a payload are gone: under its lock, deletes it if its manifest has no valid line, else writes the
    /// valid lines. Returns the freed bytes.
    func remove(_ hash: String) throws(AIError) -> FreedBytes {
        var freed = FreedBytes()
        // A link can outlive its target and the target's folder.
        guard let folder = try store.folder(of: hash) else { return freed }
        let lock = try store.lockFile(hash, in: folder)
        // Held only briefly; a longer holder is publishing, so the payload is needed.
        guard try lock.tryLock() != false, let valid = store.references(hash) else { return freed }
        guard valid.isEmpty else {
            try store.writeManifest(hash, valid, in: folder)
            return freed
        }
        if let status = try folder.status(of: hash) {
            guard status.kind == .file, openFiles.users[PhysicalFile(status).identity] == nil else { return freed }
            if try folder.remove(hash) { freed.add(status) }
        }
        // A manifest alone is left from an interruption.
        try folder.remove(hash + ".refs")
        return freed
    }
}
