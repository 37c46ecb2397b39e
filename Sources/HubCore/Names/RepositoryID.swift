/// The kinds of repositories that the cache holds.
public enum RepositoryKind: String, Sendable, Hashable, CaseIterable, Codable {
    case model, dataset, space, kernel

    /// The plural: the part of an API address (`/api/models`) and of a cache folder's name (`models--org--name`).
    public var plural: String { rawValue + "s" }

    /// The prefix of the id in references and file addresses: empty for a model, else `datasets/`.
    public var prefix: String { self == .model ? "" : plural + "/" }
}

/// The name of a repository, `org/name` or a canonical single word like `gpt2`, checked by the Hub's rules.
public struct RepositoryID: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The name as given; case is kept, because `A/b` and `a/b` differ on disk.
    public let name: String

    /// Checks a name: one or two parts, each 1 to 96 of ASCII letters, digits, `_`, `.`, `-`; no part begins or ends
    /// with `-` or `.`; no `--` or `..`; not ending in `.git`. As `validate_repo_id` of huggingface_hub.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` saying which rule is broken.
    public init(_ name: String) throws(AIError) {
        if Self.isSound(name.utf8) {
            self.name = name
            return
        }
        func refuse(_ why: String) -> AIError {
            AIError(
                .invalidInput, "\"\(name.printable)\" is not a repository name: \(why)",
                advice: "names look like org/name")
        }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        if [".", "..", "~"].contains(parts[0]) || name.hasPrefix("/") {
            throw AIError(
                .invalidInput, "\"\(name.printable)\" is not a repository name: it is a folder or file",
                advice: "names look like org/name; hub try and hub chat take folders")
        }
        if name.contains(where: { "*?[".contains($0) }) {
            throw AIError(
                .invalidInput, "\"\(name.printable)\" is not a repository name: it is a glob",
                advice: "one model is meant here: write org/name")
        }
        guard parts.count <= 2 else {
            let (id, file) = (parts.prefix(2).joined(separator: "/"), parts.dropFirst(2).joined(separator: "/"))
            let isFile = !file.isEmpty && (try? RepositoryID(id)) != nil
            throw AIError(
                .invalidInput, "\"\(name.printable)\" is not a repository name: it has \(parts.count) parts",
                advice: isFile ? "for a file of \(id) write \(id):\(file.printable)" : "names look like org/name")
        }
        for part in parts {
            guard !part.isEmpty else { throw refuse("a part is empty") }
            guard part.utf8.count <= 96 else {
                throw refuse("a part has \(part.utf8.count) characters, at most 96 are allowed")
            }
            if let bad = part.unicodeScalars.first(where: { !Self.allows($0) }) {
                throw refuse(
                    "\"\(String(bad).printable)\" is not allowed; letters, digits, \"_\", \".\" and \"-\" are")
            }
            for end in ["-", "."] where part.hasPrefix(end) || part.hasSuffix(end) {
                throw refuse("a part begins or ends with \"\(end)\"")
            }
        }
        for pair in ["--", ".."] where name.contains(pair) { throw refuse("it contains \"\(pair)\"") }
        guard !name.hasSuffix(".git") else { throw refuse("it ends in \".git\"") }
        self.name = name
    }

    /// The rules in one pass over the bytes: catalogs and caches have many names, and nearly all are valid.
    private static func isSound(_ name: String.UTF8View) -> Bool {
        var (slashes, length) = (0, 0)
        var last: UInt8 = 0
        for byte in name {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                length += 1
            case UInt8(ascii: "-"), UInt8(ascii: "."):
                if length == 0 || last == byte { return false }
                length += 1
            case UInt8(ascii: "/"):
                if slashes == 1 || length == 0 || length > 96 || isPunctuation(last) { return false }
                (slashes, length) = (1, 0)
            default: return false
            }
            last = byte
        }
        return (1...96).contains(length) && !isPunctuation(last) && !name.suffix(4).elementsEqual(".git".utf8)
    }

    private static func isPunctuation(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    private static func allows(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", ".", "-": true
        default: false
        }
    }

    /// Python's reading of a cache folder with an invalid name, unknown to the Hub.
    package init(unchecked name: String) { self.name = name }

    /// The part before the slash; nil for a canonical single word.
    public var owner: String? { name.contains("/") ? name.split(separator: "/").first.map(String.init) : nil }

    /// The name as given.
    public var description: String { name }

    /// Decodes and checks a name.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }
    /// Encodes the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

/// One repository: its kind and its name.
public struct Repository: Sendable, Hashable, CustomStringConvertible {
    /// Model, dataset, space or kernel.
    public var kind: RepositoryKind
    /// Its name.
    public var id: RepositoryID

    /// A repository.
    public init(_ kind: RepositoryKind = .model, _ id: RepositoryID) {
        self.kind = kind
        self.id = id
    }

    /// As a reference names it: `org/name`, `datasets/org/name`.
    public var description: String { kind.prefix + id.name }

    /// The folder in the cache: `models--org--name`.
    public var folderName: String { kind.plural + "--" + id.name.split(separator: "/").joined(separator: "--") }

    /// The repository that a cache folder belongs to; nil for an invalid name. `--` stands for `/`, so a foreign folder
    /// with further `--` in its name is not a repository.
    public init?(folderName: String) {
        guard let (kind, name) = Self.parts(ofFolder: folderName), let id = try? RepositoryID(name),
            // A slash is not "--".
            !folderName.utf8.contains(UInt8(ascii: "/"))
        else { return nil }
        self.init(kind, id)
    }

    /// The kind in a folder's name, and the rest with a `/` for each `--`.
    private static func parts(ofFolder name: String) -> (kind: RepositoryKind, name: String)? {
        for kind in RepositoryKind.allCases {
            guard let rest = name.dropping(prefix: kind.plural + "--") else { continue }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(rest.utf8.count)
            var isPending = false
            for byte in rest.utf8 {
                if byte == UInt8(ascii: "-"), isPending {
                    bytes[bytes.count - 1] = UInt8(ascii: "/")
                    isPending = false
                } else {
                    bytes.append(byte)
                    isPending = byte == UInt8(ascii: "-")
                }
            }
            return (kind, String(decoding: bytes, as: UTF8.self))
        }
        return nil
    }

    /// Python's reading of a cache folder with an invalid name, with a `/` for each `--`; nil if Python rejects it too.
    package init?(foreignFolderName folder: String) {
        guard let (kind, name) = Self.parts(ofFolder: folder), !name.isEmpty else { return nil }
        self.init(kind, RepositoryID(unchecked: name))
    }
}
