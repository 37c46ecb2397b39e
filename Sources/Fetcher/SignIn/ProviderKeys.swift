package import HubCore

/// The keys of servers that speak OpenAI's protocol, by origin: a file of `HUB_HOME`.
package struct ProviderKeys: Sendable {
    private let file: OriginFile<AccessToken>
    package var path: String { file.path }

    package init(_ environment: HubEnvironment) {
        file = OriginFile(
            path: Path.join(environment.stateDirectory, "provider-keys.json"), member: "keys", what: "key",
            advice: "correct the file or move it away, and give the keys again",
            decode: { $0.string.flatMap { AccessToken($0) } }, encode: { .string($0.secret) })
    }

    /// The keys, by origin.
    ///
    /// - Throws: ``ErrorCode/ioError`` for a damaged file, which is not overwritten.
    package func all() throws(AIError) -> [String: AccessToken] { try file.all() }

    /// The key of a server.
    package func key(of origin: Origin) throws(AIError) -> AccessToken? { try all()[origin.description] }

    /// Keeps the key of a server in place of an earlier one; nil forgets it.
    ///
    /// - Returns: the earlier one.
    @discardableResult
    package func set(_ key: AccessToken?, of origin: Origin) async throws -> AccessToken? {
        try await file.set(key, of: origin)
    }
}
