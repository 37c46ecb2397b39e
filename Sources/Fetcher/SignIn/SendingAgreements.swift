package import HubCore

/// Where people agreed, once for all, that texts are sent: the origins of routers to inference providers, in a file of
/// `HUB_HOME`.
package struct SendingAgreements: Sendable {
    package let path: String

    package init(_ environment: HubEnvironment) {
        path = Path.join(environment.stateDirectory, "agreements.json")
    }

    /// The times of agreements, in seconds since 1970, by origin.
    ///
    /// - Throws: ``ErrorCode/ioError`` for a damaged file: then nobody is known to have agreed.
    package func all() throws(AIError) -> [String: Double] {
        guard let bytes = try FileSystem.contents(path, limit: 1 << 20) else { return [:] }
        guard let entries = (try? JSON.parse(bytes))?["sending"]?.object else {
            throw AIError(
                .ioError, "\(path) cannot be read: it is not hub's JSON", advice: "delete it; hub then asks again",
                context: .init(path: path))
        }
        return Dictionary(
            entries.members.map { ($0.0, $0.1.double ?? 0) }, uniquingKeysWith: { first, _ in first })
    }

    /// When it was agreed that texts go there; nil if it was not.
    package func date(of origin: Origin) throws(AIError) -> Double? { try all()[origin.description] }

    /// Keeps an agreement; nil takes it back.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    package func set(_ date: Double?, of origin: Origin) async throws -> Bool {
        guard try date != nil || FileSystem.status(path) != nil else { return false }
        return try await LockWait.with(path + ".lock") {
            try await Blocking.run {
                var all = try all()
                let wasThere = all[origin.description] != nil
                guard date != nil || wasThere else { return false }
                all[origin.description] = date
                guard !all.isEmpty else {
                    try FileSystem.remove(path)
                    return wasThere
                }
                let entries = all.sorted { $0.key < $1.key }.map { ($0.key, JSON.double($0.value)) }
                let text = JSON.object(["sending": .object(JSONObject(entries))]).text(.pretty)
                try TokenFile.replace(path, with: text + "\n")
                return wasThere
            }
        }
    }
}
