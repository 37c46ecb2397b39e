public import HubCore

/// A model as the router takes it: `org/name`, and after a colon who serves it or how the router chooses.
public struct RemoteModelName: Sendable, Hashable, CustomStringConvertible {
    /// The model on the Hub.
    public var repository: RepositoryID
    /// `groq`, or the router's policy: `fastest`, `cheapest`, `preferred`; nil for the router's default.
    public var suffix: String?

    /// How the router chooses among providers.
    public static let policies: Set<String> = ["fastest", "cheapest", "preferred"]

    /// Reads `org/name` or `org/name:suffix`.
    ///
    /// - Throws: ``ErrorCode/invalidInput``.
    public init(_ text: String) throws(AIError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        repository = try RepositoryID(String(parts[0]))
        guard parts.count > 1 else { return }
        let word = String(parts[1])
        guard !word.isEmpty, word.utf8.allSatisfy(Self.isOfName) else {
            throw AIError(
                .invalidInput, "\"\(text.printable)\" does not name a provider after its colon",
                advice: "write org/name:groq, or org/name:cheapest")
        }
        suffix = word
    }

    /// A model of a repository.
    public init(_ repository: RepositoryID, suffix: String? = nil) {
        self.repository = repository
        self.suffix = suffix
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// The one provider that must serve it; nil if the router chooses.
    public var provider: String? { suffix.flatMap { Self.policies.contains($0) ? nil : $0 } }

    /// `org/name:suffix`
    public var description: String { suffix.map { "\(repository):\($0)" } ?? repository.name }
}
