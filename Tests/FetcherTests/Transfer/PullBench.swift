import Catalog
import HubCore
import Support
import Testing

@testable import Fetcher

/// A Hub, a cache and what pulls from one into the other.
final class PullBench: Sendable {
    static let token = "hf_loopback"
    let served: TemporaryFolder
    let hub: LoopbackHub
    /// Holds the cache and everything else the client writes.
    let box: TemporaryFolder
    let layout: CacheLayout

    init(options: LoopbackHub.Options = .init()) throws {
        served = try TemporaryFolder("served")
        hub = try LoopbackHub(served, options: options)
        box = try TemporaryFolder("box")
        layout = CacheLayout(box("cache"))
    }

    /// The messages of a client.
    final class Record: Sendable {
        private let state = Monitor((events: [PullEvent](), lines: [String]()))
        func hear(_ event: PullEvent) { state.update { $0.events.append(event) } }
        func log(_ line: String) { state.update { $0.lines.append(line) } }
        var events: [PullEvent] { state.update { $0.events } }
        var lines: [String] { state.update { $0.lines } }
        var retries: [String] {
            events.compactMap { if case .retrying(_, let reason, _) = $0 { reason } else { nil } }
        }
        var waits: [String] { events.compactMap { if case .waiting(let path, _) = $0 { path } else { nil } } }
        func waitForEvent(_ what: String, _ matches: @escaping @Sendable (PullEvent) -> Bool) async throws {
            _ = try await state.value(what) { $0.events.contains(where: matches) ? true : nil }
        }
        /// Waits for the request of a range. A complete unverified partial needs none; it is verified.
        func waitForRangeOrProof() async throws {
            _ = try await state.value("the request of a range") {
                $0.lines.contains { $0.range(of: "bytes=") != nil }
                    || $0.events.contains { if case .verified = $0 { true } else { false } } ? true : nil
            }
        }
    }

    /// A separate client, as in another process.
    func puller(
        variables: [String: String] = [:], token: String? = nil, catalog: Catalog? = nil,
        layout: CacheLayout? = nil,
        record: Record = Record()
    ) throws -> Puller {
        var all = variables
        all["HOME"] = box("home")
        all["HF_TOKEN"] = token
        let environment = HubEnvironment.test(all)
        let configuration = HFConfiguration.endpoint(try Endpoint(hub.endpoint)).retryBaseDelay(0)
        let client = try HubClient(
            configuration, engine: HTTPEngine(HTTPEngine.Settings(environment)), environment: environment,
            log: { record.log($0) }, notice: { record.log($0) })
        var puller = Puller(
            layout: layout ?? self.layout, client: client,
            catalog: DispensableCatalog(catalog) { client.notice($0.message) })
        // A sixteenth of what is usual, so that a file of a megabyte is fetched as one of many.
        puller.limits.firstRange /= 16
        puller.limits.range /= 16
        puller.limits.smallestRange /= 16
        puller.limits.smallFile /= 16
        return puller
    }

    /// Plans and pulls.
    @discardableResult
    func pull(
        _ reference: String, _ options: Puller.Options = .init(), variables: [String: String] = [:],
        token: String? = nil, catalog: Catalog? = nil, layout: CacheLayout? = nil, record: Record = Record()
    ) async throws -> Puller.Result {
        let puller = try puller(
            variables: variables, token: token, catalog: catalog, layout: layout, record: record)
        let plan = try await puller.plan(ModelReference(parsing: reference), options)
        return try await puller.pull(plan, options) { record.hear($0) }
    }

    /// Begins a pull, lets `body` look at it, interrupts it and waits for its end.
    @discardableResult
    func interrupted(
        _ reference: String, _ options: Puller.Options = .init(), record: Record = Record(),
        when body: () async throws -> Void
    ) async throws -> Puller.Result {
        let work = Task { try await pull(reference, options, record: record) }
        do { try await body() } catch {
            work.cancel()
            throw error
        }
        work.cancel()
        return try await work.value
    }

