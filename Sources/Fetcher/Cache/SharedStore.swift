import HubCore

/// The blob store that repositories of one cache share since huggingface_hub 2: `<cache>/blobs/<2 digits>/<xet hash>`,
/// with `<hash>.refs` naming the repository blobs that link to a payload and `<hash>.lock` around every change.
///
/// The store is read and cleaned here, never added to: only a client that has verified a payload as Xet may publish it.
struct SharedStore {
    let layout: CacheLayout

    /// Whether `<cache>/blobs` is the store: its marker contains exactly `1`.
    func exists() -> Bool {
        let marker = Path.join(layout.sharedStore, ".huggingface-shared-blobs")
        guard (try? FileSystem.linkStatus(marker))?.kind == .file else { return false }
        return (try? FileSystem.text(marker)) == "1\n"
    }

    func payload(_ hash: String) -> String {
        Path.join(Path.join(layout.sharedStore, String(hash.prefix(2))), hash)
    }

    /// The path of a usable payload: a plain file of this size. nil if there is none, or the hash is invalid: the Hub
    /// redacts those of gated repositories.
    func ready(_ hash: String, size: Int64) throws(AIError) -> String? {
        guard case .sha256? = ContentDigest(etag: hash) else { return nil }
        let path = payload(hash)
        guard let status = try FileSystem.linkStatus(path), status.kind == .file, status.size == size else {
            return nil
        }
        return path
    }

    /// The payload's name, if a repository blob links into the store. Only the link's text counts: the first hop
    /// identifies a blob.
    func hash(ofLink text: String, in folder: RepositoryFolder) -> String? {
        let target = Path.normalized(Path.join(folder.blobs, text))
        guard let below = target.dropping(prefix: layout.sharedStore + "/") else { return nil }
        let parts = below.split(separator: "/")
        guard parts.count == 2, case .sha256(let hash)? = ContentDigest(etag: String(parts[1])),
            parts[0] == hash.prefix(2)
        else { return nil }
        return hash
    }

    /// All payloads.
    func payloads() throws(AIError) -> [CachedBlob] {
        var out: [CachedBlob] = []
        for prefix in try FileSystem.entries(layout.sharedStore) ?? [] where prefix.utf8.count == 2 {
            let folder = Path.join(layout.sharedStore, prefix)
            for name in try FileSystem.entries(folder) ?? [] {
                guard case .sha256? = ContentDigest(etag: name),
                    let status = try FileSystem.linkStatus(Path.join(folder, name)),
                    status.kind == .file
                else { continue }
                out.append(CachedBlob(name: name, file: PhysicalFile(status), sharedHash: name))
            }
        }
        return out
    }

    /// The valid lines of a payload's manifest; nil if the manifest is missing or unreadable, in which case the payload
    /// must not be deleted.
    func references(_ hash: String) -> [String]? {
        let manifest = payload(hash) + ".refs"
        guard (try? FileSystem.linkStatus(manifest))?.kind == .file,
            let text = (try? FileSystem.text(manifest, limit: 64 << 20)) ?? nil
        else { return nil }
        var out: [String] = []
        for line in text.split(separator: "\n") where !out.contains(String(line)) {
            let parts = line.split(separator: "/")
            // Any folder that Python could use: even one with an invalid name can link to the payload.
            guard parts.count == 3, parts[1] == "blobs", !parts.contains(".."), !line.hasPrefix("/"),
                RepositoryKind.allCases.contains(where: { parts[0].hasPrefix($0.plural + "--") })
            else { continue }
            let folder = RepositoryFolder(cache: layout, name: String(parts[0]))
            if let link = FileSystem.linkText(folder.blob(String(parts[2]))),
                self.hash(ofLink: link, in: folder) == hash
            {
                out.append(String(line))
            }
        }
        return out
    }

    /// The open folder of a payload, opened without following links; nil if it is gone.
    ///
    /// - Parameter making: creates it if missing.
    func folder(of hash: String, making: Bool = false) throws(AIError) -> OpenFolder? {
        try OpenFolder.open(layout.root)?.place(of: "blobs/\(hash.prefix(2))/\(hash)", making: making)?.folder
    }

    /// The lock file of a payload.
    func lockFile(_ hash: String, in folder: OpenFolder) throws(AIError) -> FileDescriptor {
        let file = try FileDescriptor(
            hash + ".lock", in: folder, [.write, .create, .noFollow, .nonBlocking], mode: 0o666)
        // All users of the cache must be able to take the lock, whatever our umask; another user's file keeps its mode.
        try? file.setMode(0o666)
        return file
    }

    /// Writes a payload's manifest, under its lock. All users of the cache must be able to add to it.
    func writeManifest(_ hash: String, _ lines: some Sequence<String>, in folder: OpenFolder) throws(AIError) {
        let text = lines.sorted().joined(separator: "\n") + "\n"
        // Always the same name, so that a leftover is overwritten.
        let temporary = hash + ".refs.hub.tmp"
        try folder.remove(temporary)
        try folder.replace(
            hash + ".refs", with: Array(text.utf8), mode: 0o666, isModeExact: true, durable: true,
            temporary: (folder, temporary))
    }

    /// After links to a payload are gone: under its lock, deletes it if its manifest has no valid line, else writes the
    /// valid lines. Returns the freed bytes.
    func sweep(_ hash: String, sparing open: OpenFiles = OpenFiles()) throws(AIError) -> FreedBytes {
        var freed = FreedBytes()
        // A link can outlive its target and the target's folder.
        guard let folder = try folder(of: hash) else { return freed }
        let lock = try lockFile(hash, in: folder)
        // Held only briefly; a longer holder is publishing, so the payload is needed.
        guard try lock.tryLock() != false, let valid = references(hash) else { return freed }
        guard valid.isEmpty else {
            try writeManifest(hash, valid, in: folder)
            return freed
        }
        if let status = try folder.status(of: hash) {
            guard status.kind == .file, open.users[PhysicalFile(status).identity] == nil else { return freed }
            if try folder.remove(hash) { freed.add(status) }
        }
        // A manifest alone is left from an interruption.
        try folder.remove(hash + ".refs")
        return freed
    }
}
