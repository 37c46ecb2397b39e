import CSimdJSON

/// A document that simdjson has parsed, freed with this.
final class JSONDocument {
    private let document: OpaquePointer

    /// Parses UTF-8; the bytes are not needed afterwards.
    ///
    /// - Parameter isPadded: Whether ``JSONCursor/padding`` bytes behind them may be read, else they are copied.
    /// - Throws: ``JSONError`` with simdjson's reason.
    init(_ bytes: UnsafeRawBufferPointer, isPadded: Bool = false) throws(JSONError) {
        var reason: UnsafePointer<CChar>?
        guard let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
            let document = hub_json_parse(base, bytes.count, isPadded, &reason)
        else { throw JSONError(reason: reason.map { String(cString: $0) } ?? "the document is empty") }
        self.document = document
    }

    deinit { hub_json_free(document) }

    var tape: JSONTape { JSONTape(document) }
    /// A cursor at the root, valid while this object lives.
    var root: JSONCursor { JSONCursor(tape) }
}
