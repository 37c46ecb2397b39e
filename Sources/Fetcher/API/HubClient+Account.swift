import HubCore

/// The owner and permissions of a token, as reported by the Hub.
package struct TokenOwner: Sendable, Hashable {
    package var name: String
    package var fullName: String?
    package var organizations: [String]
    /// The token's name.
    package var tokenName: String?
    /// `read`, `write`, `fineGrained`
    package var role: String?

    /// nil if no owner is named.
    init?(_ json: JSON) {
        guard let name = json["name"]?.string, !name.isEmpty else { return nil }
        func text(_ value: JSON?) -> String? { value?.string.flatMap { $0.isEmpty ? nil : $0.printable } }
        self.name = name.printable
        fullName = text(json["fullname"])
        organizations = (json["orgs"]?.array ?? []).compactMap { text($0["name"]) }
        let token = json["auth"]?["accessToken"]
        tokenName = text(token?["displayName"])
        role = text(token?["role"])
    }
}

extension HubClient {
    /// The token's owner. The Hub limits this call strictly: use it once per command.
    package func whoami() async throws -> TokenOwner {
        let json = try await json("\(endpoint)/api/whoami-v2", fault: fault(nil))
        guard let owner = TokenOwner(json) else {
            throw AIError(.protocolViolation, "\(endpoint.origin) does not say who the token belongs to")
        }
        return owner
    }
}
