import HubCore

/// A small file of `HUB_HOME` for its owner alone: one value for each origin.
struct OriginFile<Value: Sendable>: Sendable {
    let path: String
    /// The member of the JSON document that has the values.
    let member: String
    /// What a value is, for errors.
    let what: String
    let advice: String
    /// nil for what is not such a value.
    let decode: @Sendable (JSON) -> Value?
    let encode: @Sendable (Value) -> JSON

    /// The values, by origin.
    ///
    /// - Throws: ``ErrorCode/ioError`` for a damaged file, which is not overwritten.
    func all() throws(AIError) -> [String: Value] {
        guard let bytes = try FileSystem.contents(path, limit: 1 << 20) else { return [:] }
        guard let entries = (try? JSON.parse(bytes))?[member]?.object else { throw damage("it is not hub's JSON") }
        var values: [String: Value] = [:]
        for (origin, json) in entries.members {
            guard let value = decode(json) else { throw damage("the \(what) of \(origin.printable) is not one") }
            values[origin] = value
        }
        return values
    }

    private func damage(_ reason: String) -> AIError {
        AIError(.ioError, "\(path) cannot be read: \(reason)", advice: advice, context: .init(path: path))
    }

    /// Keeps a value in place of an earlier one; nil removes it.
    ///
    /// - Returns: the earlier one.
    func set(_ value: Value?, of origin: Origin) async throws -> Value? {
        guard try value != nil || FileSystem.status(path) != nil else { return nil }
        return try await LockWait.with(path + ".lock") {
            try await Blocking.run {
                var values = try all()
                let earlier = values[origin.description]
                guard value != nil || earlier != nil else { return nil }
                values[origin.description] = value
                guard !values.isEmpty else {
                    try FileSystem.remove(path)
                    return earlier
                }
                let entries = values.sorted { $0.key < $1.key }.map { ($0.key, encode($0.value)) }
                let text = JSON.object([member: .object(JSONObject(entries))]).text(.pretty)
                try TokenFile.replace(path, with: text + "\n")
                return earlier
            }
        }
    }
}
