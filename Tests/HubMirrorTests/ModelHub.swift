import HubCore
import HubServer
import Support

/// A Hub of several accounts: open, private, gated and renamed repositories, and troubles to order. What it says and lets
/// have is the truth that a mirror of it is held against.
final class ModelHub: HTTPHandler {
    struct Repo: Sendable {
        var name: String
        /// The files of each commit.
        var commits: [String: [String: [UInt8]]] = [:]
        var main = ""
        /// The tokens that see it; nil for everyone.
        var readers: Set<String>?
        /// The tokens that may have its files; nil if it is not gated.
        var granted: Set<String>?
        /// Files that are listed, and whose bytes were never uploaded.
        var lacking: Set<String> = []

        func isVisible(to token: String?) -> Bool { readers.map { $0.contains(token ?? "") } ?? true }
        func gives(to token: String?) -> Bool {
            isVisible(to: token) && (granted.map { $0.contains(token ?? "") } ?? true)
        }
        /// Its content at a commit.
        func file(_ path: String, at commit: String) -> [UInt8]? { commits[commit]?[path] }
    }

    /// What goes wrong with a request.
    enum Trouble: Sendable, Equatable {
        case status(Int)
        case page, nothing, otherJSON, plainNotFound, bomb
        /// To a page for signing in, to itself, or to a file of this machine.
        case redirect(String)
        /// The body is cut, or a bit of it flipped, at this share of it.
        case cut(Double), flip(Double)
        case withoutRanges
    }

    enum Part: Sendable, Equatable { case all, files, rest }

    struct State {
        var repos: [String: Repo] = [:]
        /// Former names.
        var renamed: [String: String] = [:]
        var tokens: Set<String> = []
        var trouble: Trouble?
        var part = Part.all
        /// How many requests it hits.
        var times = 0
        /// Who is spared.
        var spared: Set<String> = []
        var requests: [String] = []
    }

    let state = Monitor(State())

    func change(_ body: (inout State) -> Void) { state.update(body) }
    func repo(_ name: String) -> Repo? {
        state.update { $0.repos[$0.renamed[name] ?? name] }
    }
    /// Requests so far, as `METHOD TARGET`.
    var requests: [String] { state.update { $0.requests } }

    /// Millions of values in a few bytes each.
    private static let bomb = Array("[\(String(repeating: "0,", count: 2_200_000))0]".utf8)

