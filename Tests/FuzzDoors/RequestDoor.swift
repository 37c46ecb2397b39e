import Fetcher
import HubAPI
import HubCore
import HubServer
import InferenceKit
import Support

/// Requests of the API's clients, answered by small models.
extension FuzzDoor {
    /// `{"call": "/v1/chat/completions", "body": {...}}`; any other input is the body of a chat completion.
    static let request = FuzzDoor("request") { bytes in
        var (call, body) = ("/v1/chat/completions", bytes)
        if let json = try? JSON.parse(bytes), let named = json["call"]?.string, let told = json["body"] {
            (call, body) = (named, Array(told.text().utf8))
        }
        let response = try room.get().respond(to: HTTPRequest("POST", call, body: body))
        let text = FuzzDoor.text(response.body)
        guard response.status < 500 || response.status == 501 || response.status == 503 else {
            throw AIError(.ioError, "\(call): \(response.status) \(text.prefix(400))")
        }
        guard !["NaN", "nan", "Infinity", "-inf"].contains(where: { text.contains(":\($0)") }) else {
            throw AIError(.ioError, "\(call): a number that JSON does not have in \(text.prefix(400))")
        }
    }

    /// The API over a cache with models that generate, embed, and see.
    private static let room = Result {
        let cache = try TemporaryFolder("fuzz-cache")
        for (name, fixture) in [
            ("llama", "tiny-shakespeare"), ("bert", "micro/bert-mean-plain"), ("clip", "micro/clip"),
            ("vit", "micro/vit"),
        ] {
            let commit = String(repeating: "a", count: 40)
            let snapshot = cache("models--local--\(name)/snapshots/\(commit)")
            try FileSystem.createDirectories(Path.parent(snapshot))
            try FileSystem.createSymlink(try Fixtures.path(fixture), at: snapshot)
            try cache.write("models--local--\(name)/refs/main", commit)
        }
        let workspace = Workspace(
            environment: HubEnvironment(["HOME": cache.path, "HUB_HOME": cache("state")]),
            cacheDirectory: cache.path,
            configuration: .default, isOffline: true, opensCatalog: false)
        var options = ModelOptions(threads: 1, context: 96)
        options.isShared = true
        let shelf = Shelf(workspace, allowed: nil) { try ModelReference(parsing: $0) }
        keptCache.withLock { $0 = cache }
        return try APIRoom(
            shelf,
            .init(
                access: APIAccess(keys: nil), options: options,
                idle: KeepAlive(seconds: nil), parallel: 8, queue: 8),
            metrics: ServerMetrics())
    }
    private static let keptCache = Lock<TemporaryFolder?>(nil)

    /// A body as text; the API sends no files.
    private static func text(_ body: HTTPBody) -> String {
        switch body {
        case .bytes(let bytes): return String(decoding: bytes, as: UTF8.self)
        case .file: return ""
        case .stream(_, let producer):
            var bytes: [UInt8] = []
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
            defer {
                buffer.deallocate()
                producer.finished()
            }
            while case .bytes(let count) = producer.produce(into: buffer, at: Int64(bytes.count)) {
                bytes += buffer[..<count]
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
