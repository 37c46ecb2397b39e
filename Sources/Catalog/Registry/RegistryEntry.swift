public import HubCore

/// One entry of the curated list: an alias, the repository it stands for, and a description. The size of its files is
/// in the catalog, from the Hub.
public struct RegistryEntry: Sendable, Hashable {
    /// The formats of weights that an entry can name.
    public enum Format: String, Sendable, Hashable, CaseIterable { case gguf, mlx, pickle, safetensors }

    /// The short name: one word of lower-case letters, digits, `.`, `_` and `-`.
    public var alias: String
    /// The model's repository on the Hub.
    public var repository: RepositoryID
    /// The provider of its format: ``ModelIdentifier/Provider/huggingFace`` or ``ModelIdentifier/Provider/mlx``.
    public var provider: ModelIdentifier.Provider
    /// A name for people.
    public var name: String
    /// A sentence about it.
    public var description: String?
    /// Its size class.
    public var size: ModelSize?
    /// Tokens it can attend to.
    public var contextLength: Int?
    /// What it is good for.
    public var capabilities: Set<ModelCapability>
    /// Number of parameters.
    public var parameters: Int64?
    /// The quantisation; for a repository with many, the one to choose.
    public var quantization: String?
    /// `model_type` in its `config.json`; without one, the usual name.
    public var architecture: String?
    /// The format of its weights.
    public var format: Format?
    /// The least physical memory of a machine that should use it.
    public var memory: ByteCount?
    /// Whether it is recommended wherever the memory suffices.
    public var isPick: Bool

    /// An entry with only alias and repository; the name is the repository's.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for an invalid alias.
    public init(alias: String, repository: RepositoryID) throws(AIError) {
        try Self.checkAlias(alias)
        self.alias = alias
        self.repository = repository
        provider = .huggingFace
        name = Path.name(repository.name)
        capabilities = []
        isPick = false
    }

    /// The model it refers to.
    public var identifier: ModelIdentifier {
        provider == .mlx ? .mlx(repository.name) : .huggingFace(repository.name)
    }

    /// Whether it is recommended for a machine with this memory. MLX models require a machine that runs MLX.
    public func isRecommended(memory available: ByteCount) -> Bool {
        isPick && (memory.map { $0 <= available } ?? false) && (provider != .mlx || Machine.runsMLX)
    }

    /// The capabilities in the order in which they are always named.
    package var orderedCapabilities: [ModelCapability] { ModelCapability.allCases.filter(capabilities.contains) }
}

extension RegistryEntry {
    /// Checks that a word can be an alias: never mistaken for `org/name`, a revision, a glob or a file, and small
    /// enough to type.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` saying what is wrong.
    public static func checkAlias(_ alias: String) throws(AIError) {
        func refuse(_ why: String) -> AIError {
            AIError(
                .invalidInput, "\"\(alias.printable)\" cannot be an alias: \(why)",
                advice:
                    "an alias is one word of lower-case letters, digits, \".\", \"_\" and \"-\", such as llama-3.2-1b"
            )
        }
        guard !alias.isEmpty else { throw refuse("it is empty") }
        guard !alias.utf8.contains(UInt8(ascii: "/")) else { throw refuse("with a slash it names a repository") }
        guard alias.utf8.count <= 64 else {
            throw refuse("it has \(alias.utf8.count) characters, at most 64 are allowed")
        }
        if let bad = alias.unicodeScalars.first(where: { !isInAlias($0) }) {
            throw refuse("\"\(String(bad).printable)\" is not allowed")
        }
        guard let first = alias.utf8.first, first != UInt8(ascii: "_") else { throw refuse("it begins with \"_\"") }
        guard !alias.hasSuffix(".gguf") else { throw refuse("it looks like the name of a file") }
        // An alias must also be a valid repository name, so that it can be used in a reference.
        guard (try? RepositoryID(alias)) != nil else {
            throw refuse("it begins or ends with \"-\" or \".\", or doubles one of them, or ends in \".git\"")
        }
    }

    private static func isInAlias(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "0"..."9", "_", ".", "-": true
        default: false
        }
    }

    /// Checks a name, a description or a quantisation: a line that a table can show.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` with a sentence about the text.
    package static func checkLine(_ text: String, limit: Int) throws(AIError) {
        guard text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else {
            throw AIError(.invalidInput, "it is empty")
        }
        guard text.utf8.count <= limit else {
            throw AIError(.invalidInput, "it has \(text.utf8.count) bytes, at most \(limit) are allowed")
        }
        guard !text.unicodeScalars.contains(where: { [0x2028, 0x2029, 0xFEFF].contains($0.value) }),
            text.utf8.elementsEqual(text.printable.utf8)
        else { throw AIError(.invalidInput, "it holds control characters") }
    }

    /// Maximum bytes of texts.
    package enum Limit {
        package static let name = 200
        package static let description = 1000
        package static let quantization = 64
        package static let architecture = 64
    }
}
