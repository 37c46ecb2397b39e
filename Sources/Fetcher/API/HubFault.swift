import HubCore

/// Converts an error response to an error, by the Hub's `X-Error-Code` first and the status second.
struct HubFault {
    var endpoint: Endpoint
    var repository: Repository?
    var revision: String?
    var path: String?
    var hasToken: Bool

    /// The error for a response.
    func error(_ head: HTTPHead, body: [UInt8] = []) -> AIError {
        let message = Self.message(head, body)
        var error = byCode(head) ?? byStatus(head, message)
        error.context.retrySeconds = RateLimit(head.fields)?.secondsToWait
        return error
    }

    private var name: String { repository?.description ?? endpoint.description }

    private func fault(_ head: HTTPHead, _ code: ErrorCode, _ text: String, advice: String? = nil) -> AIError {
        AIError(
            code, text, advice: advice,
            context: .init(
                repository: repository?.description, path: path, status: head.status,
                address: SafeAddress.shown(head.address)))
    }

    /// By the Hub's own headers; nil without them.
    private func byCode(_ head: HTTPHead) -> AIError? {
        switch head.fields["X-Error-Code"] {
        case "RevisionNotFound":
            return fault(
                head, .revisionNotFound, "\(name) has no revision \"\((revision ?? "main").printable)\"",
                advice: "hub info \(name) shows the branches and tags there are")
        case "EntryNotFound":
            return fault(
                head, .fileNotFound,
                "\(name) has no file \"\((path ?? "").printable)\"" + (revision.map { " at \($0)" } ?? ""),
                advice: "hub info --files \(name) shows the files there are")
        case "GatedRepo":
            let page = "\(endpoint)/\(name)"
            return fault(
                head, .gated, "\(name) is gated: its owner grants access",
                advice: hasToken
                    ? "ask for access at \(page)"
                    : "ask for access at \(page), and give hub a token: hub auth login, or set HF_TOKEN")
        case "RepoNotFound": return missing(head)
        case "InvalidToken": return refused(head)
        default: break
        }
        guard head.fields["X-Error-Message"] == "Access to this resource is disabled." else { return nil }
        return fault(head, .disabled, "\(name) has been disabled by the Hub")
    }

    private func byStatus(_ head: HTTPHead, _ message: String) -> AIError {
        // A file comes from the CDN: the failing host is named, not the redirecting one.
        let place = Origin(head.address) ?? endpoint.origin
        switch head.status {
        case 401 where message.contains("Invalid credentials") || repository == nil: return refused(head)
        // Without a token, the Hub answers 401 for both missing and private repositories.
        case 401: return missing(head)
        case 404 where repository != nil: return missing(head)
        case 403:
            return fault(
                head, .unauthorized, "the Hub refuses access to \(name)" + Self.tail(message),
                advice: hasToken ? nil : "give hub a token: hub auth login, or set HF_TOKEN")
        case 407:
            return fault(
                head, .unreachable, "a proxy on the way to \(place) asks for a name and a password (407)",
                advice: CurlFault.proxyPassword)
        case 408: return fault(head, .timedOut, "\(place) gave up waiting (408)")
        case 429:
            let wait = RateLimit(head.fields)?.secondsToWait
            return fault(
                head, .rateLimited, "\(place) limits the rate of requests",
                advice: wait.map { "try again in \($0) seconds; a token raises the limit" })
        case 500...:
            return fault(head, .serverError, "\(place) returned HTTP \(head.status)" + Self.tail(message))
        default: return fault(head, .protocolViolation, "\(place) answers \(head.status)" + Self.tail(message))
        }
    }

    private func missing(_ head: HTTPHead) -> AIError {
        fault(
            head, .repositoryNotFound,
            "\(repository?.kind.rawValue ?? "model") \(name) not found on \(endpoint.origin)",
            advice: hasToken
                ? "check the spelling; if it is private, the token in use has no access to it"
                : "check the spelling; a private repository looks the same without a token: hub auth login, or set HF_TOKEN"
        )
    }

    private func refused(_ head: HTTPHead) -> AIError {
        hasToken
            ? fault(
                head, .unauthorized, "\(endpoint.origin) refuses the token",
                advice: "check HF_TOKEN, which overrides the token file; hub auth login saves another token")
            : fault(
                head, .unauthorized, "\(endpoint.origin) asks for a token",
                advice: "hub auth login, or set HF_TOKEN")
    }

    private static func tail(_ message: String) -> String { message.isEmpty ? "" : ": \(message)" }

    /// The server's message: a header, a member of a JSON body, or a short text that is not a web page. The token,
    /// which a body may quote, is masked, and control characters are removed.
    private static func message(_ head: HTTPHead, _ body: [UInt8]) -> String {
        let words = words(head, body)
        return String((head.token?.masked(in: words) ?? words).prefix(300)).printable
    }

    private static func words(_ head: HTTPHead, _ body: [UInt8]) -> String {
        if let header = head.fields["X-Error-Message"] { return header }
        if let json = try? JSON.parse(body, mostWords: 1 << 14) {
            return json["error"]?.string ?? json["error"]?.array?.compactMap(\.string).joined(separator: "; ")
                ?? json["error_description"]?.string
                ?? json["errors"]?.array?.compactMap { $0["message"]?.string }.joined(separator: "; ") ?? ""
        }
        let text = String(decoding: body, as: UTF8.self)
        return text.prefix(300).contains("<") ? "" : text
    }
}

/// The Hub's rate limit headers: `RateLimit: "api";r=0;t=123`. They come with every response, so they cause a wait only
/// after a refusal.
struct RateLimit: Hashable {
    var kind: String?
    var remaining: Int?
    var reset: Int?
    var limit: Int?
    var window: Int?
    var retryAfter: Int?

    init?(_ fields: HTTPFields) {
        let rate = Self.parameters(fields["RateLimit"])
        let policy = Self.parameters(fields["RateLimit-Policy"])
        kind = fields["RateLimit"]?.split(separator: "\"").first.map(String.init)
        remaining = rate["r"]
        reset = rate["t"]
        limit = policy["q"]
        window = policy["w"]
        retryAfter = fields["Retry-After"].flatMap { Int($0.filter { $0 != " " }) }
        if remaining == nil, retryAfter == nil { return nil }
    }

    /// Seconds until the next request is allowed; nil if missing or implausible.
    var secondsToWait: Int? {
        let said = remaining == 0 ? reset ?? retryAfter : retryAfter
        guard let said, said >= 0 else { return nil }
        return said == .max ? said : said + 1
    }

    private static func parameters(_ text: String?) -> [String: Int] {
        var out: [String: Int] = [:]
        for part in (text ?? "").split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1)
            if pair.count == 2, let value = Int(pair[1].filter { $0 != " " }) {
                out[String(pair[0].filter { $0 != " " })] = value
            }
        }
        return out
    }
}
