package import Catalog
package import HubCore

/// The parts that belong together for one cache and one Hub: layout, catalog, client. What the command line and the
/// library build on.
package final class Workspace: Sendable {
    package let environment: HubEnvironment
    package let layout: CacheLayout
    /// The catalog for work that goes on without it.
    package let dispensable: DispensableCatalog
    package let configuration: HFConfiguration
    /// What is wrong with the endpoint that the environment names; who asks the Hub hears of it.
    private let endpointFault: AIError?
    package let isOffline: Bool
    /// What Xet transfers of Python's client keep; nil where a cache was named that it does not belong to.
    package let xet: XetFolder?
    private let log: @Sendable (String) -> Void
    private let notice: @Sendable (String) -> Void
    private let lazyEngine = LazyEngine()
    /// However many clients are made, a remark on the token is made once; likewise others.
    private let remarksMade = Lock<Set<String>>([])

    /// nil where the catalog cannot be used, or could not later on.
    package var catalog: Catalog? { dispensable.current }
    /// Why the catalog cannot be used; nil where it can.
    package var catalogFault: AIError? { dispensable.fault }
    /// The catalog's file, whether it can be used or not.
    package var catalogPath: String { Catalog.path(in: environment.stateDirectory) }

    /// Opens the catalog; the network is not touched before ``client()`` is asked for. Blocks.
    ///
    /// - Parameters:
    ///   - opensCatalog: false where the work has nothing to do with it; there is none then, and no fault.
    ///   - onCatalogFault: hears why the catalog, once open, cannot be used any more; ``notice`` does where nil.
    /// - Throws: only for settings that are wrong. A catalog that cannot be used is told by ``catalogFault``, for the
    ///   cache does not depend on it.
    package init(
        environment: HubEnvironment = .process, cacheDirectory: String? = nil, configuration: HFConfiguration,
        isOffline: Bool, opensCatalog: Bool = true, log: @escaping @Sendable (String) -> Void = { _ in },
        notice: @escaping @Sendable (String) -> Void = { _ in },
        onCatalogFault: (@Sendable (AIError) -> Void)? = nil
    ) {
        let tell = onCatalogFault ?? { notice("continuing without the catalog: \($0.message)") }
        self.environment = environment
        do throws(AIError) {
            (self.configuration, endpointFault) = (try configuration.resolved(in: environment), nil)
        } catch {
            (self.configuration, endpointFault) = (configuration, error)
        }
        self.isOffline = isOffline
        self.log = log
        self.notice = notice
        xet = cacheDirectory == nil ? XetFolder(path: environment.xetDirectory) : nil
        layout = CacheLayout(environment.expand(cacheDirectory ?? environment.cacheDirectory))
        dispensable =
            opensCatalog
            ? DispensableCatalog(
                opening: Catalog.path(in: environment.stateDirectory), notice: notice, tell: tell)
            : DispensableCatalog(nil, tell: tell)
    }

    /// The Hub's API.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for settings that are wrong, ``ErrorCode/permissionDenied`` for a token file
    ///   that cannot be read.
    package func client() throws(AIError) -> HubClient {
        if let endpointFault { throw endpointFault }
        let client = try HubClient(
            configuration, engine: lazyEngine.engine(environment), environment: environment, log: log,
            notice: notice)
        if !isOffline { for remark in client.tokenRemarks { noticeOnce(remark) } }
        return client
    }

    /// Tells a person something, however often it is found.
    func noticeOnce(_ text: String) {
        if remarksMade.withLock({ $0.insert(text).inserted }) { notice(text) }
    }

    /// What fetches models.
    package func puller() throws(AIError) -> Puller {
        Puller(layout: layout, client: try client(), catalog: dispensable, isOffline: isOffline)
    }

    /// What the cache holds.
    ///
    /// - Parameter fresh: reads everything from the disk.
    package func state(fresh: Bool = false) async throws -> CacheState {
        try await scanning { scanner throws(AIError) in try scanner.scan(fresh: fresh) }
    }

    /// What a list of the cache shows, and beside it what Xet transfers keep.
    package func overview() async throws -> (cache: CacheOverview, xet: XetFolder.Contents) {
        let xet = xet
        return try await scanning { scanner throws(AIError) in (try scanner.overview(), xet?.contents() ?? .init())
        }
    }

    /// Scans with the catalog; where that cannot say what it knows, without it.
    private func scanning<Value: Sendable>(_ scan: @escaping @Sendable (CacheScanner) throws(AIError) -> Value)
        async throws -> Value
    {
        try await Offload.run { [layout, dispensable] in
            do throws(AIError) { return try scan(CacheScanner(layout, catalog: dispensable.current)) } catch {
                guard error.isOfCatalog else { throw error }
                dispensable.giveUp(error)
                return try scan(CacheScanner(layout, catalog: nil))
            }
        }
    }

    /// The snapshot that a reference means, without any network: by commit, by ref, or, for a repository with one
    /// revision and no ref, that one.
    package func snapshot(of reference: ModelReference) throws(AIError) -> (
        folder: RepositoryFolder, commit: Commit
    )? {
        let folder = layout.repository(reference.repository)
        var commit = reference.revision.flatMap(Commit.init)
        if commit == nil { commit = try folder.commit(ofRef: reference.revision ?? "main") }
        let present = try FileSystem.entries(folder.snapshots) ?? []
        if commit == nil {
            let wanted = reference.revision
            let matching = present.filter { name in
                wanted.map { $0.utf8.count >= 7 && name.hasPrefix($0) } ?? true
            }
            commit = matching.count == 1 ? Commit(matching[0]) : nil
        }
        guard let commit, present.contains(commit.hash) else { return nil }
        return (folder, commit)
    }

    /// Notes that a cached revision was used.
    package func markUsed(_ folder: RepositoryFolder, _ commit: Commit) {
        dispensable.use { catalog throws(AIError) in
            try CacheRecord(layout, in: catalog).markUsed(folder.name, commit)
        }
    }

    /// Keeps what the Hub said of repositories, and which Hub it was.
    ///
    /// - Parameter detailed: whether the answers are the models' own pages, not a list.
    package func remember(_ records: [ModelRecord], detailed: Bool = false) {
        dispensable.use { catalog throws(AIError) in
            try catalog.remember(records, detailed: detailed, at: Timestamp.now)
            try catalog.noteEndpoint(configuration.endpoint, at: Timestamp.now)
        }
    }
}