    /// A pull that is cancelled before it does anything.
    func cancelledAtOnce(_ reference: String) async throws -> Puller.Result {
        let puller = try puller()
        let plan = try await puller.plan(ModelReference(parsing: reference), .init())
        let work = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await puller.pull(plan, .init())
        }
        work.cancel()
        return try await work.value
    }

    func folder(_ repository: String) throws -> RepositoryFolder {
        layout.repository(try ModelReference(parsing: repository).repository)
    }

    /// A file's place in a result's snapshot.
    func place(_ file: String, _ result: Puller.Result) -> String { Path.join(result.path, file) }

    /// Bytes that look random, always the same for the same seed.
    static func random(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededRandom(state: seed)
        return [UInt8](unsafeUninitializedCapacity: (count + 7) & ~7) { buffer, filled in
            UnsafeMutableRawBufferPointer(buffer).withMemoryRebound(to: UInt64.self) { words in
                for index in words.indices { words[index] = random.next() }
            }
            filled = count
        }
    }

    /// The digest as LFS names it.
    static func sha256(_ bytes: [UInt8]) -> String { ContentHasher.digest(of: bytes, like: .sha256("")).hex }
    static func git(_ bytes: [UInt8]) -> String { ContentHasher.digest(of: bytes, like: .gitSHA1("")).hex }

    /// Ranges asked of the CDN in these requests.
    static func asked(_ requests: [LoggedRequest]) throws -> [Range<Int64>] {
        try requests.map { request in
            let found = try #require(request.range?.wholeMatch(of: /bytes=(\d+)-(\d+)/))
            return try #require(Int64(found.1))..<(try #require(Int64(found.2)) + 1)
        }
    }

    /// Everything below a folder: `dir`, `file SIZE MODE` or `link TEXT`.
    static func listing(_ root: String) throws -> [String: String] {
        var out: [String: String] = [:]
        func walk(_ below: String) throws {
            for name in try FileSystem.entries(Path.join(root, below)) ?? [] {
                let path = below.isEmpty ? name : Path.join(below, name)
                let place = Path.join(root, path)
                let status = try #require(try FileSystem.linkStatus(place))
                let mode = String(status.mode, radix: 8)
                switch status.kind {
                case .directory:
                    out[path] = "dir \(mode)"
                    try walk(path)
                case .symlink: out[path] = "link \(FileSystem.linkText(place) ?? "?")"
                case .file: out[path] = "file \(status.size) \(mode)"
                case .other: out[path] = "other"
                }
            }
        }
        try walk("")
        return out
    }

    /// What is left of attempts: partials, maps, temporary files.
    static func leftovers(_ folder: RepositoryFolder) throws -> [String] {
        try listing(folder.path).keys.filter { $0.hasSuffix(".incomplete") || $0.hasSuffix(".tmp") }.sorted()
    }
}

/// Fails where two files differ, without printing either.
func expectContent(
    _ path: String, _ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let found = try FileSystem.contents(path, limit: 1 << 30)
    #expect(found?.count == bytes.count, sourceLocation: sourceLocation)
    #expect(found == bytes ? true : false, "\(path) has other bytes", sourceLocation: sourceLocation)
}

extension ModelRepository {
    /// Writes a file of ``PullBench/random(_:seed:)``.
    @discardableResult
    func noise(_ name: String, size: Int, seed: UInt64 = 1) throws -> [UInt8] {
        try write(name, PullBench.random(size, seed: seed))
    }
}

extension RepositoryFolder {
    /// Where the content of a digest comes together, and the map of what is safe of it.
    func partial(_ digest: String) -> String { places(RepositoryFile(digest)).partial }
    func partialMap(_ digest: String) -> String { places(RepositoryFile(digest)).map }
}

extension RepositoryFile {
    fileprivate init(_ digest: String) { self.init(path: "file", size: 0, oid: digest) }
}
