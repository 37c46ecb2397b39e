import HubCore
import RemoteKit

/// Who answers, as `--provider` names it.
enum ProviderChoice: Sendable, Hashable {
    /// This machine if the model is cached and fits, else the Hub's providers where a person agrees.
    case auto
    case local
    /// The Hub's providers, or the one with this name.
    case hub(String?)
    /// A server that speaks OpenAI's protocol, by its address.
    case server(String)

    /// - Throws: ``ErrorCode/invalidInput``.
    init(_ text: String) throws(AIError) {
        switch text {
        case "auto": self = .auto
        case "local": self = .local
        case "hf": self = .hub(nil)
        default:
            if let name = text.dropping(prefix: "hf:") {
                self = .hub(try Self.checked(name))
            } else if text.lowercased().hasPrefix("http://") || text.lowercased().hasPrefix("https://") {
                self = .server(text)
            } else {
                throw Self.unknown(text)
            }
        }
    }

    /// As it is typed.
    var text: String {
        switch self {
        case .auto: "auto"
        case .local: "local"
        case .hub(let name): name.map { "hf:\($0)" } ?? "hf"
        case .server(let address): address
        }
    }

    /// Whether it is this machine, or a server on it, which is its owner's.
    var isOnThisMachine: Bool {
        switch self {
        case .local: true
        case .server(let address): Origin(address)?.isLoopback ?? false
        case .auto, .hub: false
        }
    }

    /// - Throws: ``ErrorCode/invalidInput`` for what is not the name of a serving provider.
    private static func checked(_ name: String) throws(AIError) -> String {
        guard !name.isEmpty, (try? RemoteModelName("org/name:\(name)")) != nil else {
            throw AIError(
                .invalidInput, "\"hf:\(name.printable)\" does not name a provider", advice: "write it like hf:groq")
        }
        return name
    }

    private static func unknown(_ text: String) -> AIError {
        let words = ["auto", "local", "hf"]
        let shown = Secrets.address(text).printable
        let near = NearestName.of(text, among: words)
        let advice: String
        if let near {
            advice = "did you mean \(near)?"
        } else if text.contains(where: { ".:/".contains($0) }) {
            advice = "the address of a server begins with http:// or https://"
        } else {
            advice = "it must be auto, local, hf, hf:NAME or an address; did you mean hf:\(shown)?"
        }
        return AIError(.invalidInput, "unknown provider \"\(shown)\"", advice: advice)
    }
}
