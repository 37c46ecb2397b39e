import CSimdJSON

/// A JSON document gone through front to back, where most of it is not wanted: nothing becomes a value that is not asked
/// for. See ``JSON`` for documents as values.
package struct JSONCursor {
    private let nodes: UnsafeBufferPointer<hub_json_node>
    private var at: Int

    /// How much room behind a document spares its being copied (`SIMDJSON_PADDING`), in bytes.
    static let padding = 64

    /// Bytes of a string, which live as long as the document.
    package typealias Text = UnsafeBufferPointer<UInt8>

    /// Parses a document and hands over a cursor at its one value, to be used only inside of `body`.
    ///
    /// - Throws: ``JSONError``, and what `body` throws.
    package static func read<Value>(_ bytes: [UInt8], _ body: (inout JSONCursor) throws -> Value) throws -> Value {
        try bytes.withUnsafeBytes { buffer in
            var reason: UnsafePointer<CChar>?
            guard let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
                let document = hub_json_parse(base, buffer.count, bytes.capacity - bytes.count >= padding, &reason)
            else { throw JSONError(reason: reason.map { String(cString: $0) } ?? "the document is empty") }
            defer { hub_json_free(document) }
            var count = 0
            let nodes = hub_json_nodes(document, &count)
            var cursor = JSONCursor(nodes: UnsafeBufferPointer(start: nodes, count: count), at: 0)
            return try body(&cursor)
        }
    }

    /// The whole number here, if it is one.
    package var int: Int64? { nodes[at].type == HUB_JSON_INT ? nodes[at].value.integer : nil }
    /// The number here, whole or not, if it is one.
    package var double: Double? {
        switch nodes[at].type {
        case HUB_JSON_INT: Double(nodes[at].value.integer)
        case HUB_JSON_UINT: Double(nodes[at].value.unsigned_integer)
        case HUB_JSON_DOUBLE: nodes[at].value.number
        default: nil
        }
    }
    /// The value here, with all that is in it.
    package var json: JSON {
        var reader = NodeReader(nodes: nodes, at: at)
        return reader.value()
    }
    /// How many members or elements the object or array here has, 0 for anything else.
    package var count: Int {
        let type = nodes[at].type
        return type == HUB_JSON_ARRAY || type == HUB_JSON_OBJECT ? Int(nodes[at].count) : 0
    }
    /// The string here, if it is one.
    package var text: Text? { nodes[at].type == HUB_JSON_STRING ? text(at) : nil }
    /// Whether here is `null`.
    package var isNull: Bool { nodes[at].type == HUB_JSON_NULL }

    private func text(_ index: Int) -> Text {
        let node = nodes[index]
        return Text(
            start: UnsafeRawPointer(node.value.string)?.assumingMemoryBound(to: UInt8.self), count: Int(node.count))
    }

    /// Hands over each member of the object here, the cursor at its value, until `body` returns false; false then, and
    /// where no object is here.
    package func members(_ body: (Text, JSONCursor) -> Bool) -> Bool {
        guard nodes[at].type == HUB_JSON_OBJECT else { return false }
        var next = at + 1
        for _ in 0..<nodes[at].count {
            let value = next + 1
            guard body(text(next), JSONCursor(nodes: nodes, at: value)) else { return false }
            next = end(of: value)
        }
        return true
    }

    /// The two strings of the array here, if it is one of just two.
    package var textPair: (Text, Text)? {
        guard nodes[at].type == HUB_JSON_ARRAY, nodes[at].count == 2, nodes[at + 1].type == HUB_JSON_STRING,
            nodes[at + 2].type == HUB_JSON_STRING
        else { return nil }
        return (text(at + 1), text(at + 2))
    }

    /// Hands over each element of the array here until `body` returns false; false then, and where no array is here.
    package func elements(_ body: (JSONCursor) -> Bool) -> Bool {
        guard nodes[at].type == HUB_JSON_ARRAY else { return false }
        var next = at + 1
        for _ in 0..<nodes[at].count {
            guard body(JSONCursor(nodes: nodes, at: next)) else { return false }
            next = end(of: next)
        }
        return true
    }

    /// The node after a value.
    private func end(of value: Int) -> Int {
        var next = value
        // How many values are still to be passed over; a member's name is one.
        var open = 1
        while open > 0 {
            switch nodes[next].type {
            case HUB_JSON_ARRAY: open += Int(nodes[next].count)
            case HUB_JSON_OBJECT: open += 2 * Int(nodes[next].count)
            default: break
            }
            open -= 1
            next += 1
        }
        return next
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether these bytes are those of a text.
    package func equals(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount
            && elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
