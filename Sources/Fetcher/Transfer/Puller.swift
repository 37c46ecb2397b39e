package import Catalog
package import HubCore
import Synchronization

/// Brings repositories into the cache: name to metadata, to plan, to verified blobs, to links. The way everything else
/// fetches a model.
package struct Puller: Sendable {
    package let layout: CacheLayout
    package let client: HubClient
    /// Remembers every answer; nil where it cannot be used.
    package let catalog: Catalog?
    package var isOffline = false
    var limits = PullSession.Limits()

    package init(layout: CacheLayout, client: HubClient, catalog: Catalog?, isOffline: Bool = false) {
        self.layout = layout
        self.client = client
        self.catalog = catalog
        self.isOffline = isOffline
    }

    /// How a pull is done.
    package struct Options: Sendable {
        package var filter = FileFilter.all
        /// Chooses among the files once they are known; nil for all of them.
        package var select: (@Sendable (Repository, RepositoryTree, FileFilter) async throws -> FileSelection?)?
        /// Fetch what is here as well.
        package var force = false
        /// Connections over all files, at least 1.
        package var connections = 8
        /// Whether snapshots may be links; HF_HUB_DISABLE_SYMLINKS says no.
        package var symlinks = true
        package init() {}
    }

    /// What became of a pull.
    package struct Result: Sendable {
        package var plan: PullPlan
        /// Every wanted file, in the order of the plan.
        package var files: [PulledFile]
        package var seconds: Double
        package var path: String { plan.folder.snapshot(plan.commit) }
        package var downloadedBytes: Int64 { files.reduce(0) { $0 + $1.receivedBytes } }
        /// The first failure, if any.
        package var error: AIError? { files.first { $0.error != nil }?.error }
    }

    // MARK: What is there to fetch

    /// The commit that a revision stands for now. A full commit needs no question; offline, the cache's own refs answer.
    package func commit(of reference: ModelReference) async throws -> Commit {
        if let exact = reference.revision.flatMap(Commit.init) { return exact }
        let revision = reference.revision ?? "main"
        if isOffline {
            let folder = layout.repository(reference.repository)
            if let known = try folder.commit(ofRef: revision) { return known }
            throw AIError(
                .offline, "\(reference) is not in the cache, and the network is switched off",
                context: .init(repository: reference.repository.description))
        }
        let info = try await client.info(reference.repository, revision: reference.revision)
        remember { catalog throws(AIError) in
            try catalog.remember([info.record], detailed: true, at: Timestamp.now)
            try catalog.remember(
                [KnownRevision(name: revision, kind: .branch, commit: info.commit)], of: reference.repository,
                complete: false,
                at: Timestamp.now)
        }
        return info.commit
    }

    /// The files of a commit: from the catalog, from the cache, else from the Hub.
    package func tree(of repository: Repository, at commit: Commit) async throws -> RepositoryTree {
        let folder = layout.repository(repository)
        if let known = try await Offload.run({
            do throws(AIError) {
                if let known = try catalog?.tree(of: repository, at: commit) { return known }
            } catch {
                // The cache and the Hub know the tree too.
                client.notice("the catalog could not be read: \(error.message)")
            }
            return try folder.readTree(commit)
        }) {
            return known
        }
        guard !isOffline else {
            throw AIError(
                .offline,
                "the files of \(repository) at \(commit.short) are not known, and the network is switched off",
                context: .init(repository: repository.description))
        }
        let tree = try await client.tree(repository, at: commit)
        remember { catalog throws(AIError) in try catalog.remember(tree, of: repository, at: Timestamp.now) }
        return tree
    }

    /// The plan of a pull. Writes nothing into the cache.
    package func plan(_ reference: ModelReference, _ options: Options) async throws -> PullPlan {
        let commit = try await commit(of: reference)
        let tree = try await tree(of: reference.repository, at: commit)
        let ref = reference.revision.flatMap(Commit.init) == nil ? reference.revision ?? "main" : nil
        let layout = layout
        var filter = options.filter
        filter.selection = try await options.select?(reference.repository, tree, filter)
        return try await Offload.run { [filter] in
            try PullPlan(
                reference.repository, in: layout, tree: tree, ref: ref, filter: filter, force: options.force)
        }
    }

    /// Refuses a plan that the disk has no room for, before the first byte.
    package func checkSpace(_ plans: [PullPlan]) throws(AIError) {
        let needed = plans.reduce(Int64(0)) { $0.addingClamped($1.neededBytes) }
        let free = try FileSystem.diskSpace(layout.root).available
        guard needed <= free else {
            throw AIError(
                .diskFull, "\(ByteCount(needed)) are needed in \(layout.root), \(ByteCount(free)) are free",
                advice:
                    "hub gc --free \(ByteCount(needed).description.filter { $0 != " " }) --dry-run shows what could go",
                context: .init(path: layout.root))
        }
    }

    // MARK: Fetching

    /// Carries a plan out. What fails is told in the result, file by file; everything else is done all the same.
    ///
    /// - Throws: only where nothing could begin: the cache cannot be made or written.
    package func pull(
        _ plan: PullPlan, _ options: Options, report: @escaping @Sendable (PullEvent) -> Void = { _ in }
    ) async throws -> Result {
        let began = Clock.seconds
        let layout = layout
        if isOffline, plan.files.contains(where: { if case .missing = $0.state { true } else { false } }) {
            throw AIError(
                .offline,
                "\(plan.repository) at \(plan.commit.short) is not in the cache as a whole, and the network is switched off",
                context: .init(repository: plan.repository.description))
        }
        let needsWork =
            plan.files.contains { $0.state != .present } || !FileSystem.exists(plan.folder.snapshot(plan.commit))
        let isNew = !FileSystem.exists(plan.folder.path)
        var symlinks = options.symlinks
        if needsWork {
            let allowed = symlinks
            symlinks = try await Offload.run {
                try Self.prepare(plan, layout)
                return try allowed && FileSystem.hasSymlinks(plan.folder.blobs)
            }
        }
        var done: [String: PulledFile] = [:]
        var missing: [RepositoryFile] = []
        var present: [RepositoryFile] = []
        var tried: Set<ContentDigest> = []
        for (file, state) in plan.files {
            switch state {
            case .present:
                present.append(file)
                done[file.path] = PulledFile(path: file.path, size: file.size, status: .cached)
            case .blob, .missing: missing.append(file)
            case .elsewhere(let source):
                missing.append(file)
                if tried.insert(file.digest).inserted { await reuse(file, from: source, into: plan.folder) }
            }
        }
        report(
            .planned(
                files: plan.files.count, totalBytes: plan.totalBytes,
                presentBytes: plan.totalBytes - plan.downloadBytes))
        var limits = limits
        limits.connections = max(1, options.connections)
        let session = PullSession(
            client: client, repository: plan.repository, commit: plan.commit, folder: plan.folder, missing: missing,
            present: present, limits: limits, restart: options.force, symlinks: symlinks, report: report)
        for outcome in await session.run() { done[outcome.path] = outcome }
        let files = plan.files.compactMap { done[$0.file.path] }
        var result = Result(plan: plan, files: files, seconds: Clock.seconds - began)
        if result.error == nil { try await Offload.run { try Self.complete(plan) } }
        if isNew, files.allSatisfy({ $0.status == .failed }) { try await Offload.run { try Self.abandon(plan) } }
        result.seconds = Clock.seconds - began
        note(result)
        return result
    }

    /// Takes content from another repository if that can be; if not, it is fetched like any other.
    private func reuse(_ file: RepositoryFile, from source: String, into folder: RepositoryFolder) async {
        final class Flag: Sendable { let isSet = Atomic(false) }
        let cancelled = Flag()
        do {
            let isTaken = try await withTaskCancellationHandler {
                try await Offload.run {
                    try BlobReuse.adopt(file, from: source, into: folder) {
                        cancelled.isSet.load(ordering: .relaxed)
                    }
                }
            } onCancel: {
                cancelled.isSet.store(true, ordering: .relaxed)
            }
            client.log(
                isTaken
                    ? "\(file.path): taken from \(source)"
                    : "\(file.path): \(source) is not what its name says, or is locked")
        } catch {
            client.log("\(file.path): not taken from \(source): \(AIError.wrapping(error).message)")
        }
    }

    private static func prepare(_ plan: PullPlan, _ layout: CacheLayout) throws(AIError) {
        try layout.create()
        try FileSystem.createDirectories(plan.folder.blobs)
        try FileSystem.createDirectories(plan.folder.snapshot(plan.commit))
        try plan.folder.writeTree(plan.tree)
    }

    /// Nothing came of a repository that was not here before (gated, say): what was made for it goes again, or it would be
    /// listed. Not where anything lies in it, and not where another process is at work on it.
    private static func abandon(_ plan: PullPlan) throws(AIError) {
        let folder = plan.folder
        for path in [folder.blobs, folder.snapshot(plan.commit), folder.refs] {
            guard try FileSystem.entries(path)?.isEmpty ?? true else { return }
        }
        guard try FileSystem.entries(folder.snapshots) == [plan.commit.hash], try folder.heldLocks().isEmpty else {
            return
        }
        try FileSystem.remove(folder.tree(plan.commit))
        for path in [folder.snapshot(plan.commit), folder.snapshots, folder.trees, folder.blobs, folder.path] {
            try FileSystem.removeEmptyDirectory(path)
        }
    }

    /// Everything is linked: names on stable storage, and the ref last, so that it never names a snapshot that a power
    /// cut could take away.
    private static func complete(_ plan: PullPlan) throws(AIError) {
        guard let ref = plan.ref, try plan.folder.commit(ofRef: ref) != plan.commit else { return }
        let snapshot = plan.folder.snapshot(plan.commit)
        var folders: Set<String> = [plan.folder.blobs, snapshot, plan.folder.snapshots]
        for (file, _) in plan.files {
            var parent = Path.parent(Path.join(snapshot, file.path))
            while folders.insert(parent).inserted { parent = Path.parent(parent) }
        }
        for folder in folders { try FileSystem.synchronizeDirectory(folder) }
        try plan.folder.writeRef(ref, plan.commit)
    }

    /// What the catalog keeps of a pull: that the revision was used, and how fast the line was.
    private func note(_ result: Result) {
        let (plan, bytes, seconds) = (result.plan, result.downloadedBytes, result.seconds)
        remember { catalog throws(AIError) in
            if result.error == nil {
                try catalog.markUsed(
                    cache: layout.root, folder: plan.folder.name, commit: plan.commit, at: Timestamp.now)
            }
            // What came in a moment says nothing of the line.
            if bytes > 1 << 20, seconds > 0.05 {
                try catalog.remember(
                    bytes: bytes, seconds: seconds, origin: client.endpoint.origin.description, at: Timestamp.now)
            }
        }
    }

    /// Tells the catalog. A catalog that fails now is said, and is no reason to fail what it only mirrors.
    private func remember(_ body: (Catalog) throws(AIError) -> Void) {
        guard let catalog else { return }
        do throws(AIError) { try body(catalog) } catch {
            client.notice("the catalog could not be written: \(error.message)")
        }
    }
}
