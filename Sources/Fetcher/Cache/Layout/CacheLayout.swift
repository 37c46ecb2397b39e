package import HubCore

/// The layout of the cache shared by all Hugging Face libraries.
/// https://huggingface.co/docs/huggingface_hub/guides/manage-cache
package struct CacheLayout: Sendable, Hashable {
    /// The cache folder, links resolved as Python does, so that paths compare equal.
    package let root: String

    /// The layout of a cache folder, which need not exist yet.
    package init(_ folder: String) {
        var existing = Self.absolute(folder)
        var rest: [String] = []
        while FileSystem.resolved(existing) == nil, existing != "/" {
            rest.insert(Path.name(existing), at: 0)
            existing = Path.parent(existing)
        }
        root = rest.reduce(FileSystem.resolved(existing) ?? existing, Path.join)
    }

    /// The same, without following the last name where that is a link.
    init(unfollowed folder: String) {
        let path = Self.absolute(folder)
        root = path == "/" ? path : Path.join(CacheLayout(Path.parent(path)).root, Path.name(path))
    }

    private static func absolute(_ folder: String) -> String {
        Path.normalized(folder.hasPrefix("/") ? folder : Path.join(FileSystem.resolved(".") ?? "/", folder))
    }

    /// The folder of one repository.
    package func repository(_ repository: Repository) -> RepositoryFolder {
        RepositoryFolder(cache: self, name: repository.folderName)
    }

    /// The shared store of huggingface_hub 2: `<cache>/blobs`, only with its marker.
    package var sharedStore: String { Path.join(root, "blobs") }

    /// The names of the repository folders with a snapshot, complete or not. A folder without one is left from an
    /// interrupted pull or a deletion.
    package func heldFolders() throws(AIError) -> Set<String> {
        var held: Set<String> = []
        for name in try FileSystem.entries(root) ?? [] {
            guard let repository = Repository(folderName: name) else { continue }
            // The scan reports unreadable folders; here they count as empty.
            let snapshots = (try? self.repository(repository).snapshotNames()) ?? []
            if !snapshots.isEmpty { held.insert(name) }
        }
        return held
    }

    /// The group that shares the cache, as its folder says: mode 2770 or more; nil if it is one's own.
    package func sharingGroup() throws(AIError) -> UInt32? {
        guard let status = try FileSystem.status(root), status.mode & 0o2070 == 0o2070 else { return nil }
        return status.group
    }

    /// Creates the cache folder and its `CACHEDIR.TAG`, which tells backup programs to skip it.
    /// https://bford.info/cachedir/
    package func create() throws(AIError) {
        try FileSystem.createDirectories(root)
        let tag = Path.join(root, "CACHEDIR.TAG")
        guard !FileSystem.exists(tag) else { return }
        // The exact text that huggingface_hub writes.
        let text = """
            Signature: 8a477f597d28d172789f06886806bc55
            # This file is a cache directory tag created by huggingface_hub.
            # For information about cache directory tags, see:
            #\thttps://bford.info/cachedir/

            """
        try FileSystem.replace(tag, with: Array(text.utf8))
    }
}

