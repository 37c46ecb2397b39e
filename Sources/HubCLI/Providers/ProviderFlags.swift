import HubCore
import RemoteKit

/// The flags of commands that a remote model can answer.
enum ProviderFlags {
    static let provider = Option<ProviderChoice>(
        "provider", "NAME", .choice(["auto", "local", "hf"]),
        "who answers: auto, local, hf, hf:NAME, or a server's URL",
        detail: """
            local is this machine, hf the Hub's inference providers, hf:groq one of them, and a URL a server that speaks \
            OpenAI's protocol. auto is local if the model is cached and fits, else hf if you agree to that on a terminal; a script \
            has to say hf. hub help providers says more, and where keys come from.
            """
    ) { text throws(AIError) in try ProviderChoice(text) }

    static let timeout = Option.real(
        "timeout", "SECONDS", in: 0.001...86_400, "how long the whole answer may take; 300 for a remote model",
        detail: """
            A remote model also has 10 seconds to connect, and 60 to the first byte and between two pieces. On this \
            machine there is no limit by default; one that is given ends the answer at the next token.
            """)

    static let why = Switch(
        "why", "say on stderr who answers and why; with --json in the document")

    /// What limits a call to a provider.
    static func limits(_ timeout: Double?) -> RemoteLimits {
        var limits = RemoteLimits()
        if let timeout { limits.total = timeout }
        return limits
    }
}
