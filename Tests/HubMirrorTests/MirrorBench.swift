import HubCore
import HubServer
import Support

@testable import Fetcher
@testable import HubMirror

/// A mirror within this process, asked without a socket.
final class MirrorBench: Sendable {
    let home: String
    let mirror: Mirror
    let metrics = ServerMetrics()
    let layout: CacheLayout
    /// What is asked by it, kept as long.
    private let upstream: HubServer?

    /// A mirror that forwards its clients' tokens to a server of the test.
    convenience init(of server: HubServer, _ home: String) throws {
        try self.init(of: server.address, .forward, home: home, server: server)
    }

    /// - Parameter home: the folder of the cache and of the kept answers.
    init(
        of upstream: String, _ authorisation: ClientAuthorisation, home: String, ttl: Double = 60,
        server: HubServer? = nil
    )
        throws
    {
        self.home = home
        self.upstream = server
        let environment = HubEnvironment.test([
            "HOME": home, "HF_HOME": Path.join(home, "hf"), "HUB_HOME": Path.join(home, "state"),
        ])
        let workspace = Workspace(
            environment: environment,
            configuration: HFConfiguration.endpoint(try Endpoint(upstream)).retryBaseDelay(0).token(.none),
            isOffline: false, opensCatalog: false)
        layout = workspace.layout
        var settings = MirrorSettings(answers: Path.join(home, "answers"))
        settings.authorisation = authorisation
        settings.ttl = ttl
        settings.limits.backoff = 0
        // A sixteenth of what is usual and less, so that files of some 100 kB come in ranges and are flushed on the way.
        settings.limits.firstRange = 16 << 10
        settings.limits.range = 64 << 10
        settings.limits.smallestRange = 8 << 10
        settings.limits.smallFile = 8 << 10
        settings.limits.hashStep = 8 << 10
        settings.limits.flushBytes = 24 << 10
        settings.limits.unflushedBytes = 64 << 10
        mirror = Mirror(workspace, settings: settings, metrics: metrics, report: { _ in }, notice: { _ in })
    }

    /// What a client got.
    struct Got: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var body: [UInt8]
        /// Whether the body has the length that its head said.
        var isWhole: Bool
    }

    /// - Parameter leavesAfter: bytes after which the client goes; nil to read all.
    func ask(
        _ target: String, _ token: String? = nil, method: String = "GET", range: String? = nil,
        leavesAfter: Int? = nil
    ) -> Got {
        var headers: HTTPHeaders = ["Host": "127.0.0.1:80"]
        headers["Authorization"] = token.map { "Bearer \($0)" }
        headers["Range"] = range
        let response = mirror.respond(to: HTTPRequest(method, target, headers: headers))
        var got = Got(status: response.status, headers: response.headers, body: [], isWhole: true)
        guard method != "HEAD" else {
            if case .stream(_, let producer) = response.body { producer.finished() }
            return got
        }
        switch response.body {
        case .bytes(let bytes): got.body = bytes
        case .file(let file, let range):
            got.body = [UInt8](repeating: 0, count: range.count)
            let count = got.body.withUnsafeMutableBytes {
                try? file.descriptor.read(into: $0, at: range.lowerBound)
            }
            got.isWhole = count == range.count
        case .stream(let length, let producer):
            var buffer = [UInt8](repeating: 0, count: 32 << 10)
            var step = BodyStep.bytes(0)
            while got.body.count < length ?? .max, got.body.count < leavesAfter ?? .max, case .bytes = step {
                step = buffer.withUnsafeMutableBytes { producer.produce(into: $0, at: Int64(got.body.count)) }
                if case .bytes(let count) = step { got.body += buffer[..<count] }
            }
            producer.finished()
            got.isWhole = length.map { $0 == got.body.count } ?? (step == .end)
        }
        return got
    }

    /// The blobs that are not what their names say, and what is left of fetches.
    func faults() throws -> [String] {
        var out: [String] = []
        for name in try FileSystem.entries(layout.root) ?? [] where name.hasPrefix("models--") {
            let blobs = RepositoryFolder(cache: layout, name: name).blobs
            for etag in try FileSystem.entries(blobs) ?? [] {
                guard let digest = ContentDigest(etag: etag),
                    let bytes = try FileSystem.contents(Path.join(blobs, etag)),
                    ContentHasher.digest(of: bytes, like: digest) == digest
                else {
                    out.append("\(name)/\(etag)")
                    continue
                }
            }
        }
        return out
    }
}
