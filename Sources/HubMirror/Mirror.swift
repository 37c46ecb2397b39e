package import Fetcher
package import HubCore
package import HubServer

/// A caching mirror of a Hub over the shared cache: a room behind the server's front door.
package final class Mirror: ServerRoom {
    let settings: MirrorSettings
    let upstream: Upstream
    let answers: Answers
    let access: AccessChecks
    let trees: Trees
    let files: MirrorFiles
    let names = CommitNames()
    private let report: @Sendable (AIError) -> Void

    /// - Parameters:
    ///   - report: called for every error of this machine.
    ///   - notice: called with messages for the operator.
    package init(
        _ workspace: Workspace, settings: MirrorSettings, metrics: ServerMetrics,
        report: @escaping @Sendable (AIError) -> Void, notice: @escaping @Sendable (String) -> Void
    ) {
        self.settings = settings
        self.report = report
        upstream = Upstream(workspace, limits: settings.limits, metrics: metrics, notice: notice)
        answers = Answers(upstream, settings, report: report)
        access = AccessChecks(upstream, answers, settings)
        trees = Trees(upstream)
        files = MirrorFiles(
            upstream, metrics: metrics, access: access,
            eviction: Eviction(workspace, settings.maxSize, metrics, report: report),
            report: report)
        let use = DiskUse(workspace)
        metrics.declare("hub_disk_bytes", "Bytes of the cache, unfinished downloads included.") { use.bytes }
    }

    /// Where files are served that are too large for Python's client over plain HTTP; set once that server listens.
    package func serveLargeFiles(onPort port: UInt16) { files.tickets.setPort(port) }

    /// Answers requests for such files.
    package var largeFiles: any HTTPHandler { LargeFileService(files: files) }

    /// Ends every fetch; what was received is kept. Blocks.
    package func stop() { files.fetches.stop() }

    package func claims(_ parts: [String]) -> Bool { true }

    package func route(_ parts: [String]) -> String {
        RegistryRoute(parts) == nil ? HubRoute.name(parts) : "registry"
    }

    package func respond(to request: ServedRequest) -> ServedResponse {
        let exchange: Exchange
        do throws(HubFault) {
            let credential = try Credential(request, settings.authorisation)
            do throws(HTTPFault) { exchange = Exchange(request, try request.query(), credential) } catch {
                throw .malformed(error)
            }
            var response = try answer(exchange)
            if exchange.isStale { response.headers.add("Warning", "111 hub \"Revalidation Failed\"") }
            return response
        } catch { return error.response }
    }

    private func answer(_ exchange: Exchange) throws(HubFault) -> ServedResponse {
        let parts: [String]
        do throws(HTTPFault) { parts = try exchange.request.pathParts() } catch { throw .malformed(error) }
        let method = exchange.request.method
        if let route = RegistryRoute(parts) { return try registry(route, exchange) }
        let readings = HubRoute.readings(parts)
        guard let first = readings.first else {
            guard ["GET", "HEAD"].contains(method), Self.isPassedOn(parts) else { throw .page }
            return try wait(exchange) { try await self.other(exchange) }
        }
        guard readings.contains(where: { $0.methods.contains(method) }) else {
            throw .method(allowed: first.methods.joined(separator: ", "))
        }
        // `/api/models/gpt2/refs` has two readings; the first whose repository exists counts.
        var refusal: HubFault?
        for route in readings where route.methods.contains(method) {
            do throws(HubFault) { return try answer(route, exchange) } catch {
                guard error.code == "RepoNotFound" || error.code == nil, [401, 404].contains(error.status) else {
                    throw error
                }
                refusal = refusal ?? error
            }
        }
        throw refusal ?? .page
    }

    /// Whether upstream is asked for another address of its API. What else it has is not for all clients of this mirror:
    /// the account whose token goes upstream, its settings, routes to Xet, by which clients would leave.
    private static func isPassedOn(_ parts: [String]) -> Bool {
        guard parts.first == "api", parts.count > 1 else { return false }
        if passedLists.contains(parts[1]) { return true }
        guard RepositoryKind.allCases.contains(where: { $0.plural == parts[1] }) else { return false }
        return [parts.dropFirst(3).first, parts.dropFirst(4).first].contains { action in
            action.map { passedActions.contains($0) } ?? false
        }
    }

    private static let passedLists: Set = [
        "collections", "daily_papers", "datasets-tags-by-type", "models-tags-by-type", "papers", "quicksearch",
        "tasks", "trending",
    ]
    /// What follows a repository's name.
    private static let passedActions: Set = [
        "auth-check", "commits", "compare", "croissant", "discussions", "scan", "treesize",
    ]

    private func answer(_ route: HubRoute, _ exchange: Exchange) throws(HubFault) -> ServedResponse {
        switch route {
        case .whoami, .agentHarnesses: return try service(route, exchange)
        case .list(let kind): return try wait(exchange) { try await self.list(kind, exchange) }
        case .info(let repository, let revision):
            return try wait(exchange) { try await self.info(repository, revision, exchange) }
        case .refs(let repository): return try wait(exchange) { try await self.refs(repository, exchange) }
        case .tree(let repository, let revision, let path):
            if exchange.query.flag("expand") {
                let rest = path.isEmpty ? "" : "/" + PercentEncoding.encode(path, keeping: "/")
                return try wait(exchange) { try await self.expanded("tree", repository, revision, rest, exchange) }
            }
            return try content(repository, revision, exchange)
        case .pathsInfo(let repository, let revision):
            if exchange.asksExpandedPaths {
                return try wait(exchange) {
                    try await self.expanded("paths-info", repository, revision, "", exchange)
                }
            }
            return try content(repository, revision, exchange)
        case .resolve(let repository, let revision, let path):
            return try content(repository, revision, path: path, exchange)
        case .resolveCache(let repository, let commit, let path):
            return try content(repository, commit, path: path, exchange)
        }
    }

    /// What the files of one commit answer, by the same code that serves a folder.
    ///
    /// - Parameter isLayer: whether the file is asked for by another address, of Ollama's registry.
    func content(
        _ repository: Repository, _ revision: String, path: String? = nil, _ exchange: Exchange,
        isLayer: Bool = false
    ) throws(HubFault) -> ServedResponse {
        let known = try wait(exchange) { () -> KnownTree in
            try await self.access.admit(repository, exchange)
            let commit = try await self.commit(of: repository, revision, exchange)
            let known = try await self.trees.tree(of: repository, at: commit, exchange)
            if let file = path.flatMap(known.file) {
                try await self.access.admit(repository, exchange, file: (commit, file))
            }
            return known
        }
        let delivery = MirrorDelivery(
            files: files, known: known,
            ref: Commit(revision) == nil ? revision : names.name(of: known.tree.commit, in: repository),
            credential: exchange.credential)
        let service = HubService(
            OneRevision(repository: repository, revision: known.served), access: HubAccess(.checked),
            delivery: delivery, report: report)
        guard isLayer, let path else { return service.respond(to: exchange.request) }
        var request = exchange.request
        request.target = "/\(repository)/resolve/\(known.tree.commit)/\(PercentEncoding.encode(path, keeping: "/"))"
        var response = service.respond(to: request)
        // Ollama before 2026 gives up on a blob without it.
        if response.status < 300 { response.headers["Location"] = exchange.here }
        return response
    }

    /// Routes without a repository, answered as by the server of a folder.
    private func service(_ route: HubRoute, _ exchange: Exchange) throws(HubFault) -> ServedResponse {
        if case .whoami = route {
            switch settings.authorisation {
            case .none: throw .login
            case .forward: return try wait(exchange) { try await self.live(exchange) }
            case .own: break
            }
        }
        return HubService(NoRepositories(), access: HubAccess(.checked), report: report).respond(
            to: exchange.request)
    }

    /// Runs asynchronous work for the connection's thread, which may block. If the client leaves, the thread does too; others
    /// may wait for the same work.
    func wait<Value: Sendable>(_ exchange: Exchange, _ body: @escaping @Sendable () async throws -> Value)
        throws(HubFault) -> Value
    {
        let result = Awaited<Result<Value, any Error>?>(nil)
        Task.detached {
            let found: Result<Value, any Error>
            do { found = .success(try await body()) } catch { found = .failure(error) }
            result.change { $0 = found }
        }
        while true {
            if let found = result.wait(seconds: Self.glance, { $0 }) {
                do { return try found.get() } catch let fault as HubFault { throw fault } catch {
                    let error = AIError.wrapping(error)
                    let fault = HubFault(error)
                    if fault.isOfThisMachine { report(error) }
                    throw fault
                }
            }
            if exchange.request.connection?.isGone == true { throw .gone }
        }
    }

    /// Seconds between two looks at whether the client is still there.
    private static let glance = 0.5
}
