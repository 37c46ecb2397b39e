package import Catalog
package import HubCore

/// Pulls repositories into the cache: name to metadata, to plan, to verified blobs, to links. All other code fetches
/// models through it.
package struct Puller: Sendable {
    package let layout: CacheLayout
    package let client: HubClient
    /// Stores every answer.
    package let catalog: DispensableCatalog
    package var isOffline = false
    /// Caches of others: what is complete there is not fetched, and what they have of the rest is taken from there. Nothing
    /// is written to them.
    package var furtherCaches: [CacheLayout] = []
    package var limits = PullSession.Limits()
    /// Shared by all pullers of one engine that run at a time.
    let unflushed: UnflushedBytes

    package init(
        layout: CacheLayout, client: HubClient, catalog: DispensableCatalog, isOffline: Bool = false,
        unflushed: UnflushedBytes = UnflushedBytes()
    ) {
        self.unflushed = unflushed
        self.layout = layout
        self.client = client
        self.catalog = catalog
        self.isOffline = isOffline
    }

    /// The options of a pull.
    package struct Options: Sendable {
        package var filter = FileFilter.all
        /// Chooses among the files once they are known; nil for all of them.
        package var select: (@Sendable (Repository, RepositoryTree, FileFilter) async throws -> FileSelection?)?
        /// Whether ``select`` is by a name or a format that was given.
        package var choosesWeights = false
        /// Whether ``select`` is what a reference names after its colon: then files that are named beside it add to it.
        package var namesWeights = false
        /// The files that were named beside the weights.
        package private(set) var besides: [GlobPattern] = []
        /// How the pull treats the choices of earlier pulls.
        package var earlierChoice = EarlierChoice.grows
        /// Fetch cached files too; in a local folder, replace changed files.
        package var force = false
        package var destination = Destination.cache
        /// Connections, rate and pausing.
        package var control = PullControl()
        /// Whether snapshots may use links; disabled by HF_HUB_DISABLE_SYMLINKS.
        package var symlinks = true
        /// Told of the one file that is fetched, and asked what of it is needed first; for a plan of one file.
        package var watch: TransferWatch?
        /// Where content may be taken from instead of the Hub.
        package var reuse = PullPlan.Reuse.everywhere
        package init() {}

        /// With files that were named.
        package func adding(_ files: [GlobPattern]) -> Options {
            guard !files.isEmpty else { return self }
            var copy = self
            if namesWeights {
                copy.besides += files
            } else {
                copy.filter.include = (filter.include ?? []) + files
            }
            if earlierChoice == .isFollowed { copy.earlierChoice = .grows }
            return copy
        }
    }

    /// How a pull treats the choices of earlier pulls of the revision. Local folders have none.
    package enum EarlierChoice: Sendable {
        /// This pull's choice adds to it.
        case grows
        /// This pull has no choice and uses the earlier one; everything if unknown.
        case isFollowed
        /// It is replaced by this pull's choice.
        case ends
        /// It is unchanged.
        case stays
    }

    /// A reference resolved by the Hub, or offline by the cache.
    package struct Resolved: Sendable {
        package var reference: ModelReference
        package var tree: RepositoryTree

        package init(reference: ModelReference, tree: RepositoryTree) {
            (self.reference, self.tree) = (reference, tree)
        }

        package var repository: Repository { reference.repository }
        package var commit: Commit { tree.commit }
        /// The branch or tag; nil if a commit was given.
        package var ref: String? {
            reference.revision.flatMap(Commit.init) == nil ? reference.revision ?? "main" : nil
        }
    }

    /// The result of a pull.
    package struct Result: Sendable {
        package var plan: PullPlan
        /// Every wanted file, in the order of the plan.
        package var files: [PulledFile]
        /// The duration of the call for all its models, in seconds.
        package var seconds: Double
        package var path: String { plan.path }
        package var downloadedBytes: Int64 { files.reduce(0) { $0 + $1.receivedBytes } }
        /// An error besides those of files: at the start, or when writing the final state.
        package var fault: AIError?
        /// The first failure, if any.
        package var error: AIError? { fault ?? files.first { $0.error != nil }?.error }
    }

    // MARK: Planning

    /// The current commit of a revision. A full commit needs no request; offline, the cache's refs are used.
    package func commit(of reference: ModelReference) async throws -> Commit {
        if let exact = reference.revision.flatMap(Commit.init) { return exact }
        let revision = reference.revision ?? "main"
        if isOffline {
            for cache in [layout] + furtherCaches {
                let folder = cache.repository(reference.repository)
                if let known = try folder.commit(ofRef: revision) { return known }
            }
            if let (folder, commit) = try layout.snapshot(of: reference), try catalog.isUnfinished(folder, commit) {
                throw AIError.unfinishedOffline(reference.repository, commit)
            }
            throw AIError.offline(reference)
        }
        return try await info(reference).commit
    }

    /// The Hub's metadata of a branch or tag, in one request; stored in the catalog.
    package func info(_ reference: ModelReference) async throws -> RepositoryInfo {
        let info = try await client.info(reference.repository, revision: reference.revision)
        catalog.use { catalog throws(AIError) in
            try catalog.remember([info.record], detailed: true, at: Timestamp.now)
            try catalog.noteEndpoint(client.endpoint, at: Timestamp.now)
            try catalog.remember(
                [KnownRevision(name: reference.revision ?? "main", kind: .branch, commit: info.commit)],
                of: reference.repository, complete: false, at: Timestamp.now)
        }
        return info
    }

    /// The files of a commit: from the catalog, from the cache, else from the Hub.
    package func tree(of repository: Repository, at commit: Commit) async throws -> RepositoryTree {
        let folder = layout.repository(repository)
        if let known = try await Blocking.run({
            // The catalog is optional: the cache and the Hub have the tree too.
            let known = catalog.use { catalog throws(AIError) in try catalog.tree(of: repository, at: commit) }
            if let known = try (known ?? nil) ?? folder.readTree(commit) { return known }
            for cache in furtherCaches {
                if let tree = try cache.repository(repository).readTree(commit) { return tree }
            }
            return nil
        }) {
            return known
        }
        guard !isOffline else {
            throw AIError(
                .offline,
                "the files of \(repository) at \(commit.short) are unknown, and the network is switched off",
                context: .init(repository: repository.description))
        }
        let tree = try await client.tree(repository, at: commit)
        catalog.use { catalog throws(AIError) in try catalog.remember(tree, of: repository, at: Timestamp.now) }
        return tree
    }

    /// Resolves a reference.
    package func resolve(_ reference: ModelReference) async throws -> Resolved {
        let commit = try await commit(of: reference)
        return Resolved(reference: reference, tree: try await tree(of: reference.repository, at: commit))
    }

    /// The plan of a pull. Writes nothing into the cache.
    package func plan(_ reference: ModelReference, _ options: Options) async throws -> PullPlan {
        let found = try await resolve(reference)
        return try await plan(found, try await self.options(options, for: found))
    }

    /// The same for a resolved reference, whatever it names after its colon; see ``options(_:for:)``.
    package func plan(_ found: Resolved, _ options: Options) async throws -> PullPlan {
        var choice: FileChoice
        let followed =
            options.earlierChoice == .isFollowed && options.destination.isCache
            ? try await earlierChoice(of: found) : nil
        if let followed {
            choice = followed
        } else {
            let paths = found.tree.files.map(\.path)
            var filter = options.filter.meant(among: paths)
            filter.selection = try await options.select?(found.repository, found.tree, filter)
            choice = FileChoice(filter)
            if !options.besides.isEmpty {
                var further = options.filter
                further.include = options.besides
                choice.add(FileChoice(further.meant(among: paths)))
            }
        }
        return try await Blocking.run { [choice, layout, catalog, furtherCaches] in
            var plan = try PullPlan(
                found.repository, in: layout, tree: found.tree, ref: found.ref, choice: choice,
                force: options.force, destination: options.destination, reuse: options.reuse)
            plan.isFollowing = followed != nil && !choice.isEverything
            if !options.force, plan.needsNetwork {
                for cache in furtherCaches where options.destination.isCache {
                    let other = try PullPlan(
                        found.repository, in: cache, tree: found.tree, ref: found.ref, choice: choice, force: false)
                    if other.isWhole { return other }
                }
                for cache in furtherCaches { try plan.take(from: cache) }
                guard options.reuse == .everywhere else { return plan }
                let registered = catalog.use { catalog throws(AIError) in try catalog.registered() } ?? [:]
                if !registered.isEmpty { try plan.take(registered) }
            }
            return plan
        }
    }

    /// Throws if the disk has no room for the plans, before the first byte.
    package func checkSpace(_ plans: [PullPlan]) throws(AIError) {
        let needed = PullTotals(plans).neededBytes
        let root = plans.first?.root ?? layout.root
        let disk = try FileSystem.diskSpace(root)
        // A file system without a size, such as /proc, reports no space. Creating a folder shows whether it is
        // writable.
        if disk.total == 0, needed > 0 {
            return try Self.placed(plans) { () throws(AIError) in try FileSystem.createDirectories(root) }
        }
        guard needed > disk.available else { return }
        let (size, total) = (ByteCount(needed), ByteCount(disk.total))
        if needed > disk.total {
            throw AIError(
                .diskFull, "the disk is too small: \(size) are needed in \(root), and it has \(total) in all",
                advice: Self.otherPlace(plans), context: .init(path: root))
        }
        throw AIError(
            .diskFull, "\(size) are needed in \(root), \(ByteCount(disk.available)) are free",
            advice: "hub gc --free \(size.description.filter { $0 != " " }) --dry-run shows what could be deleted",
            context: .init(path: root))
    }

    /// Runs `body` in the destination; its errors then mention the setting to change it.
    static func placed<Value>(_ plans: [PullPlan], _ body: () throws(AIError) -> Value) throws(AIError)
        -> Value
    {
        do throws(AIError) { return try body() } catch {
            var error = error
            if error.code == .permissionDenied {
                error.specificAdvice = "check who owns it, or \(otherPlace(plans))"
            }
            if error.code == .ioError { error.specificAdvice = otherPlace(plans) }
            throw error
        }
    }

    private static func otherPlace(_ plans: [PullPlan]) -> String {
        plans.contains { !$0.destination.isCache }
            ? "choose another folder with --local-dir" : "choose another place with --cache-dir or HF_HOME"
    }
}

extension AIError {
    /// The error for something not cached while offline. Only the Hub could say whether it exists, so this is a network
    /// error.
    package static func offline(_ reference: ModelReference) -> AIError {
        AIError(
            .offline, "\(reference) is not in the cache, and the network is switched off",
            context: .init(repository: reference.repository.description))
    }

    static func unfinishedOffline(_ repository: Repository, _ commit: Commit) -> AIError {
        AIError(
            .offline,
            "\(repository) at \(commit.short) is not completely in the cache, and the network is switched off",
            context: .init(repository: repository.description))
    }
}
