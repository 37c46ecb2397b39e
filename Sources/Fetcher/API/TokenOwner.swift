import HubCore

/// The owner and permissions of a token, as reported by the Hub.
package struct TokenOwner: Sendable, Hashable {
    package var name: String
    package var fullName: String?
    package var organizations: [String]
    /// The token's name. Those of sign-ins have none.
    package var tokenName: String?
    /// `read`, `write`, `fineGrained`
    package var role: String?
    /// What a fine-grained token or a sign-in may do, in the Hub's words; nil if the Hub does not say.
    package var scopes: [String]?

    /// nil if no owner is named.
    init?(_ json: JSON) {
        guard let name = json["name"]?.string, !name.isEmpty else { return nil }
        func text(_ value: JSON?) -> String? { value?.string.flatMap { $0.isEmpty ? nil : $0.printable } }
        self.name = name.printable
        fullName = text(json["fullname"])
        organizations = (json["orgs"]?.array ?? []).compactMap { text($0["name"]) }
        let auth = json["auth"]
        let token = auth?["accessToken"]
        tokenName = text(token?["displayName"])
        role = text(token?["role"])
        scopes = Self.scopes(token?["fineGrained"], auth?["scopes"] ?? auth?["scope"])
    }

    /// The permissions of a fine-grained token, global and of each user or organization; else the scopes of a sign-in.
    private static func scopes(_ fineGrained: JSON?, _ said: JSON?) -> [String]? {
        var words: [String]?
        if let fineGrained, fineGrained.object != nil {
            let scoped = (fineGrained["scoped"]?.array ?? []).flatMap { $0["permissions"]?.array ?? [] }
            words = ((fineGrained["global"]?.array ?? []) + scoped).compactMap(\.string)
            if fineGrained["canReadGatedRepos"]?.bool == true { words?.append("gated-repos") }
        } else if let list = said?.array {
            words = list.compactMap(\.string)
        } else if let text = said?.string {
            words = text.split(separator: " ").map(String.init)
        }
        return words.map { Set($0.map(\.printable)).sorted() }
    }

    /// What the token cannot be used for, as far as the Hub says what it can be used for.
    package var refusals: [String] {
        var refusals: [String] = []
        if let scopes {
            func has(_ words: String...) -> Bool { words.contains { scopes.contains($0) } }
            if !has("inference-api", "inference.serverless.write") {
                refusals.append("calls to inference providers are refused")
            }
            if !has("read-repos", "write-repos", "manage-repos", "repo.content.read", "repo.write") {
                refusals.append("private repositories are refused")
            }
            if !has("gated-repos") { refusals.append("gated repositories are refused") }
            if !has("write-repos", "manage-repos", "contribute-repos", "repo.write") {
                refusals.append("nothing can be written")
            }
        } else if role == "read" {
            refusals.append("nothing can be written")
        }
        return refusals
    }
}
