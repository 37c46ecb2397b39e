import Catalog
package import HubCore

/// The work of pulling one repository at one commit.
package struct PullPlan: Sendable {
    /// The state of one wanted file.
    package enum State: Sendable, Hashable {
        /// In the snapshot.
        case present
        /// The blob exists; only the link is missing.
        case blob
        /// The content is on this machine at this path, and only has to be verified and put in place: in another
        /// repository of the cache or the shared store; for a local folder in the cache or already in place.
        case elsewhere(String)
        /// Another file, not from a pull, is in its place in a local folder.
        case foreign
        /// To be fetched; this many bytes are safe in a partial.
        case missing(safe: Int64)

        /// Whether it must be fetched.
        var isMissing: Bool { if case .missing = self { true } else { false } }
    }

    /// Where content that has the right digest may be taken from, besides the repository's own folder.
    package enum Reuse: Sendable, Hashable {
        /// Other repositories, the shared store, other programs' stores.
        case everywhere
        /// These folders of the cache: whoever asks may not see the others, and a digest alone is no right to a content.
        case only(Set<String>)

        func covers(_ folder: String) -> Bool {
            switch self {
            case .everywhere: true
            case .only(let folders): folders.contains(folder)
            }
        }
    }

    package var repository: Repository
    package var folder: RepositoryFolder
    package let destination: Destination
    package var commit: Commit
    /// The branch or tag to write to `refs/`; nil if a commit was requested.
    package var ref: String?
    package var tree: RepositoryTree
    /// The choice of files.
    package let choice: FileChoice
    /// Whether the choice is that of earlier pulls.
    package internal(set) var isFollowing = false
    /// Whether changed files in a local folder are replaced.
    let replacesChanged: Bool
    /// Whether cached files are fetched too.
    let isForced: Bool
    /// The wanted files in the order of the tree.
    package var files: [(file: RepositoryFile, state: State)]

    /// Damaged files, which count as missing.
    let damaged: DamagedFiles

    /// Whether the repository is new to the cache.
    let isNew: Bool

    /// Sources that are files of other programs: they are cloned or copied, never linked.
    private(set) var foreign: Set<String> = []

    /// Bytes of partials that a pull uses or removes, by path.
    private(set) var reservedBytes: [String: Int64] = [:]

    /// The final path of the files.
    package var path: String { destination.path(commit, of: folder) }
    /// A folder, existing or not, on the file system that needs space.
    package var root: String { destination.root(folder.cache) }

    package var totalBytes: Int64 { files.lazy.map(\.file).totalSize }
    package var cachedBytes: Int64 { sum { $0 == .present || $0 == .blob } }
    package var reusableBytes: Int64 { sum { if case .elsewhere = $0 { true } else { false } } }
    /// The cost of only this plan.
    package var totals: PullTotals { PullTotals([self]) }

    /// Whether anything must be fetched.
    package var needsNetwork: Bool { files.contains { $0.state.isMissing } }
    /// Whether everything is in the snapshot.
    var isWhole: Bool { !needsWork }
    /// Whether anything must be written.
    var needsWork: Bool { files.contains { $0.state != .present } || !FileSystem.exists(path) }

    private func sum(_ counts: (State) -> Bool) -> Int64 {
        files.reduce(0) { counts($1.state) ? $0.addingClamped($1.file.size) : $0 }
    }

    /// Checks every wanted file on disk. Writes nothing.
    ///
    /// - Parameters:
    ///   - force: treats nothing in the cache as present; in a local folder changed files are replaced.
    ///   - damaged: files that do not count as present.
    ///   - reuse: where content may be taken from.
    /// - Throws: ``ErrorCode/nothingMatches`` if the choice leaves no file.
    package init(
        _ repository: Repository, in layout: CacheLayout, tree: RepositoryTree, ref: String?, choice: FileChoice,
        force: Bool, destination: Destination = .cache, damaged: DamagedFiles = DamagedFiles(),
        reuse: Reuse = .everywhere
    ) throws(AIError) {
        self.repository = repository
        self.tree = tree
        let choice = choice.isEverything ? choice : choice.meant(among: tree.files.map(\.path))
        self.choice = choice
        replacesChanged = force && !destination.isCache
        isForced = force
        self.ref = ref
        self.destination = destination
        self.damaged = damaged
        commit = tree.commit
        folder = layout.repository(repository)
        isNew = !FileSystem.exists(folder.path)
        files = []
        let wanted = choice.isEverything ? tree.files : tree.files.filter { choice.matches($0.path) }
        guard !wanted.isEmpty || tree.files.isEmpty else {
            throw tree.noFile(of: repository, fits: choice)
        }
        let others = OtherFolders(layout, besides: folder, reuse)
        let interrupted = try folder.interrupted()
        let shared = SharedStore(layout: layout)
        let store = reuse == .everywhere && shared.exists() ? shared : nil
        files.reserveCapacity(wanted.count)
        for file in wanted {
            files.append(
                (
                    file,
                    try state(
                        of: file, force: force, layout: layout, others: others, store: store,
                        interrupted: interrupted)
                ))
        }
    }

    private mutating func state(
        of file: RepositoryFile, force: Bool, layout: CacheLayout, others: OtherFolders, store: SharedStore?,
        interrupted: Set<String>
    ) throws(AIError) -> State {
        switch destination {
        case .cache:
            // Nothing to check in a new repository; some trees have a million files.
            if force || isNew && !file.isLFS { return .missing(safe: 0) }
            if let state = try stateInSnapshot(of: file, interrupted: interrupted) { return state }
        case .folder(let local):
            if let state = try state(of: file, in: local) { return state }
        }
        // Never by git's SHA-1, which has collisions.
        if file.isLFS {
            if let hash = file.xetHash, let payload = try store?.ready(hash, size: file.size) {
                return .elsewhere(payload)
            }
            for other in try others.all() {
                if try SnapshotFile.hasBlob(file, in: other) { return .elsewhere(other.blob(file.digest.hex)) }
            }
        }
        return .missing(safe: try safeBytes(of: file))
    }

    /// The state of a file that the snapshot or the repository has; nil if neither has it.
    private func stateInSnapshot(of file: RepositoryFile, interrupted: Set<String>) throws(AIError) -> State? {
        if !damaged.isEmpty {
            if try !damaged.contains(file.digest, at: Path.join(path, file.path)),
                try SnapshotFile.state(file, commit: commit, in: folder) == .present
            {
                return .present
            }
            return try places(file).isReady() ? .blob : nil
        }
        // An interrupted pull may have left files to clean up.
        let isTidy = !interrupted.contains(file.digest.hex)
        if isTidy, try SnapshotFile.state(file, commit: commit, in: folder) == .present { return .present }
        return try SnapshotFile.hasBlob(file, in: folder) ? .blob : nil
    }

    /// The state of a file that a local folder or the repository has; nil if neither has it.
    private func state(of file: RepositoryFile, in local: LocalFolder) throws(AIError) -> State? {
        var found = try damaged.contains(file.digest, at: local.place(file.path)) ? .absent : local.state(of: file)
        if found == .foreign, replacesChanged { found = .absent }
        switch found {
        case .unchanged:
            let isCurrent = try local.note(of: file.path)?.commit == commit.hash
            return isCurrent && local.places(file).isTidy ? .present : .blob
        case .unknown: return .elsewhere(local.place(file.path))
        case .foreign: return .foreign
        case .absent, .outdated:
            return try SnapshotFile.hasBlob(file, in: folder) ? .elsewhere(folder.blob(file.digest.hex)) : nil
        }
    }

    /// Takes missing files from other programs' stores, as hub cache adopt registered them. The cache gets a copy of its own:
    /// one name less is hub cache adopt's work, which asks and can undo it.
    mutating func take(_ registered: [String: Adoption]) throws(AIError) {
        for index in files.indices where files[index].state.isMissing && files[index].file.isLFS {
            guard let known = registered[files[index].file.digest.hex],
                let status = try FileSystem.status(known.path), status.kind == .file,
                status.size == files[index].file.size
            else { continue }
            files[index].state = .elsewhere(known.path)
            foreign.insert(known.path)
        }
    }

    /// Takes missing files of the repository from a cache of others.
    mutating func take(from cache: CacheLayout) throws(AIError) {
        let other = cache.repository(repository)
        for index in files.indices where files[index].state.isMissing && files[index].file.isLFS {
            guard try SnapshotFile.hasBlob(files[index].file, in: other) else { continue }
            let source = other.blob(files[index].file.digest.hex)
            files[index].state = .elsewhere(source)
            foreign.insert(source)
        }
    }

    /// The paths for assembling a file.
    func places(_ file: RepositoryFile) -> TransferPlaces {
        var places = destination.places(file, of: folder)
        guard !damaged.isEmpty else { return places }
        places.isReady = { [damaged, content = places.content, isReady = places.isReady] () throws(AIError) in
            if try damaged.contains(file.digest, at: content) { return false }
            return try isReady()
        }
        return places
    }

    /// The safe bytes in a partial; also records its reserved space.
    private mutating func safeBytes(of file: RepositoryFile) throws(AIError) -> Int64 {
        let places = places(file)
        guard let partial = try FileSystem.linkStatus(places.partial), partial.kind == .file else { return 0 }
        reservedBytes[file.path] = partial.size
        guard partial.size == file.size, let map = RangeMap.read(places.map), map.digest == file.digest,
            map.size == file.size
        else { return 0 }
        return map.safe.count
    }
}

