package import HubCore

/// The keys of servers that speak OpenAI's protocol, by origin: a file of `HUB_HOME` for its owner alone.
package struct ProviderKeys: Sendable {
    package let path: String

    package init(_ environment: HubEnvironment) {
        path = Path.join(environment.stateDirectory, "provider-keys.json")
    }

    /// The keys, by origin.
    ///
    /// - Throws: ``ErrorCode/ioError`` for a damaged file, which is not overwritten.
    package func all() throws(AIError) -> [String: AccessToken] {
        guard let bytes = try FileSystem.contents(path, limit: 1 << 20) else { return [:] }
        guard let json = try? JSON.parse(bytes), let entries = json["keys"]?.object else {
            throw damage("it is not hub's JSON")
        }
        var keys: [String: AccessToken] = [:]
        for (origin, value) in entries.members {
            guard let key = value.string.flatMap({ AccessToken($0) }) else {
                throw damage("the key of \(origin.printable) is not one")
            }
            keys[origin] = key
        }
        return keys
    }

    private func damage(_ reason: String) -> AIError {
        AIError(
            .ioError, "the keys in \(path) cannot be read: \(reason)",
            advice: "correct the file or move it away, and give the keys again", context: .init(path: path))
    }

    /// The key of a server.
    package func key(of origin: Origin) throws(AIError) -> AccessToken? { try all()[origin.description] }

    /// Keeps the key of a server in place of an earlier one; nil forgets it.
    ///
    /// - Returns: the earlier one.
    @discardableResult
    package func set(_ key: AccessToken?, of origin: Origin) async throws -> AccessToken? {
        guard try key != nil || FileSystem.status(path) != nil else { return nil }
        return try await LockWait.with(path + ".lock") {
            try await Blocking.run {
                var keys = try all()
                let earlier = keys[origin.description]
                guard key != nil || earlier != nil else { return nil }
                keys[origin.description] = key
                guard !keys.isEmpty else {
                    try FileSystem.remove(path)
                    return earlier
                }
                let entries = keys.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value.secret)) }
                let text = JSON.object(["keys": .object(JSONObject(entries))]).text(.pretty)
                try TokenFile.replace(path, with: text + "\n")
                return earlier
            }
        }
    }
}
