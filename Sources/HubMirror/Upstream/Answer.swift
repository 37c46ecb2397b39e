import Fetcher
import HubCore
import HubServer
import Libc

/// An answer of upstream's API.
struct Answer: Sendable {
    var status: Int
    /// Those that are passed on.
    var headers: HTTPHeaders
    var body: [UInt8]
    /// When it was received, seconds since 1970.
    var at: Double
    /// The address that answered, after redirects; nil if it was kept.
    var address: String?

    /// What clients read. Addresses are rewritten later, see ``Passing``; everything about Xet is left out.
    private static let passed = [
        "Content-Type", "X-Repo-Commit", "X-Error-Code", "X-Error-Message", "Link", "Retry-After", "RateLimit",
        "RateLimit-Policy", "WWW-Authenticate", "X-Total-Count",
    ]

    /// Longer values are left out: a head of ours holds them all.
    private static let longestHeader = 4096

    /// - Parameter isOfAPI: whether the body is to be JSON, and not a content with a digest.
    init(_ response: Fetcher.HTTPResponse, isOfAPI: Bool) {
        status = response.status
        body = isOfAPI ? Self.withoutXet(response.body) : response.body
        at = Timestamp.now
        address = response.head.address
        headers = HTTPHeaders()
        for name in Self.passed {
            if let value = response.fields[name], value.utf8.count <= Self.longestHeader { headers[name] = value }
        }
    }

    /// Bytes that are no answer, to be kept like one.
    init(_ bytes: [UInt8]) {
        (status, headers, body, at) = (200, HTTPHeaders(), bytes, Timestamp.now)
    }

    /// Python's client asks for a file's Xet token, and so leaves the mirror, wherever it sees a Xet hash. A body that names
    /// one and cannot be read is dropped.
    private static func withoutXet(_ body: [UInt8]) -> [UInt8] {
        guard namesXet(body) else { return body }
        guard let json = try? JSON.parse(body) else { return [] }
        return Array(stripped(json).text().utf8)
    }

    private static func namesXet(_ body: [UInt8]) -> Bool {
        let mark = Array("\"xet".utf8)
        return body.withUnsafeBytes { bytes in
            var at = 0
            while at + mark.count <= bytes.count, let start = bytes.baseAddress,
                let quote = memchr(start + at, Int32(mark[0]), bytes.count - at)
            {
                at = UnsafeRawPointer(quote) - start
                if at + mark.count <= bytes.count, memcmp(quote, mark, mark.count) == 0 { return true }
                at += 1
            }
            return false
        }
    }

    private static func stripped(_ json: JSON) -> JSON {
        switch json {
        case .array(let values): return .array(values.map(stripped))
        case .object(let object):
            return .object(
                JSONObject(
                    object.members.filter { !["xetHash", "xetEnabled"].contains($0.key) }
                        .map { ($0.key, stripped($0.value)) }))
        default: return json
        }
    }

    var code: String? { headers["X-Error-Code"] }
    var isSuccess: Bool { (200..<300).contains(status) }
    /// Whether upstream refuses the repository to this client, or has none; it does not say which.
    var isRefusal: Bool {
        [401, 403].contains(status) || (status == 404 && ["RepoNotFound", "GatedRepo"].contains(code ?? ""))
    }
    /// Whether it says something about the content, not about the moment or the client.
    var isLasting: Bool {
        isSuccess || (status == 404 && ["EntryNotFound", "RevisionNotFound"].contains(code ?? ""))
    }
    var json: JSON? { try? JSON.parse(body) }

    /// As an error.
    var fault: HubFault {
        let message =
            headers["X-Error-Message"] ?? json?["error"]?.string ?? "upstream answers with status \(status)"
        var passed = HTTPHeaders()
        for name in ["Retry-After", "RateLimit", "RateLimit-Policy", "WWW-Authenticate", "X-Repo-Commit"] {
            if let value = headers[name] { passed[name] = value }
        }
        // Any other status, such as that of a redirect, is not an answer.
        return HubFault(
            status: (400..<500).contains(status) ? status : 502, code: code, message: message, headers: passed)
    }

    // MARK: On disk

    /// A line of JSON, then the body.
    var file: [UInt8] {
        let head: JSON = .object([
            "status": .int(Int64(status)), "at": .double(at),
            "headers": .array(headers.fields.map { .array([.string($0.name), .string($0.value)]) }),
        ])
        return Array(head.text().utf8) + [UInt8(ascii: "\n")] + body
    }

    /// nil if the bytes are not such a file.
    init?(file bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")), let head = try? JSON.parse(Array(bytes[..<end])),
            let status = head["status"]?.int, let at = head["at"]?.double
        else { return nil }
        self.status = Int(status)
        self.at = at
        headers = HTTPHeaders()
        for pair in head["headers"]?.array ?? [] {
            guard let pair = pair.array, pair.count == 2, let name = pair[0].string, let value = pair[1].string
            else {
                return nil
            }
            headers.add(name, value)
        }
        body = Array(bytes[(end + 1)...])
    }
}

extension HubFault {
    /// The client left; nobody reads this. nginx's status for it.
    static let gone = HubFault(status: 499, message: "the client has left")

    /// Whether the operator can do something about it: the client sees little of it.
    var isOfThisMachine: Bool { [500, 507].contains(status) }

    /// The response to an error of the transfer or of the connection to upstream.
    init(_ error: AIError) {
        var headers = HTTPHeaders()
        if let seconds = error.context.retrySeconds { headers["Retry-After"] = String(seconds) }
        func fault(_ status: Int, _ code: String? = nil) -> HubFault {
            HubFault(status: status, code: code, message: error.message, headers: headers)
        }
        let status = error.context.status
        switch error.code {
        case .gated: self = fault(status == 401 ? 401 : 403, "GatedRepo")
        case .repositoryNotFound: self = fault(status == 401 ? 401 : 404, "RepoNotFound")
        case .revisionNotFound: self = fault(404, "RevisionNotFound")
        case .fileNotFound: self = fault(404, "EntryNotFound")
        case .unauthorized: self = fault(status == 403 ? 403 : 401)
        case .disabled: self = fault(403)
        case .rateLimited:
            if headers["Retry-After"] == nil { headers["Retry-After"] = "30" }
            self = fault(429)
        case .diskFull: self = fault(507)
        case .cancelled: self = fault(503)
        case .offline, .unreachable, .timedOut, .connectionLost: self = fault(504)
        case .serverError, .protocolViolation, .digestMismatch: self = fault(502)
        default: self = .machine(error)
        }
    }
}
