/// Through Swift's encoders and decoders. Numbers beyond 64 bits become doubles there, and objects may lose the order of
/// their members: it is the encoder's.
extension JSON: Codable {
    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads any value that JSON has.
    public init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: Key.self) {
            var members: [(key: String, value: JSON)] = []
            for key in object.allKeys {
                members.append((key.stringValue, try object.decode(JSON.self, forKey: key)))
            }
            self = .object(JSONObject(members))
        } else if var list = try? decoder.unkeyedContainer() {
            var elements: [JSON] = []
            while !list.isAtEnd { elements.append(try list.decode(JSON.self)) }
            self = .array(elements)
        } else {
            self = try Self.single(decoder.singleValueContainer())
        }
    }

    private static func single(_ value: any SingleValueDecodingContainer) throws -> JSON {
        if value.decodeNil() { return .null }
        if let bool = try? value.decode(Bool.self) { return .bool(bool) }
        if let int = try? value.decode(Int64.self) { return .int(int) }
        if let double = try? value.decode(Double.self) { return .double(double) }
        return .string(try value.decode(String.self))
    }

    /// Writes the value.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let elements):
            var list = encoder.unkeyedContainer()
            for element in elements { try list.encode(element) }
        case .object(let object):
            var members = encoder.container(keyedBy: Key.self)
            for member in object.members { try members.encode(member.value, forKey: Key(stringValue: member.key)) }
        default:
            var value = encoder.singleValueContainer()
            switch self {
            case .bool(let bool): try value.encode(bool)
            case .int(let int): try value.encode(int)
            case .double(let double): try value.encode(double)
            case .longNumber(let digits): try value.encode(Double(digits) ?? 0)
            case .string(let text): try value.encode(text)
            case .null, .array, .object: try value.encodeNil()
            }
        }
    }
}