    static func isLFS(_ path: String) -> Bool { path.hasSuffix(".bin") }
    static func sha256(_ bytes: [UInt8]) -> String { ContentHasher.digest(of: bytes, like: .sha256("")).hex }
    static func digest(_ path: String, _ bytes: [UInt8]) -> String {
        isLFS(path) ? sha256(bytes) : ContentHasher.digest(of: bytes, like: .gitSHA1("")).hex
    }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        let token = request.bearerToken
        let path = PercentEncoding.decode(request.rawPath) ?? ""
        let isFile = path.contains("/resolve/")
        let trouble = state.update { state -> Trouble? in
            state.requests.append("\(request.method) \(request.target)")
            guard let trouble = state.trouble, state.times > 0, !state.spared.contains(token ?? ""),
                state.part == .all || (state.part == .files) == isFile
            else { return nil }
            state.times -= 1
            return trouble
        }
        var request = request
        switch trouble {
        case .status(let status): return HTTPResponse(status, body: .bytes(Array("{}".utf8)))
        case .page:
            return HTTPResponse(200, headers: ["Content-Type": "text/html"], body: .bytes(Array("<html>".utf8)))
        case .nothing: return HTTPResponse(200)
        case .plainNotFound: return HTTPResponse(404, body: .bytes(Array("Not here".utf8)))
        case .redirect(let target):
            return HTTPResponse(302, headers: ["Location": target.isEmpty ? request.target : target])
        case .otherJSON:
            return .json(.object(["id": "x/y", "sha": .string(String(repeating: "0", count: 40))]))
        case .bomb: return HTTPResponse(200, body: .bytes(Self.bomb))
        case .withoutRanges: request.headers["Range"] = nil
        case .cut, .flip, nil: break
        }
        let response = answer(request, path, token)
        guard case .bytes(let bytes) = response.body, request.method != "HEAD", !bytes.isEmpty else {
            return response
        }
        switch trouble {
        case .cut(let share):
            let body = Cut(Array(bytes.prefix(Int(Double(bytes.count) * share))))
            return HTTPResponse(
                response.status, headers: response.headers, body: .stream(length: Int64(bytes.count), body))
        case .flip(let share):
            var wrong = bytes
            wrong[min(bytes.count - 1, Int(Double(bytes.count) * share))] ^= 1
            return HTTPResponse(response.status, headers: response.headers, body: .bytes(wrong))
        default: return response
        }
    }

    private final class Cut: BodyProducer {
        let bytes: [UInt8]
        init(_ bytes: [UInt8]) { self.bytes = bytes }
        func produce(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> BodyStep {
            let part = bytes.dropFirst(Int(position)).prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.isEmpty ? .abort : .bytes(part.count)
        }
    }

    private func refusal(_ status: Int, _ code: String) -> HTTPResponse {
        .json(.object(["error": .string(code)]), status: status, headers: ["X-Error-Code": code])
    }

    private func answer(_ request: HTTPRequest, _ path: String, _ token: String?) -> HTTPResponse {
        let state = state.update { $0 }
        if let token, !state.tokens.contains(token) { return refusal(401, "InvalidToken") }
        let parts = path.split(separator: "/").map(String.init)
        let isAPI = parts.starts(with: ["api", "models"])
        let rest = isAPI ? Array(parts.dropFirst(2)) : parts
        guard rest.count >= 2 else { return isAPI ? .json(.array([])) : refusal(404, "EntryNotFound") }
        let name = rest[0] + "/" + rest[1]
        if let now = state.renamed[name] {
            return HTTPResponse(
                307, headers: ["Location": request.target.replacing(name, with: now, maxReplacements: 1)])
        }
        guard let repo = state.repos[name], repo.isVisible(to: token) else {
            return refusal(token == nil ? 401 : 404, "RepoNotFound")
        }
        let words = Array(rest.dropFirst(2))
        guard isAPI else {
            guard words.count >= 3, words[0] == "resolve" else { return refusal(404, "EntryNotFound") }
            return file(request, repo, words[1], words.dropFirst(2).joined(separator: "/"), token)
        }
        guard let action = words.first else { return info(repo, repo.main) }
        let revision = words.count > 1 ? words[1] : ""
        let commit = revision == "main" ? repo.main : revision
        guard let files = repo.commits[commit] else { return refusal(404, "RevisionNotFound") }
        switch action {
        case "revision": return info(repo, commit)
        case "tree": return .json(.array(files.sorted { $0.key < $1.key }.map { Self.entry($0.key, $0.value) }))
        default: return .json(.object(["secret": .string(name)]))
        }
    }

    private func info(_ repo: Repo, _ commit: String) -> HTTPResponse {
        .json(
            .object([
                "id": .string(repo.name), "sha": .string(commit), "private": .bool(repo.readers != nil),
                "gated": repo.granted == nil ? false : "auto", "tags": .array([]),
                "siblings": .array(
                    (repo.commits[commit] ?? [:]).keys.sorted().map { .object(["rfilename": .string($0)]) }),
            ]))
    }

    private static func entry(_ path: String, _ bytes: [UInt8]) -> JSON {
        let (size, digest) = (JSON.int(Int64(bytes.count)), digest(path, bytes))
        let lfs: JSON = .object(["oid": .string(digest), "size": size, "pointerSize": 130])
        return .object([
            "type": "file", "path": .string(path), "size": size, "oid": .string(String(digest.prefix(40))),
            "lfs": isLFS(path) ? lfs : nil,
        ])
    }

    private func file(_ request: HTTPRequest, _ repo: Repo, _ revision: String, _ path: String, _ token: String?)
        -> HTTPResponse
    {
        let commit = revision == "main" ? repo.main : revision
        guard repo.commits[commit] != nil else { return refusal(404, "RevisionNotFound") }
        guard repo.gives(to: token) else { return refusal(token == nil ? 401 : 403, "GatedRepo") }
        guard let bytes = repo.file(path, at: commit), !(repo.lacking.contains(path) && request.method == "GET")
        else {
            return refusal(404, "EntryNotFound")
        }
        let etag = "\"\(Self.digest(path, bytes))\""
        var headers: HTTPHeaders = ["X-Repo-Commit": commit, "ETag": etag, "Accept-Ranges": "bytes"]
        if Self.isLFS(path) {
            headers["X-Linked-Etag"] = etag
            headers["X-Linked-Size"] = String(bytes.count)
        }
        guard case .part(let range) = ByteRange(header: request.headers["Range"], length: Int64(bytes.count)) else {
            return HTTPResponse(200, headers: headers, body: .bytes(bytes))
        }
        headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)"
        return HTTPResponse(
            206, headers: headers, body: .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])))
    }
}
