package import HubCore

extension RegistryEntry {
    /// The entry as `hub registry export` writes it; unknown fields are absent.
    package var json: JSONObject {
        [
            "alias": .string(alias), "id": .string(repository.name),
            "provider": provider == .huggingFace ? nil : .string(provider.rawValue), "name": .string(name),
            "description": description.map { .string($0) }, "size": size.map { .string($0.rawValue) },
            "context_length": contextLength.map { .int(Int64($0)) },
            "capabilities": capabilities.isEmpty
                ? nil : .array(orderedCapabilities.map { .string($0.rawValue) }),
            "parameters": parameters.map { .int($0) }, "quantization": quantization.map { .string($0) },
            "architecture": architecture.map { .string($0) }, "format": format.map { .string($0.rawValue) },
            "memory_bytes": memory.map { .int($0.bytes) }, "pick": isPick ? .bool(true) : nil,
        ]
    }

    /// Reads an entry and checks all of it.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` naming the field and the fault.
    package init(_ json: JSON) throws(AIError) {
        guard let object = json.object else { throw AIError(.invalidInput, "it is not an object") }
        let fields = RegistryFields(object)
        try fields.checkKeys()
        let repository = try fields.read("id") { text throws(AIError) in try RepositoryID(text) }
        guard let repository else { throw AIError(.invalidInput, "\"id\" is missing") }
        guard let alias = try fields.text("alias", limit: .max) else {
            throw AIError(.invalidInput, "\"alias\" is missing")
        }
        try self.init(alias: alias, repository: repository)
        provider =
            try fields.choice("provider", ModelIdentifier.Provider.allCases.filter { $0 != .local }) ?? .huggingFace
        name = try fields.text("name", limit: Limit.name) ?? name
        description = try fields.text("description", limit: Limit.description)
        size = try fields.choice("size", ModelSize.allCases)
        contextLength = try fields.count("context_length").map { Int($0) }
        capabilities = try fields.choices("capabilities", ModelCapability.allCases)
        parameters = try fields.count("parameters")
        quantization = try fields.text("quantization", limit: Limit.quantization)
        architecture = try fields.text("architecture", limit: Limit.architecture)
        format = try fields.choice("format", Format.allCases)
        memory = try fields.count("memory_bytes").map { ByteCount($0) }
        isPick = try fields.flag("pick")
    }
}

/// The members of an entry's object, read with errors that name them.
private struct RegistryFields {
    private static let known = [
        "alias", "id", "provider", "name", "description", "size", "context_length", "capabilities", "parameters",
        "quantization", "architecture", "format", "memory_bytes", "pick",
    ]
    private let object: JSONObject

    init(_ object: JSONObject) { self.object = object }

    /// An unknown field is usually a typo.
    func checkKeys() throws(AIError) {
        if let unknown = object.keys.first(where: { !Self.known.contains($0) }) {
            throw AIError(
                .invalidInput, "unknown field \"\(unknown.prefix(80).description.printable)\"",
                advice: "the fields are \(Self.known.joined(separator: ", "))")
        }
        guard !object.hasDuplicateKeys else { throw AIError(.invalidInput, "a field occurs twice") }
    }

    func fault(_ key: String, _ what: String, advice: String? = nil) -> AIError {
        AIError(.invalidInput, "\"\(key)\": \(what)", advice: advice)
    }

    private func string(_ key: String) throws(AIError) -> String? {
        guard let value = object[key] else { return nil }
        guard let text = value.string else { throw fault(key, "it is not a string") }
        return text
    }

    func read<Value>(_ key: String, _ read: (String) throws(AIError) -> Value) throws(AIError) -> Value? {
        guard let text = try string(key) else { return nil }
        do throws(AIError) { return try read(text) } catch { throw fault(key, error.message) }
    }

    func text(_ key: String, limit: Int) throws(AIError) -> String? {
        try read(key) { text throws(AIError) in
            if limit != .max { try RegistryEntry.checkLine(text, limit: limit) }
            return text
        }
    }

    func count(_ key: String) throws(AIError) -> Int64? {
        guard let value = object[key] else { return nil }
        guard let number = value.int, number > 0 else { throw fault(key, "it is not a whole number above 0") }
        return number
    }

    func flag(_ key: String) throws(AIError) -> Bool {
        guard let value = object[key] else { return false }
        guard let flag = value.bool else { throw fault(key, "it is neither true nor false") }
        return flag
    }

    func choice<Value: RawRepresentable>(_ key: String, _ values: [Value]) throws(AIError) -> Value?
    where Value.RawValue == String {
        guard let text = try string(key) else { return nil }
        return try value(text, key, values)
    }

    func choices<Value: RawRepresentable & Hashable>(_ key: String, _ values: [Value]) throws(AIError) -> Set<Value>
    where Value.RawValue == String {
        guard let list = object[key] else { return [] }
        guard let elements = list.array else { throw fault(key, "it is not a list") }
        var out: Set<Value> = []
        for element in elements {
            guard let text = element.string else { throw fault(key, "it holds something else than strings") }
            guard out.insert(try value(text, key, values)).inserted else {
                throw fault(key, "\"\(text)\" occurs twice")
            }
        }
        return out
    }

    private func value<Value: RawRepresentable>(_ text: String, _ key: String, _ values: [Value]) throws(AIError)
        -> Value
    where Value.RawValue == String {
        guard let value = values.first(where: { $0.rawValue == text }) else {
            throw fault(
                key, "\"\(text.prefix(80).description.printable)\" is not one of its values",
                advice: "it takes \(values.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }
}
