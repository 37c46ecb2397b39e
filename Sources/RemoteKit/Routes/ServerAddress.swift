#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import HubCore

/// The address of a server that speaks OpenAI's protocol, as people write it: bare, ending in `/v1`, or the whole
/// address of its chat completions. A query is kept.
struct ServerAddress: Sendable {
    let origin: Origin
    private let base: String
    private let query: String

    /// - Throws: ``ErrorCode/invalidInput``.
    init(_ text: String) throws(AIError) {
        let url = URL(string: text)
        let hasUser = url?.user() != nil || url?.password() != nil
        guard !hasUser, let origin = Origin(text), let url, url.fragment() == nil else {
            let user = hasUser ? " with a name or a password" : ""
            throw AIError(
                .invalidInput, "\"\(Secrets.address(text).printable)\"\(user) is not the address of a server",
                advice: "write it like http://127.0.0.1:8080 or https://host/v1")
        }
        self.origin = origin
        query = url.query().map { "?" + $0 } ?? ""
        var path = url.path()
        while path.hasSuffix("/") { path.removeLast() }
        for ending in ["/chat/completions", "/v1"] where path.hasSuffix(ending) {
            path.removeLast(ending.count)
            // `/v3/openai/chat/completions` has no `/v1` to remove, and none to add.
            if ending == "/chat/completions", !path.hasSuffix("/v1") {
                base = origin.description + path
                return
            }
        }
        base = origin.description + path + "/v1"
    }

    /// The address of a route: `/chat/completions`.
    func route(_ path: String) -> String { base + path + query }
}
