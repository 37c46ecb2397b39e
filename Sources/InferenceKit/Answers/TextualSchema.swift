import HubCore

/// Tells whether a value of a tool's schema may be a text, where the form of a call does not.
struct TextualSchema {
    /// What references lead into.
    let root: JSON

    /// References may lead back to where they came from.
    private static let deepest = 32

    /// - Returns: true, too, for a schema that says nothing.
    func allowsText(_ schema: JSON, depth: Int = 0) -> Bool {
        guard depth < Self.deepest, schema.object != nil else { return true }
        if let type = schema["type"] {
            let types = type.string.map { [$0] } ?? (type.array ?? []).compactMap(\.string)
            if !types.isEmpty, !types.contains("string") { return false }
        }
        if let value = schema["const"], value.string == nil { return false }
        if let values = schema["enum"]?.array, !values.contains(where: { $0.string != nil }) { return false }
        if let path = schema["$ref"]?.string, let target = target(path), !allowsText(target, depth: depth + 1) {
            return false
        }
        for key in ["anyOf", "oneOf"] {
            if let parts = schema[key]?.array, !parts.contains(where: { allowsText($0, depth: depth + 1) }) {
                return false
            }
        }
        return (schema["allOf"]?.array ?? []).allSatisfy { allowsText($0, depth: depth + 1) }
    }

    /// What `#/$defs/name` leads to; nil for nothing.
    private func target(_ path: String) -> JSON? {
        guard path.first == "#" else { return nil }
        var found: JSON? = root
        for part in path.dropFirst().split(separator: "/") {
            found = found?[String(part).replacing("~1", with: "/").replacing("~0", with: "~")]
        }
        return found
    }
}
