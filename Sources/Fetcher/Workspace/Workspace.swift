package import Catalog
package import HubCore
package import ModelFormats

/// The parts for one cache and one Hub: layout, catalog, client. The base of the command line and the library.
package final class Workspace: Sendable {
    package let environment: HubEnvironment
    package let layout: CacheLayout
    /// Caches of others, searched in order after one's own and never written.
    package let furtherCaches: [CacheLayout]
    /// The catalog for work that can continue without it.
    package let dispensable: DispensableCatalog
    package let configuration: HFConfiguration
    /// The error in the environment's endpoint; thrown when the Hub is needed.
    private let endpointFault: AIError?
    package let isOffline: Bool
    /// What running a model takes.
    package let memoryRule: MemoryRule
    /// The Xet folder of Python's client; nil if it does not belong to the given cache.
    package let xet: XetFolder?
    private let log: @Sendable (String) -> Void
    private let notice: @Sendable (String) -> Void
    private let lazyEngine = LazyEngine()
    /// The unflushed bytes of all pulls that run here.
    package let unflushed = UnflushedBytes()
    /// Remarks already made: each is shown once, however many clients are created.
    private let remarksMade = Lock<Set<String>>([])

    /// nil if the catalog cannot be used, now or since.
    package var catalog: Catalog? { dispensable.current }
    /// Why the catalog cannot be used; nil if it can.
    package var catalogFault: AIError? { dispensable.fault }
    /// The catalog's file, usable or not.
    package var catalogPath: String { Catalog.path(in: environment.stateDirectory) }

    /// Opens the catalog; the network is not used before ``client()``. Blocks.
    ///
    /// - Parameters:
    ///   - opensCatalog: false if the catalog is not needed; then there is none, and no error.
    ///   - memory: what running a model takes, as the engine of whoever opens this counts it.
    ///   - onCatalogFault: called when the open catalog fails; nil uses ``notice``.
    /// - Throws: only for invalid settings. An unusable catalog only sets ``catalogFault``, because the cache does not
    ///   depend on it.
    package init(
        environment: HubEnvironment = .process, cacheDirectory: String? = nil, configuration: HFConfiguration,
        isOffline: Bool, opensCatalog: Bool = true, memory: MemoryRule = .configured,
        log: @escaping @Sendable (String) -> Void = { _ in },
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
        memoryRule = memory
        self.log = log
        self.notice = notice
        xet = cacheDirectory == nil ? XetFolder(path: environment.xetDirectory) : nil
        let layout = CacheLayout(environment.expand(cacheDirectory ?? environment.cacheDirectory))
        self.layout = layout
        furtherCaches = environment.furtherCaches.map { CacheLayout($0) }.filter { $0 != layout }
        dispensable =
            opensCatalog
            ? DispensableCatalog(
                opening: Catalog.path(in: environment.stateDirectory), notice: notice, tell: tell)
            : DispensableCatalog(nil, tell: tell)
    }

    /// The Hub's API. The token of a sign-in that is nearly over is renewed first.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for invalid settings, ``ErrorCode/permissionDenied`` for an unreadable
    ///   token file, ``ErrorCode/unauthorized`` for a sign-in that has ended.
    ///
    /// - Parameter accepts: says of the token in use whether it may be sent; without it calls are anonymous.
    package func client(acceptingToken accepts: (@Sendable (AccessToken) -> Bool)? = nil) async throws(AIError)
        -> HubClient
    {
        if let endpointFault { throw endpointFault }
        try await renewToken()
        do {
            return try await Blocking.run { [self] in try newClient(acceptingToken: accepts) }
        } catch { throw AIError.wrapping(error) }
    }

    /// Renews the token of a sign-in that is nearly over, for whoever is about to read it; see ``TokenRenewal``.
    package func renewToken() async throws(AIError) {
        guard !isOffline, configuration.tokenProvider == .auto else { return }
        let renewal = TokenRenewal(
            environment: environment, engine: engine, log: log, notice: { [self] in noticeOnce($0) })
        do { try await renewal.run() } catch { throw AIError.wrapping(error) }
    }

    private func newClient(acceptingToken accepts: ((AccessToken) -> Bool)?) throws(AIError) -> HubClient {
        var configuration = configuration
        if let accepts, let token = try configuration.tokenProvider.token(in: environment), !accepts(token) {
            configuration = configuration.token(.none)
        }
        let client = try HubClient(
            configuration, engine: engine(), environment: environment, log: log,
            notice: notice)
        if !isOffline { for remark in client.tokenRemarks { noticeOnce(remark) } }
        return client
    }

    /// The engine that the client uses, for other services than the Hub.
    package func engine() throws(AIError) -> HTTPEngine { try lazyEngine.engine(environment) }

    /// Shows a message once.
    func noticeOnce(_ text: String) {
        if remarksMade.withLock({ $0.insert(text).inserted }) { notice(text) }
    }

    /// The puller.
    package func puller() async throws(AIError) -> Puller {
        var puller = Puller(
            layout: layout, client: try await client(), catalog: dispensable, isOffline: isOffline,
            unflushed: unflushed)
        puller.furtherCaches = furtherCaches
        return puller
    }

    /// The state of the cache.
    ///
    /// - Parameter fresh: reads everything from the disk.
    package func state(fresh: Bool = false) async throws -> CacheState {
        try await scanning { scanner throws(AIError) in try scanner.scan(fresh: fresh) }
    }

    /// The cache's overview, and the contents of the Xet folder.
    package func overview() async throws -> (cache: CacheOverview, xet: XetFolder.Contents) {
        let xet = xet
        return try await scanning { scanner throws(AIError) in (try scanner.overview(), xet?.contents() ?? .init())
        }
    }

    /// The overviews of the further caches that exist, read without the catalog, which keeps nothing of them.
    package func furtherOverviews() async throws -> [CacheOverview] {
        try await Blocking.run { [furtherCaches] in
            try furtherCaches.filter { FileSystem.exists($0.root) }.map { cache in
                try CacheScanner(cache, catalog: nil).overview()
            }
        }
    }

    /// Scans with the catalog, or without it if it fails.
    func scanning<Value: Sendable>(_ scan: @escaping @Sendable (CacheScanner) throws(AIError) -> Value)
        async throws -> Value
    {
        try await Blocking.run { [layout, dispensable] in
            do throws(AIError) { return try scan(CacheScanner(layout, catalog: dispensable.current)) } catch {
                guard error.isOfCatalog else { throw error }
                dispensable.giveUp(error)
                return try scan(CacheScanner(layout, catalog: nil))
            }
        }
    }

    /// The names of the repository folders with a snapshot, of the further caches too.
    package func heldFolders() throws(AIError) -> Set<String> {
        var held = try layout.heldFolders()
        for cache in furtherCaches { held.formUnion(try cache.heldFolders()) }
        return held
    }

    /// The snapshot of a reference, offline: by commit, by ref, or the only revision of a repository without refs. One of
    /// a further cache, if one's own cache has not got it or has fewer of its files.
    package func snapshot(of reference: ModelReference) throws(AIError) -> (
        folder: RepositoryFolder, commit: Commit
    )? {
        let own = try layout.snapshot(of: reference)
        for cache in furtherCaches {
            guard let found = try cache.snapshot(of: reference) else { continue }
            guard let own else { return found }
            let (here, there) = (
                try own.folder.readableFiles(own.commit), try found.folder.readableFiles(found.commit)
            )
            if own.commit == found.commit, here.isStrictSubset(of: there) { return found }
        }
        return own
    }

    /// Records a use of a cached revision.
    package func markUsed(_ folder: RepositoryFolder, _ commit: Commit) {
        guard folder.cache == layout else { return }
        dispensable.use { catalog throws(AIError) in
            try CacheRecord(layout, in: catalog).markUsed(folder.name, commit)
        }
    }

    /// Stores the Hub's records of repositories, with the Hub's address.
    ///
    /// - Parameter detailed: whether the records come from the models' own pages, not a list.
    package func remember(_ records: [ModelRecord], detailed: Bool = false) {
        dispensable.use { catalog throws(AIError) in
            try catalog.remember(records, detailed: detailed, at: Timestamp.now)
            try catalog.noteEndpoint(configuration.endpoint, at: Timestamp.now)
        }
    }
}