/// The folder of one repository in the cache: `models--org--name`.
package struct RepositoryFolder: Sendable, Hashable {
    package let cache: CacheLayout
    /// The folder's name.
    package let name: String

    package init(cache: CacheLayout, name: String) {
        self.cache = cache
        self.name = name
    }

    /// Whether a folder of this name is a repository's.
    static func isName(_ name: String) -> Bool {
        !name.utf8.contains(UInt8(ascii: "/"))
            && (Repository(folderName: name) ?? Repository(foreignFolderName: name)) != nil
    }

    package var path: String { Path.join(cache.root, name) }
    package var blobs: String { Path.join(path, "blobs") }
    package var refs: String { Path.join(path, "refs") }
    package var snapshots: String { Path.join(path, "snapshots") }
    package var trees: String { Path.join(path, "trees") }
    package var missing: String { Path.join(path, ".no_exist") }
    /// Python's lock folder for this repository's blobs.
    package var locks: String { Path.join(Path.join(cache.root, ".locks"), name) }

    package func blob(_ etag: String) -> String { Path.join(blobs, etag) }
    package func snapshot(_ commit: Commit) -> String { Path.join(snapshots, commit.hash) }
    package func ref(_ revision: String) -> String { Path.join(refs, revision) }
    package func tree(_ commit: Commit) -> String { Path.join(trees, commit.hash + ".json") }
    package func lock(_ etag: String) -> String { Path.join(locks, etag + ".lock") }

    /// The temporary path of links and copies.
    func partialLink(_ etag: String) -> String {
        Path.join(blobs, "\(etag).\(FileSystem.randomHex(4)).hub.link.incomplete")
    }
    static func partialRef() -> String { "ref.\(FileSystem.randomHex(4)).hub.incomplete" }
    func partialCopy(_ etag: String) -> String { Path.join(blobs, etag + ".hub.copy.incomplete") }

    /// The blob of a partial: the name up to the first dot, ignoring a leading one.
    static func etag(ofPartial name: String) -> String {
        String(name.dropFirst(name.hasPrefix(".") ? 1 : 0).prefix { $0 != "." })
    }

    /// The blobs with leftovers of interrupted pulls: a partial, a map, or a temporary file.
    func interrupted() throws(AIError) -> Set<String> {
        let names = try FileSystem.entries(blobs) ?? []
        return Set(
            names.lazy.filter { $0.hasSuffix(".incomplete") && $0.contains(".hub.") }.map {
                String($0.prefix { $0 != "." })
            })
    }

    /// The relative link from a snapshot's file to its blob: one `..` per folder up to the repository.
    package static func linkText(path: String, etag: String) -> String {
        let depth = path.utf8.count { $0 == UInt8(ascii: "/") } + 2
        return String(repeating: "../", count: depth) + "blobs/" + etag
    }

    /// Creates the folder with an empty `snapshots/`, by a rename: Python's client reports a folder without it as
    /// damaged, and a kill may happen at any step.
    func create() throws(AIError) {
        // A file in its place is reported by name.
        if FileSystem.exists(path) { return try FileSystem.createDirectories(path) }
        let aside = Path.join(locks, "hub.new")
        let snapshots = Path.join(aside, "snapshots")
        try FileSystem.createDirectories(cache.root)
        do throws(AIError) { try FileSystem.createDirectories(snapshots) } catch {
            // Another process was faster: it has renamed or removed `aside` between the two levels.
            guard error.isAbsence, FileSystem.exists(path) else { throw error }
            return
        }
        // Not over a folder that another process has just made: what it makes in there would go nowhere.
        let isOurs: Bool
        do throws(AIError) { isOurs = try FileSystem.rename(aside, toNew: path) } catch { isOurs = false }
        if isOurs { return }
        // Another process was faster, or the locks are on another disk.
        try FileSystem.removeEmptyDirectory(snapshots)
        try FileSystem.removeEmptyDirectory(aside)
        try FileSystem.createDirectories(path)
    }

    // MARK: Snapshots

    /// File managers' files in `snapshots/`; Python skips them too.
    static let litter: Set<String> = [".DS_Store", "Thumbs.db", "desktop.ini"]

    static func isLitter(_ name: String) -> Bool { litter.contains(name) }

    /// The names in `snapshots/`, litter left out.
    func snapshotNames() throws(AIError) -> [String] {
        try (FileSystem.entries(snapshots) ?? []).filter { !Self.litter.contains($0) }
    }

    /// The files of a snapshot whose content is there.
    func readableFiles(_ commit: Commit) throws(AIError) -> Set<String> {
        let top = snapshot(commit)
        var found: Set<String> = []
        var waiting = [""]
        while let below = waiting.popLast() {
            for name in try FileSystem.entries(Path.join(top, below)) ?? [] {
                let path = below.isEmpty ? name : Path.join(below, name)
                switch try FileSystem.status(Path.join(top, path))?.kind {
                case .directory: waiting.append(path)
                case .file: found.insert(path)
                default: break
                }
            }
        }
        return found
    }

    /// The blobs that links in a folder tree point to now.
    func linkedBlobs(below path: String) throws(AIError) -> Set<String> {
        guard let place = try OpenFolder.open(path) else { return [] }
        return try linkedBlobs(in: place)
    }

    /// The blobs that links in an open folder's tree point to now.
    func linkedBlobs(in place: OpenFolder) throws(AIError) -> Set<String> {
        var out: Set<String> = []
        for entry in try place.entries() {
            if try place.status(of: entry)?.kind == .directory {
                if let inner = try place.ownFolder(entry) { out.formUnion(try linkedBlobs(in: inner)) }
            } else if let blob = blob(ofLink: entry, in: place) {
                out.insert(blob)
            }
        }
        return out
    }

    /// The entry of `blobs/` in a link's text; nil if it points elsewhere or is not a link.
    func blob(ofLink entry: OpenFolder.Entry, in place: OpenFolder) -> String? {
        guard let text = place.linkText(entry) else { return nil }
        let target = Path.normalized(Path.join(place.path, text))
        return Path.parent(target) == blobs ? Path.name(target) : nil
    }

    // MARK: Refs

    /// The commit of a branch or tag when it was last fetched. The file is 40 bytes; an added line end is accepted.
    package func commit(ofRef revision: String) throws(AIError) -> Commit? {
        guard RepositoryPath.fault(revision) == nil, let text = try FileSystem.text(ref(revision)) else {
            return nil
        }
        return Commit(text.filter { !$0.isWhitespace })
    }

    /// Writes a ref as Python does: 40 bytes, no line end, by rename, only if it changes.
    ///
    /// git does not allow a branch `foo` beside `foo/bar`, so a conflicting ref belongs to a deleted branch and is
    /// removed.
    package func writeRef(_ revision: String, _ commit: Commit) throws(AIError) {
        guard Commit(revision) == nil else { return }
        let path = ref(revision)
        if try FileSystem.text(path) == commit.hash { return }
        // A user may have moved the folder to another disk: a link to it is followed, links below it are not.
        if let refs = try OpenFolder.open(refs), try !makeRoom(for: revision, in: refs) { return }
        try FileSystem.createDirectories(Path.parent(path))
        // A temporary file left beside it by a crash would look like a ref.
        try FileSystem.createDirectories(blobs)
        try sweepRefs()
        for attempt in 1... {
            let temporary = Path.join(blobs, Self.partialRef())
            do throws(AIError) {
                return try FileSystem.replace(
                    path, with: Array(commit.hash.utf8), durable: true, temporary: temporary)
            } catch {
                // Another pull removed it as a leftover.
                guard error.isAbsence, attempt < 5 else { throw error }
            }
        }
    }

    /// Removes temporary files of killed ref writes.
    private func sweepRefs() throws(AIError) {
        for name in try FileSystem.entries(blobs) ?? []
        where name.hasPrefix("ref.") && name.hasSuffix(".hub.incomplete") {
            try FileSystem.remove(Path.join(blobs, name))
        }
    }

    /// Removes refs that conflict with a ref's path; false if there is no place for it.
    private func makeRoom(for revision: String, in refs: OpenFolder) throws(AIError) -> Bool {
        var place = refs
        var parts = Path.parts(revision).map { OpenFolder.Entry(String($0)) }
        guard !parts.contains(where: { $0.name == ".." }), let last = parts.popLast() else { return false }
        for part in parts {
            guard let status = try place.status(of: part) else { return true }
            guard status.kind == .directory else {
                try place.remove(part)
                return true
            }
            guard let next = try place.ownFolder(part) else { return true }
            place = next
        }
        if try place.status(of: last)?.kind == .directory {
            // Pull requests (`refs/pr/1`) are not branches: a branch `refs` may exist on the Hub but cannot be stored
            // here.
            if revision == "refs" || revision.hasPrefix("refs/") { return false }
            try place.removeTree(last)
        }
        return true
    }

    // MARK: Trees

    /// Writes `trees/<commit>.json` if missing.
    package func writeTree(_ tree: RepositoryTree) throws(AIError) {
        if try readTree(tree.commit) != tree { try tree.write(to: self.tree(tree.commit)) }
    }

    /// Reads `trees/<commit>.json`; nil if it is absent, unreadable, of another version or invalid, in which case the
    /// Hub must be asked.
    package func readTree(_ commit: Commit) throws(AIError) -> RepositoryTree? {
        try RepositoryTree.read(tree(commit), commit)
    }
}

extension RepositoryTree {
    /// Reads a file of `trees/`; nil as for ``RepositoryFolder/readTree(_:)``.
    static func read(_ path: String, _ commit: Commit) throws(AIError) -> RepositoryTree? {
        let bytes: [UInt8]?
        // About 200 bytes per file, and some repositories have hundreds of thousands.
        do throws(AIError) { bytes = try FileSystem.contents(path, limit: 1 << 30) } catch {
            // Python writes it 0600: in a shared cache another user's cannot be read.
            guard error.code == .permissionDenied else { throw error }
            bytes = nil
        }
        var files: [RepositoryFile] = []
        let isSound =
            bytes.map {
                TreeText.read($0) { file in
                    files.append(
                        RepositoryFile(
                            path: file.path, size: file.size, oid: file.oid, sha256: file.sha256,
                            xetHash: file.xetHash))
                }
            } ?? false
        return isSound ? RepositoryTree(commit: commit, files: files) : nil
    }
}
