/// A model reference as typed: repository, revision and a file pattern.
///
/// `org/name[@revision][:glob]`, `hf://[kind/]org/name[@revision][/path]`, an address of the endpoint's web pages
/// (`/org/name`, `/tree/rev[/path]`, `/blob/rev/path`, `/resolve/rev/path`), or a canonical single word. The Hub's own
/// pages may be written `huggingface.co/...`, and `hf.co/...`, as its short links are. Of a page of the repository itself,
/// revision and files may follow as after a name: `hf.co/org/name:Q4_K_M`, as llama.cpp and ollama write it.
public struct ModelReference: Sendable, Hashable, CustomStringConvertible {
    /// The repository.
    public var repository: Repository
    /// Branch, tag, `refs/pr/1` or commit; nil means the main branch.
    public var revision: String?
    /// A pattern or path over the repository's files.
    public var files: String?

    /// A reference.
    public init(_ repository: Repository, revision: String? = nil, files: String? = nil) {
        self.repository = repository
        self.revision = revision
        self.files = files
    }

    /// Reads a reference.
    ///
    /// - Parameter endpoint: web addresses must be of its origin.
    /// - Throws: ``ErrorCode/invalidInput``.
    public init(parsing text: String, endpoint: Endpoint = .huggingFace) throws(AIError) {
        if let rest = text.dropping(prefix: "hf://") {
            try self.init(uri: rest, whole: text)
        } else if let page = Self.hubPage(text) {
            try self.init(web: page, typed: text, endpoint: endpoint)
        } else if text.hasPrefix("http://") || text.hasPrefix("https://") {
            try self.init(web: text, typed: text, endpoint: endpoint)
        } else if text.contains("://") || ["http:", "https:"].contains(where: text.lowercased().hasPrefix) {
            throw AIError(
                .invalidInput,
                "\"\(Secrets.address(text).printable)\" is not a reference: addresses begin with https://, http:// or hf://"
            )
        } else {
            try self.init(plain: text)
        }
        if let revision { try RepositoryPath.checkRevision(revision) }
    }

    /// As typed.
    public var description: String {
        repository.description + (revision.map { "@" + $0 } ?? "") + (files.map { ":" + $0 } ?? "")
    }

    private init(plain text: String) throws(AIError) {
        var rest = Substring(text)
        var files: String?
        var revision: String?
        if let colon = rest.firstIndex(of: ":") {
            files = String(rest[rest.index(after: colon)...])
            rest = rest[..<colon]
            guard files != "" else {
                throw AIError(.invalidInput, "\"\(text.printable)\" names no file after the colon")
            }
        }
        if let at = rest.firstIndex(of: "@") {
            revision = String(rest[rest.index(after: at)...])
            rest = rest[..<at]
        }
        let (kind, name) = Self.splitKind(rest)
        self.init(Repository(kind, try RepositoryID(name)), revision: revision, files: files)
    }

    /// `models/`, `datasets/`, `spaces/` before a name give its kind, if something follows.
    private static func splitKind(_ text: Substring) -> (RepositoryKind, String) {
        for kind in RepositoryKind.allCases {
            if let rest = text.dropping(prefix: kind.plural + "/"), rest.contains("/") || kind != .model {
                return (kind, String(rest))
            }
        }
        return (.model, String(text))
    }

    /// After `hf://`: `[kind/]org/name[@revision][/path]`. A revision's own slashes are written `%2F`, but for the
    /// Hub's `refs/pr/N` and `refs/convert/NAME`.
    private init(uri text: String, whole: String) throws(AIError) {
        func refuse(_ why: String) -> AIError {
            AIError(.invalidInput, "\"\(Secrets.address(whole).printable)\" is not a reference: \(why)")
        }
        var rest = Substring(text)
        var kind = RepositoryKind.model
        for candidate in RepositoryKind.allCases {
            if let after = rest.dropping(prefix: candidate.plural + "/") {
                kind = candidate
                rest = Substring(after)
                break
            }
        }
        guard let slash = rest.firstIndex(of: "/") else { throw refuse("it needs org/name") }
        let organisation = rest[..<slash]
        rest = rest[rest.index(after: slash)...]
        let end = rest.firstIndex { $0 == "@" || $0 == "/" } ?? rest.endIndex
        let id = try RepositoryID("\(organisation)/\(rest[..<end])")
        rest = rest[end...]
        var revision: String?
        if rest.first == "@" {
            (revision, rest) = Self.splitRevision(rest.dropFirst())
            guard revision != nil else { throw refuse("the percent-encoding of its revision is wrong") }
        }
        let path = rest.first == "/" ? String(rest.dropFirst()) : ""
        self.init(Repository(kind, id), revision: revision, files: path.isEmpty ? nil : path)
    }