/// The other repositories of a cache, listed once one of them may have a missing content: a cache has thousands, and most
/// plans need none.
private final class OtherFolders {
    private let layout: CacheLayout
    private let own: RepositoryFolder
    private let reuse: PullPlan.Reuse
    private var found: [RepositoryFolder]?

    init(_ layout: CacheLayout, besides own: RepositoryFolder, _ reuse: PullPlan.Reuse) {
        (self.layout, self.own, self.reuse) = (layout, own, reuse)
    }

    func all() throws(AIError) -> [RepositoryFolder] {
        if let found { return found }
        let names = (try FileSystem.entries(layout.root) ?? []).filter {
            $0 != own.name && reuse.covers($0) && Repository(folderName: $0) != nil
        }
        let folders = names.map { RepositoryFolder(cache: layout, name: $0) }
        found = folders
        return folders
    }
}

extension Sequence where Element == RepositoryFile {
    /// Bytes of all files together. The sizes come from a server, so the sum is clamped.
    var totalSize: Int64 { reduce(0) { $0.addingClamped($1.size) } }
}

extension Int64 {
    func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

extension FileChoice {
    /// As a person would say it.
    package var description: String { filters.map(\.description).joined(separator: ", ") }
}

extension RepositoryTree {
    /// The error for a choice that leaves none of the files.
    package func noFile(of repository: Repository, fits choice: FileChoice) -> AIError {
        let some = files.prefix(8).map(\.path).joined(separator: ", ")
        return AIError(
            .nothingMatches, "no file of \(repository) matches \(choice.description)",
            advice: "it has \(files.count) files: \(some.printable)\(files.count > 8 ? ", ..." : "")",
            context: .init(repository: repository.description))
    }
}

extension FileFilter {
    /// As a person would say it.
    fileprivate var description: String {
        var parts: [String] = []
        if let include { parts.append(include.map { "\"\($0.pattern.printable)\"" }.joined(separator: " or ")) }
        if !exclude.isEmpty {
            parts.append("without " + exclude.map { "\"\($0.pattern.printable)\"" }.joined(separator: " and "))
        }
        let globs = parts.joined(separator: " ")
        guard let selection else { return globs.isEmpty ? "anything" : globs }
        let name = selection.name.printable
        return globs.isEmpty ? name : "\(globs) among the files of \(name)"
    }
}
