import HubCore
import HubServer
import Support

/// A folder behind a ``HubService``, asked without a socket.
final class ServedFolderHub: Sendable {
    static let token = "hf_good"
    let folder: TemporaryFolder
    let service: HubService
    let reports: Reports

    final class Reports: Sendable {
        private let all = Lock<[String]>([])
        func add(_ error: AIError) { all.withLock { $0.append(error.message) } }
        var messages: [String] { all.withLock { $0 } }
    }

    init(_ folder: TemporaryFolder, pages: HubService.PageSizes = .init(), access: HubAccess? = nil) throws {
        let reports = Reports()
        self.folder = folder
        self.reports = reports
        service = HubService(
            try FolderSource(folder.path, report: reports.add),
            access: access ?? HubAccess(.loopback, token: Self.token), pages: pages, report: reports.add)
    }

    enum Credential { case none, good, bad }

    func ask(
        _ method: String, _ target: String, _ credential: Credential = .none, headers: HTTPHeaders = [:],
        body: String = ""
    ) throws -> HTTPReply {
        var all = headers
        if all["Host"] == nil { all["Host"] = "127.0.0.1:80" }
        switch credential {
        case .none: break
        case .good: all["Authorization"] = "Bearer \(Self.token)"
        case .bad: all["Authorization"] = "Bearer hf_other"
        }
        let response = service.respond(to: HTTPRequest(method, target, headers: all, body: Array(body.utf8)))
        return HTTPReply(
            status: response.status, headers: response.headers, body: try Self.bytes(response.body),
            isComplete: true)
    }

    func get(_ target: String, _ credential: Credential = .none, headers: HTTPHeaders = [:]) throws -> HTTPReply {
        try ask("GET", target, credential, headers: headers)
    }

    private static func bytes(_ body: HTTPBody) throws -> [UInt8] {
        switch body {
        case .bytes(let bytes): return bytes
        case .file(let file, let range):
            var bytes = [UInt8](repeating: 0, count: range.count)
            let count = try bytes.withUnsafeMutableBytes {
                try file.descriptor.read(into: $0, at: range.lowerBound)
            }
            guard count == bytes.count else {
                throw AIError(.ioError, "the file is shorter than the response says")
            }
            return bytes
        case .stream: throw AIError(.ioError, "this service makes no streams")
        }
    }
}

extension JSON {
    var ids: [String] { array?.compactMap { $0["id"]?.string } ?? [] }
    var paths: [String] { array?.compactMap { $0["path"]?.string } ?? [] }
    var keys: Set<String> { Set(object?.keys ?? []) }
}

extension HTTPReply {
    /// The address in `Link: <...>; rel="next"`.
    var next: String? {
        headers["Link"].flatMap { link in
            link.wholeMatch(of: /<(http:\/\/[^>]+)>; rel="next"/).map { String($0.1) }
        }
    }
    /// The same without scheme and host.
    var nextTarget: String? { next.flatMap { $0.dropping(prefix: "http://127.0.0.1:80") } }
}