    /// The revision at the beginning of `text`, decoded, and what follows it (with its slash).
    private static func splitRevision(_ text: Substring) -> (String?, Substring) {
        var parts = 1
        for special in ["refs/pr/", "refs/convert/"] where text.hasPrefix(special) { parts = 3 }
        var end = text.startIndex
        for part in 0..<parts {
            if part > 0, end < text.endIndex { end = text.index(after: end) }
            end = text[end...].firstIndex(of: "/") ?? text.endIndex
        }
        return (PercentEncoding.decode(text[..<end]), text[end...])
    }

    /// The whole address of a page of the Hub that is written without a scheme or with the Hub's short name.
    private static func hubPage(_ text: String) -> String? {
        for short in ["huggingface.co/", "hf.co/", "https://hf.co/"] {
            if let rest = text.dropping(prefix: short) { return "\(Endpoint.huggingFace)/\(rest)" }
        }
        return nil
    }

    /// What follows scheme, host and port.
    private static func pathOfAddress(_ address: String) -> Substring {
        guard let scheme = address.range(of: "://") else { return "" }
        return address[scheme.upperBound...].drop { $0 != "/" }
    }

    /// Whether a repository's name is followed by `:` or `@`, which stand in no name.
    private static func isNameWithMore(_ path: String) -> Bool {
        let name = path.prefix { !":@?#".contains($0) }
        guard let next = path[name.endIndex...].first, next == ":" || next == "@" else { return false }
        return splitKind(name).1.split(separator: "/", omittingEmptySubsequences: false).count == 2
    }

    /// - Parameter typed: what people recognize: the address may be completed.
    private init(web text: String, typed: String, endpoint: Endpoint) throws(AIError) {
        func refuse(_ why: String) -> AIError {
            AIError(.invalidInput, "\"\(Secrets.address(typed).printable)\" is not a reference: \(why)")
        }
        guard let origin = Origin(text) else { throw refuse("this address names no host that can be asked") }
        guard origin == endpoint.origin else {
            throw AIError(
                .invalidInput, "\"\(Secrets.address(typed).printable)\" is on another Hub than \(endpoint.origin)",
                advice: "name that Hub: --endpoint \(origin)")
        }
        let path = Self.pathOfAddress(text).dropping(prefix: Self.pathOfAddress(endpoint.address) + "/")
        if let path, Self.isNameWithMore(path) {
            try self.init(plain: path)
            return
        }
        var bare = text
        if let cut = bare.firstIndex(where: { $0 == "?" || $0 == "#" }) { bare = String(bare[..<cut]) }
        guard let below = Self.pathOfAddress(bare).dropping(prefix: Self.pathOfAddress(endpoint.address) + "/")
        else {
            throw refuse("it is not below \(endpoint)")
        }
        var parts = below.split(separator: "/")[...]
        var kind = RepositoryKind.model
        if let first = parts.first, let named = RepositoryKind.allCases.first(where: { $0.plural == first }),
            named != .model
        {
            kind = named
            parts = parts.dropFirst()
        }
        guard parts.count >= 2 else { throw refuse("it names no repository; org/name is needed") }
        let id = try RepositoryID(parts.prefix(2).joined(separator: "/"))
        parts = parts.dropFirst(2)
        guard let view = parts.popFirst() else {
            self.init(Repository(kind, id))
            return
        }
        guard ["tree", "blob", "resolve", "raw"].contains(view), !parts.isEmpty else {
            throw refuse("only /tree/, /blob/ and /resolve/ pages name files")
        }
        let (revision, rest) = Self.splitRevision(Substring(parts.joined(separator: "/")))
        guard let revision, let path = PercentEncoding.decode(rest.dropFirst()) else {
            throw refuse("its percent-encoding is wrong")
        }
        // A folder's page means all its files.
        let files = path.isEmpty ? nil : view == "tree" ? path + "/" : path
        self.init(Repository(kind, id), revision: revision, files: files)
    }
}
