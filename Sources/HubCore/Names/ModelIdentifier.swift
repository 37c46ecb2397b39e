/// Names a model of one provider, for programs: the repository and the revision wanted.
public struct ModelIdentifier: Sendable, Hashable, Codable, CustomStringConvertible {
    /// Where a model comes from.
    public enum Provider: String, Sendable, Hashable, Codable, CaseIterable {
        /// Any repository of the Hub.
        case huggingFace = "huggingface"
        /// A repository of the Hub in MLX's format.
        case mlx
        /// A folder or file of this machine.
        case local
    }

    /// Where it comes from.
    public var provider: Provider
    /// `org/name`, or a path for ``Provider/local``.
    public var repository: String
    /// Branch, tag or commit; nil means the main branch.
    public var revision: String?

    private init(_ provider: Provider, _ repository: String, _ revision: String?) {
        self.provider = provider
        self.repository = repository
        self.revision = revision
    }

    /// A repository of the Hub.
    public static func huggingFace(_ repository: String, revision: String? = nil) -> ModelIdentifier {
        ModelIdentifier(.huggingFace, repository, revision)
    }
    /// An MLX repository of the Hub.
    public static func mlx(_ repository: String, revision: String? = nil) -> ModelIdentifier {
        ModelIdentifier(.mlx, repository, revision)
    }
    /// A folder or file of this machine.
    public static func local(_ path: String) -> ModelIdentifier { ModelIdentifier(.local, path, nil) }

    /// The last part of the repository or path.
    public var displayName: String { Path.name(repository) }

    /// `huggingface:org/name@revision`, the form it is encoded in.
    public var description: String { "\(provider.rawValue):\(repository)" + (revision.map { "@" + $0 } ?? "") }

    /// Reads the form of ``description``; without a provider, `huggingface` is meant.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for an unknown provider or an invalid name.
    public init(parsing text: String) throws(AIError) {
        var rest = Substring(text)
        var provider = Provider.huggingFace
        if let colon = text.firstIndex(of: ":") {
            guard let named = Provider(rawValue: String(text[..<colon])) else {
                throw AIError(.invalidInput, "\"\(text.printable)\" names an unknown provider")
            }
            provider = named
            rest = text[text.index(after: colon)...]
        }
        guard provider != .local else {
            self.init(.local, String(rest), nil)
            return
        }
        let reference = try ModelReference(parsing: String(rest))
        guard reference.repository.kind == .model, reference.files == nil else {
            throw AIError(.invalidInput, "\"\(text.printable)\" names something else than a whole model")
        }
        self.init(provider, reference.repository.id.name, reference.revision)
    }

    /// The repository on the Hub.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a local model.
    public func hubRepository() throws(AIError) -> Repository {
        guard provider != .local else {
            throw AIError(.invalidInput, "\(self) is a folder of this machine, not a repository of the Hub")
        }
        return Repository(.model, try RepositoryID(repository))
    }

    /// Decodes the form of ``description``.
    public init(from decoder: any Decoder) throws {
        try self.init(parsing: decoder.singleValueContainer().decode(String.self))
    }
    /// Encodes the form of ``description``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
