package import HubCore

/// Draws JSON Schemas of everything that the library understands but formats.
package struct RandomSchema {
    private var random: SeededRandom
    private static let patterns = [
        "^[a-c]{1,3}$", "x", "^(ab|cd)*$", "[0-9]+$", "^\\\\w{2,4}-\\\\d", "^[^a-z]?é$", "a.c", "^$", "(^a|b$)",
    ].map { $0.replacing("\\\\", with: "\\") }
    private static let names = ["a", "b", "name", "x y", "ö", "q\"t", "tab\t", "ab"]

    package init(number: Int) { random = SeededRandom(number: number) }

    /// A schema with definitions that may refer to themselves.
    package mutating func next() -> JSON {
        var schema = self.schema(3).object ?? JSONObject()
        // A tree that can end.
        schema["$defs"] = .object([
            "tree": .object([
                "type": "object", "required": .array(["value"]), "additionalProperties": false,
                "properties": .object([
                    "value": self.schema(0),
                    "next": .object([
                        "anyOf": .array([.object(["type": "null"]), .object(["$ref": "#/$defs/tree"])])
                    ]),
                ]),
            ]),
            "leaf": self.schema(0),
        ])
        return .object(schema)
    }

    private mutating func draw(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    private mutating func one(in count: UInt64) -> Bool { random.one(in: count) }
    private mutating func name() -> String { Self.names[draw(Self.names.count)] }

    private mutating func schema(_ depth: Int) -> JSON {
        switch draw(depth > 0 ? 15 : 6) {
        case 0: return string()
        case 1, 2: return number()
        case 3: return .object(["type": one(in: 2) ? "boolean" : "null"])
        case 4: return .object(["enum": .array((0...draw(3)).map { _ in constant() })])
        case 5: return .object(["const": constant()])
        case 6, 7: return object(depth)
        case 8: return array(depth)
        case 9:
            let parts = (0...draw(2)).map { _ in schema(depth - 1) }
            return .object([
                "anyOf": .array(parts), "type": one(in: 4) ? .array(["string", "integer", "object"]) : nil,
            ])
        case 10: return .object(["$ref": one(in: 2) ? "#/$defs/tree" : "#/$defs/leaf"])
        case 11: return oneOf(depth)
        case 12:
            var keywords = schema(depth - 1).object ?? JSONObject()
            keywords["allOf"] = .array((0...draw(2)).map { _ in one(in: 2) ? object(depth - 1) : schema(0) })
            return .object(keywords)
        case 13: return tuple(depth)
        default:
            var keywords = (one(in: 2) ? string() : number()).object ?? JSONObject()
            keywords["nullable"] = .bool(!one(in: 4))
            return .object(keywords)
        }
    }

    /// Branches that are told apart by their types, by a property's constant, by what they require, or not at all.
    private mutating func oneOf(_ depth: Int) -> JSON {
        let tag = name()
        let parts = (0...draw(2)).map { number -> JSON in
            switch draw(4) {
            case 0: return schema(depth - 1)
            case 1: return .object(["const": constant()])
            default:
                var keywords = object(depth - 1).object ?? JSONObject()
                var properties = keywords["properties"]?.object ?? JSONObject()
                properties[tag] = .object(["const": .int(Int64(number))])
                keywords["properties"] = .object(properties)
                if one(in: 2) { keywords["required"] = .array([.string(tag)]) }
                return .object(keywords)
            }
        }
        return .object(["oneOf": .array(parts)])
    }

    private mutating func tuple(_ depth: Int) -> JSON {
        let parts = JSON.array((0...draw(2)).map { _ in schema(depth - 1) })
        let rest: JSON = one(in: 3) ? true : one(in: 2) ? false : schema(0)
        let low = draw(4)
        var keywords: JSONObject = ["type": "array", "minItems": one(in: 2) ? .int(Int64(low)) : nil]
        if one(in: 3) { keywords["maxItems"] = .int(Int64(low + draw(3))) }
        if one(in: 2) {
            keywords["prefixItems"] = parts
            keywords["items"] = rest
        } else {
            keywords["items"] = parts
            keywords["additionalItems"] = rest
        }
        return .object(keywords)
    }

    private mutating func string() -> JSON {
        var keywords: JSONObject = ["type": "string"]
        let low = draw(4)
        if one(in: 3) { keywords["pattern"] = .string(Self.patterns[draw(Self.patterns.count)]) }
        if one(in: 2) { keywords["minLength"] = .int(Int64(low)) }
        if one(in: 2) { keywords["maxLength"] = .int(Int64(low + draw(12))) }
        return .object(keywords)
    }

    private mutating func number() -> JSON {
        var keywords: JSONObject = ["type": one(in: 2) ? "integer" : "number"]
        let bounds = [-1000.5, -12, -0.25, 0, 0.1, 1, 3.75, 99, 100, 12345.678]
        let low = draw(bounds.count - 1)
        func written(_ number: Double) -> JSON {
            number == number.rounded() ? .int(Int64(number)) : .double(number)
        }
        if one(in: 2) { keywords[one(in: 2) ? "minimum" : "exclusiveMinimum"] = written(bounds[low]) }
        if one(in: 2) {
            let high = low + 1 + draw(bounds.count - low - 1)
            keywords[one(in: 2) ? "maximum" : "exclusiveMaximum"] = written(bounds[high])
        }
        return .object(keywords)
    }

    private mutating func constant() -> JSON {
        switch draw(6) {
        case 0: .string(name())
        case 1: .int(Int64(draw(2000)) - 1000)
        case 2: .double(Double(draw(1000)) / 8)
        case 3: .null
        case 4: .array([.int(1), .string("\u{1}\u{7F}")])
        default: .object(["k": .bool(true)])
        }
    }

    private mutating func object(_ depth: Int) -> JSON {
        var properties = JSONObject()
        for _ in 0..<draw(4) { properties[name()] = schema(depth - 1) }
        var keywords: JSONObject = ["type": "object", "properties": .object(properties)]
        let required = properties.keys.filter { _ in one(in: 2) }
        if !required.isEmpty { keywords["required"] = .array(required.map { .string($0) }) }
        switch draw(4) {
        case 0: keywords["additionalProperties"] = false
        case 1: keywords["additionalProperties"] = schema(0)
        case 2:
            keywords["additionalProperties"] = schema(0)
            keywords["propertyNames"] =
                one(in: 2)
                ? .object(["enum": .array((0...draw(4)).map { _ in .string(name()) })])
                : .object(["pattern": .string(Self.patterns[draw(Self.patterns.count)])])
        default: break
        }
        return .object(keywords)
    }

    private mutating func array(_ depth: Int) -> JSON {
        let low = draw(3)
        return .object([
            "type": "array", "items": schema(depth - 1), "minItems": one(in: 2) ? .int(Int64(low)) : nil,
            "maxItems": one(in: 2) ? .int(Int64(low + draw(4))) : nil, "uniqueItems": one(in: 3) ? true : nil,
        ])
    }
}
