import Catalog
package import HubCore

/// Pulls repositories into the cache: name to metadata, to plan, to verified blobs, to links. All other code fetches
/// models through it.
package struct Puller: Sendable {
    package let layout: CacheLayout
    package let client: HubClient
    /// Stores every answer.
    package let catalog: DispensableCatalog
    package var isOffline = false
    var limits = PullSession.Limits()

    package init(layout: CacheLayout, client: HubClient, catalog: DispensableCatalog, isOffline: Bool = false) {
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
        /// How the pull treats the choices of earlier pulls.
        package var earlierChoice = EarlierChoice.grows
        /// Fetch cached files too; in a local folder, replace changed files.
        package var force = false
        /// A local folder for the files, instead of the cache.
        package var local: LocalFolder?
        /// Connections, rate and pausing.
        package var control = PullControl()
        /// Whether snapshots may use links; disabled by HF_HUB_DISABLE_SYMLINKS.
        package var symlinks = true
        package init() {}
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
            let folder = layout.repository(reference.repository)
            if let known = try folder.commit(ofRef: revision) { return known }
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
        if let known = try await Offload.run({
            // The catalog is optional: the cache and the Hub have the tree too.
            let known = catalog.use { catalog throws(AIError) in try catalog.tree(of: repository, at: commit) }
            return try (known ?? nil) ?? folder.readTree(commit)
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
        try await plan(try await resolve(reference), options)
    }

    /// The same for a resolved reference.
    package func plan(_ found: Resolved, _ options: Options) async throws -> PullPlan {
        var choice: FileChoice
        let followed =
            options.earlierChoice == .isFollowed && options.local == nil ? try await earlierChoice(of: found) : nil
        if let followed {
            choice = followed
        } else {
            var filter = options.filter
            filter.selection = try await options.select?(found.repository, found.tree, filter)
            choice = FileChoice(filter)
        }
        return try await Offload.run { [choice, layout] in
            var plan = try PullPlan(
                found.repository, in: layout, tree: found.tree, ref: found.ref, choice: choice,
                force: options.force,
                local: options.local)
            plan.isFollowing = followed != nil && !choice.isEverything
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
    private static func placed<Value>(_ plans: [PullPlan], _ body: () throws(AIError) -> Value) throws(AIError)
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
        plans.contains { $0.local != nil }
            ? "choose another folder with --local-dir" : "choose another place with --cache-dir or HF_HOME"
    }

    // MARK: Fetching

    /// Carries out one plan. Failures are in the result, file by file; they do not stop other files.
    ///
    /// - Throws: only if nothing could begin, or the final state could not be written.
    package func pull(
        _ plan: PullPlan, _ options: Options, report: @escaping @Sendable (PullEvent) -> Void = { _ in }
    ) async throws -> Result {
        let result = await pull([plan], options) { event, _ in report(event) }[0]
        if let fault = result.fault { throw fault }
        return result
    }

    /// Carries out plans over shared connections. Failures are in the results; they do not stop the rest.
    ///
    /// - Parameters:
    ///   - plans: at least one.
    ///   - report: called with each event and the index of its plan.
    /// - Returns: one result for each plan, in their order.
    package func pull(
        _ plans: [PullPlan], _ options: Options, report: @escaping @Sendable (PullEvent, Int) -> Void
    ) async -> [Result] {
        let began = Clock.seconds
        let uses = await Offload.run { plans.map(share) }
        let prepared = await Offload.run { zip(plans, uses).map { prepare($0, options, $1) } }
        var jobs: [PullJob] = []
        for (index, plan) in plans.enumerated() {
            report(.planned(plan), index)
            if case .success(let symlinks) = prepared[index] {
                jobs.append(PullJob(plan, index: index, symlinks: symlinks))
            }
        }
        let present = jobs.flatMap { plans[$0.index].files }.filter { $0.state == .present }.map(\.file)
        let proven = Lock<[String: [VerifiedFile]]>([:])
        let session = PullSession(
            client: client, jobs: jobs, present: (present.totalSize, present.count), limits: limits,
            control: options.control, restart: options.force && plans.allSatisfy { $0.local == nil },
            keep: { file, job, ranges in
                // Without file state nothing is recorded; the file is verified again later.
                if let (cache, file) = (try? job.verified(file)) ?? nil {
                    proven.withLock { $0[cache, default: []].append(file) }
                }
                guard !ranges.isEmpty else { return }
                catalog.use { catalog throws(AIError) in try catalog.remember(ranges, of: file) }
            }, report: report)
        await session.run()
        let outcomes = Dictionary(uniqueKeysWithValues: jobs.map { ($0.index, $0.outcomes.withLock(\.self)) })
        var results = await Offload.run {
            plans.indices.map { finish(plans[$0], prepared[$0], outcomes[$0] ?? []) }
        }
        withExtendedLifetime(uses) {}
        // The file system's clock has ticks of up to 10 ms. An edit right after the pull must get a later time than the
        // metadata.
        if jobs.contains(where: { $0.local != nil && !$0.missing.isEmpty }) {
            try? await Task.sleep(for: .milliseconds(25))
        }
        for index in results.indices { results[index].seconds = Clock.seconds - began }
        note(results, options.earlierChoice)
        catalog.use { catalog throws(AIError) in
            for (cache, files) in proven.withLock(\.self) {
                try catalog.remember(files, ofCache: cache, at: Timestamp.now)
            }
        }
        return results
    }

    /// Excludes deletions from the plan's folder until its ref is written; nil if not needed.
    private func share(_ plan: PullPlan) -> Swift.Result<RepositoryUse?, AIError> {
        Swift.Result { () throws(AIError) in
            guard plan.needsWork, plan.local == nil, !(isOffline && plan.needsNetwork) else { return nil }
            return try Self.placed([plan]) { () throws(AIError) in
                try layout.create()
                return try RepositoryUse.share(plan.folder)
            }
        }
    }

    /// Prepares a plan's destination; returns whether its snapshot may use links.
    private func prepare(
        _ plan: PullPlan, _ options: Options, _ use: Swift.Result<RepositoryUse?, AIError>
    ) -> Swift.Result<Bool, AIError> {
        Swift.Result { () throws(AIError) in
            _ = try use.get()
            if isOffline, plan.needsNetwork {
                throw AIError.unfinishedOffline(plan.repository, plan.commit)
            }
            begin(plan, options.earlierChoice)
            guard plan.needsWork else { return options.symlinks }
            return try Self.placed([plan]) { () throws(AIError) in try makePlace(plan) && options.symlinks }
        }
    }

    /// Records what a pull is about to fetch, before anything of it is in the cache.
    private func begin(_ plan: PullPlan, _ earlierChoice: EarlierChoice) {
        guard plan.local == nil else { return }
        catalog.use { catalog throws(AIError) in
            let record = CacheRecord(layout, in: catalog)
            // The revision was deleted since: its old choice no longer counts.
            if !FileSystem.exists(plan.path) { try record.forgetChoice(of: plan.commit, plan.folder.name) }
            if earlierChoice != .stays { try record.begin(plan.choice, of: plan.commit, plan.folder.name) }
        }
    }

    /// Creates a plan's folders; returns whether its snapshot can use links.
    private func makePlace(_ plan: PullPlan) throws(AIError) -> Bool {
        if let local = plan.local {
            try local.prepare(plan.tree)
            return false
        }
        try FileSystem.createDirectories(plan.folder.blobs)
        try FileSystem.createDirectories(plan.folder.snapshot(plan.commit))
        try plan.folder.writeTree(plan.tree)
        return try FileSystem.hasSymlinks(plan.folder.blobs, name: "links.hub.incomplete")
    }

    /// The result of a plan, after its last step on disk.
    private func finish(_ plan: PullPlan, _ prepared: Swift.Result<Bool, AIError>, _ outcomes: [PulledFile])
        -> Result
    {
        var result = Result(plan: plan, files: [], seconds: 0)
        var done: [String: PulledFile] = [:]
        for outcome in outcomes { done[outcome.path] = outcome }
        if case .failure(let error) = prepared { result.fault = error }
        result.files = plan.files.map { file, state in
            done[file.path]
                ?? PulledFile(
                    path: file.path, size: file.size, status: state == .present ? .cached : .failed,
                    error: state == .present ? nil : result.fault)
        }
        do throws(AIError) {
            if plan.local != nil { return result }
            if result.error == nil { try Self.complete(plan) }
            if plan.isNew, result.files.allSatisfy({ $0.status == .failed }) { try Self.abandon(plan) }
        } catch { result.fault = result.fault ?? error }
        return result
    }

    /// Removes the folder of a new repository after a failed pull (gated, say), or it would be listed. Not if it has
    /// any content or another process uses it.
    private static func abandon(_ plan: PullPlan) throws(AIError) {
        let folder = plan.folder
        for path in [folder.blobs, folder.snapshot(plan.commit), folder.refs] {
            guard try FileSystem.entries(path)?.isEmpty ?? true else { return }
        }
        guard try FileSystem.entries(folder.snapshots) == [plan.commit.hash], try folder.heldLocks().isEmpty else {
            return
        }
        try FileSystem.remove(folder.tree(plan.commit))
        for path in [folder.snapshot(plan.commit), folder.trees, folder.blobs, folder.snapshots, folder.path] {
            try FileSystem.removeEmptyDirectory(path)
        }
    }

    /// After all links: flushes names to stable storage and writes the ref last, so that it never names a snapshot that
    /// a power cut could lose.
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

    /// Stores a pull in the catalog: the choice, the use of the revisions, and the bandwidth.
    private func note(_ results: [Result], _ earlierChoice: EarlierChoice) {
        let bytes = results.reduce(0) { $0 + $1.downloadedBytes }
        let seconds = results.first?.seconds ?? 0
        catalog.use { catalog throws(AIError) in
            for result in results where result.error == nil && result.plan.local == nil {
                let plan = result.plan
                let record = CacheRecord(layout, in: catalog)
                try record.markUsed(plan.folder.name, plan.commit)
                guard earlierChoice != .stays else { continue }
                try record.remember(
                    plan.choice, of: plan.commit, plan.folder.name, replaces: earlierChoice == .ends)
            }
            // Very short transfers do not measure bandwidth.
            if bytes > 1 << 20, seconds > 0.05 {
                try catalog.remember(
                    bytes: bytes, seconds: seconds, origin: client.endpoint.origin.description, at: Timestamp.now)
            }
        }
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

    fileprivate static func unfinishedOffline(_ repository: Repository, _ commit: Commit) -> AIError {
        AIError(
            .offline,
            "\(repository) at \(commit.short) is not completely in the cache, and the network is switched off",
            context: .init(repository: repository.description))
    }
}
