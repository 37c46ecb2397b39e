package import HubCore

/// A JSON Schema validator in the simplest form, which shares no code with the library: for schemas without formats, in
/// the words of draft 2020-12 and of draft 7.
package struct PlainValidator {
    private let root: JSON

    package init(_ root: JSON) { self.root = root }

    package func isValid(_ value: JSON) -> Bool { holds(value, root) }

    private func holds(_ value: JSON, _ schema: JSON) -> Bool {
        if let bool = schema.bool { return bool }
        guard let keywords = schema.object else { return false }
        return keywords.members.allSatisfy { holds(value, $0.key, $0.value, keywords) }
    }

    private func holds(_ value: JSON, _ keyword: String, _ wanted: JSON, _ schema: JSONObject) -> Bool {
        switch keyword {
        case "$ref": return holds(value, target(wanted.string ?? ""))
        case "anyOf": return (wanted.array ?? []).contains { holds(value, $0) }
        case "oneOf": return (wanted.array ?? []).filter { holds(value, $0) }.count == 1
        case "allOf": return (wanted.array ?? []).allSatisfy { holds(value, $0) }
        case "type":
            return (wanted.array ?? [wanted]).contains { has(value, $0.string ?? "") }
                || schema["nullable"]?.bool == true && value.isNull
        case "enum": return (wanted.array ?? []).contains { same($0, value) }
        case "const": return same(wanted, value)
        case "minimum": return value.double.map { $0 >= wanted.double! } ?? true
        case "maximum": return value.double.map { $0 <= wanted.double! } ?? true
        case "exclusiveMinimum": return value.double.map { $0 > wanted.double! } ?? true
        case "exclusiveMaximum": return value.double.map { $0 < wanted.double! } ?? true
        case "minLength": return value.string.map { $0.unicodeScalars.count >= wanted.int! } ?? true
        case "maxLength": return value.string.map { $0.unicodeScalars.count <= wanted.int! } ?? true
        case "minItems": return value.array.map { $0.count >= wanted.int! } ?? true
        case "maxItems": return value.array.map { $0.count <= wanted.int! } ?? true
        case "pattern":
            // Swift's own regular expressions are another implementation.
            guard let text = value.string else { return true }
            guard let pattern = try? Regex(wanted.string!).matchingSemantics(.unicodeScalar) else { return false }
            return text.firstMatch(of: pattern) != nil
        case "prefixItems":
            return zip(value.array ?? [], wanted.array ?? []).allSatisfy { holds($0, $1) }
        case "items":
            if let list = wanted.array { return zip(value.array ?? [], list).allSatisfy { holds($0, $1) } }
            return (value.array ?? []).dropFirst(schema["prefixItems"]?.array?.count ?? 0)
                .allSatisfy { holds($0, wanted) }
        case "additionalItems":
            guard let list = schema["items"]?.array else { return true }
            return (value.array ?? []).dropFirst(list.count).allSatisfy { holds($0, wanted) }
        case "uniqueItems":
            guard wanted.bool == true, let elements = value.array else { return true }
            return elements.indices.allSatisfy { one in
                elements.indices.allSatisfy { $0 <= one || !same(elements[$0], elements[one]) }
            }
        case "required":
            guard let object = value.object else { return true }
            return (wanted.array ?? []).allSatisfy { object[$0.string!] != nil }
        case "properties":
            guard let object = value.object else { return true }
            return wanted.object!.members.allSatisfy { name, part in object[name].map { holds($0, part) } ?? true }
        case "propertyNames":
            return value.object?.members.allSatisfy { holds(.string($0.key), wanted) } ?? true
        case "additionalProperties":
            guard let object = value.object else { return true }
            let known = schema["properties"]?.object
            return object.members.allSatisfy { known?[$0.key] != nil || holds($0.value, wanted) }
        default: return true
        }
    }

    private func target(_ reference: String) -> JSON {
        reference.split(separator: "/").dropFirst().reduce(root) { part, key in
            part.object?[String(key)] ?? part.array?[Int(key) ?? 0] ?? .bool(false)
        }
    }

    private func has(_ value: JSON, _ type: String) -> Bool {
        switch value {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .string: type == "string"
        case .array: type == "array"
        case .object: type == "object"
        case .int, .longNumber: type == "number" || type == "integer"
        case .double(let number): type == "number" || type == "integer" && number.rounded() == number
        }
    }

    private func same(_ left: JSON, _ right: JSON) -> Bool {
        if let first = left.double, let second = right.double { return first == second }
        switch (left, right) {
        case (.array(let first), .array(let second)):
            return first.count == second.count && zip(first, second).allSatisfy { same($0, $1) }
        case (.object(let first), .object(let second)):
            return first.count == second.count
                && first.members.allSatisfy { name, value in second[name].map { same(value, $0) } ?? false }
        default: return left == right
        }
    }
}
