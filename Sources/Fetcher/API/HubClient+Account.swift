import HubCore

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
