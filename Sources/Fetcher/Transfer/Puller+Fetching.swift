import Catalog
import HubCore

extension Puller {
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
        var uses = await Blocking.run { plans.map(share) }
        let prepared = await Blocking.run { [uses] in
            let links = LinkProbes()
            return zip(plans, uses).map { prepare($0, options, $1, links) }
        }
        for (index, plan) in plans.enumerated() { report(.planned(plan), index) }
        // Who reads along waits for the first byte, and reading older revisions takes time.
        let seeds = isOffline || options.watch != nil ? [:] : await seed(plans)
        var jobs: [PullJob] = []
        for (index, plan) in plans.enumerated() {
            if case .success(let symlinks) = prepared[index] {
                jobs.append(
                    PullJob(
                        plan, index: index, symlinks: symlinks, seeds: seeds[index] ?? [:], watch: options.watch))
            }
        }
        let present = jobs.flatMap { plans[$0.index].files }.filter { $0.state == .present }.map(\.file)
        let proven = Lock<[String: [VerifiedFile]]>([:])
        let session = PullSession(
            client: client, jobs: jobs, present: (present.totalSize, present.count), limits: limits,
            control: options.control, shared: unflushed,
            restart: options.force && plans.allSatisfy(\.destination.isCache),
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
        var results = await Blocking.run {
            finish(plans) { finish(plans[$0], prepared[$0], outcomes[$0] ?? []) }
        }
        uses = []
        results = await Blocking.run { [results] in results.map(abandoningNothing) }
        // The file system's clock has ticks of up to 10 ms. An edit right after the pull must get a later time than the
        // metadata.
        if jobs.contains(where: { !$0.destination.isCache && !$0.missing.isEmpty }) {
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
            guard plan.needsWork, plan.destination.isCache, !(isOffline && plan.needsNetwork) else { return nil }
            return try Self.placed([plan]) { () throws(AIError) in
                try layout.create()
                return try RepositoryUse.share(plan.folder)
            }
        }
    }

    /// Prepares a plan's destination; returns whether its snapshot may use links.
    private func prepare(
        _ plan: PullPlan, _ options: Options, _ use: Swift.Result<RepositoryUse?, AIError>, _ links: LinkProbes
    ) -> Swift.Result<Bool, AIError> {
        Swift.Result { () throws(AIError) in
            _ = try use.get()
            if isOffline, plan.needsNetwork {
                throw AIError.unfinishedOffline(plan.repository, plan.commit)
            }
            begin(plan, options.earlierChoice)
            guard plan.needsWork else { return options.symlinks }
            return try Self.placed([plan]) { () throws(AIError) in try makePlace(plan, links) && options.symlinks }
        }
    }

    /// Whether a plan is for the cache, and not for a folder or complete in a cache of others.
    private func isOwn(_ plan: PullPlan) -> Bool { plan.destination.isCache && plan.folder.cache == layout }

    /// Records what a pull is about to fetch, before anything of it is in the cache.
    private func begin(_ plan: PullPlan, _ earlierChoice: EarlierChoice) {
        guard isOwn(plan) else { return }
        catalog.use { catalog throws(AIError) in
            let record = CacheRecord(layout, in: catalog)
            // The revision was deleted since: its old choice no longer counts.
            if !FileSystem.exists(plan.path) { try record.forgetChoice(of: plan.commit, plan.folder.name) }
            if earlierChoice != .stays { try record.begin(plan.choice, of: plan.commit, plan.folder.name) }
        }
    }

    /// Creates a plan's folders; returns whether its snapshot can use links.
    private func makePlace(_ plan: PullPlan, _ links: LinkProbes) throws(AIError) -> Bool {
        if case .folder(let local) = plan.destination {
            try local.prepare(plan.tree)
            return false
        }
        try FileSystem.createDirectories(plan.folder.blobs)
        try FileSystem.createDirectories(plan.folder.snapshot(plan.commit))
        try plan.folder.writeTree(plan.tree)
        return try links.areSupported(in: plan.folder.blobs)
    }

    /// Plans whose flushes are under way at a time.
    private static let lanes = 8

    /// The result of each plan, several at a time: a flush waits for the disk, which takes those of several threads
    /// together. Each plan keeps its order, its ref last. Those of one repository go one after the other, for the last one's
    /// ref counts.
    private func finish(_ plans: [PullPlan], _ result: (Int) -> Result) -> [Result] {
        let groups = Array(Dictionary(grouping: plans.indices) { plans[$0].folder }.values)
        let results = Lock<[Int: Result]>([:])
        let lanes = min(Self.lanes, groups.count)
        Parallel.perform(lanes, on: .blocking) { lane in
            for group in stride(from: lane, to: groups.count, by: lanes) {
                for index in groups[group] {
                    let one = result(index)
                    results.withLock { $0[index] = one }
                }
            }
        }
        let all = results.withLock(\.self)
        return plans.indices.map { all[$0]! }
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
            guard isOwn(plan) else { return result }
            if result.error == nil { try Self.complete(plan) }
        } catch { result.fault = result.fault ?? error }
        return result
    }

    /// The result, after the folder of a repository of which nothing came is removed.
    private func abandoningNothing(_ result: Result) -> Result {
        guard isOwn(result.plan), result.plan.isNew, result.files.allSatisfy({ $0.status == .failed }) else {
            return result
        }
        var result = result
        do throws(AIError) { try Self.abandon(result.plan) } catch { result.fault = result.fault ?? error }
        return result
    }

    /// Removes the folder of a new repository after a failed pull (gated, say), or it would be listed. Not if it has
    /// any content or another pull uses it.
    private static func abandon(_ plan: PullPlan) throws(AIError) {
        let folder = plan.folder
        // Another pull may have made its folders and not taken a lock in them yet.
        guard let claim = try RepositoryUse.claim(folder) else { return }
        defer { withExtendedLifetime(claim) {} }
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
            for result in results where result.error == nil && isOwn(result.plan) {
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

/// Which file systems have symbolic links: each is tried once for all plans of a call.
private final class LinkProbes {
    /// By device.
    private var known: [UInt64: Bool] = [:]

    func areSupported(in folder: String) throws(AIError) -> Bool {
        let device = try FileSystem.status(folder)?.device
        if let device, let known = known[device] { return known }
        let found = try FileSystem.hasSymlinks(folder, name: "links.hub.incomplete")
        if let device { known[device] = found }
        return found
    }
}
