/// Reads a JSON list as its bytes arrive, so that only a few of its elements are in memory at once.
///
/// The bytes are split at commas between elements into small documents, lists of whole elements, which the caller
/// parses with ``JSON`` or ``JSONCursor``.
package struct JSONListReader {
    /// Why the bytes are not such a list.
    package enum Fault: Error, Sendable, Hashable {
        /// The text does not start with a list; its first byte.
        case notAList(UInt8)
        /// The text is not JSON.
        case malformed(String)
        /// One element has more bytes than allowed.
        case elementTooLarge
    }

    private enum Place { case before, inside, behind }

    private let mostElementBytes: Int
    private let batchBytes: Int
    private var place = Place.before
    /// The list's bracket and the bytes not passed on yet.
    private var pending: [UInt8] = []
    /// The offset in ``pending`` of the last comma between two elements; 0 if there is none.
    private var cut = 0
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// Whether the last split was at a comma, so that an element must follow.
    private var owesElement = false

    /// - Parameters:
    ///   - mostElementBytes: a larger element is an error.
    ///   - batchBytes: the number of bytes gathered before they are passed on.
    package init(mostElementBytes: Int = 2 << 20, batchBytes: Int = 256 << 10) {
        self.mostElementBytes = mostElementBytes
        self.batchBytes = batchBytes
    }

    /// Takes the next bytes.
    ///
    /// - Parameter body: gets a document that is a list of whole elements.
    /// - Throws: ``Fault``, and what `body` throws.
    package mutating func take(_ bytes: UnsafeRawBufferPointer, _ body: ([UInt8]) throws -> Void) throws {
        var start = 0
        var at = 0
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch place {
            case .inside: break
            case .before:
                if Self.isSpace(byte) { continue }
                guard byte == UInt8(ascii: "[") else { throw Fault.notAList(byte) }
                (place, depth, start) = (.inside, 1, at)
                pending = [byte]
                continue
            case .behind:
                guard Self.isSpace(byte) else { throw Fault.malformed("something follows the list") }
                continue
            }
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                guard depth == 0 else { continue }
                pending += bytes[start..<at]
                place = .behind
                try end(body)
            case UInt8(ascii: ",") where depth == 1:
                pending += bytes[start..<at]
                start = at
                try checkElement()
                cut = pending.count - 1
                if cut >= batchBytes { try handOver(body) }
            default: break
            }
        }
        if place == .inside {
            pending += bytes[start...]
            try checkElement()
        }
    }

    /// Call after all bytes.
    package func finish() throws(Fault) {
        switch place {
        case .before: throw .malformed("the document is empty")
        case .inside: throw .malformed("the list has no end")
        case .behind: break
        }
    }

    private func checkElement() throws(Fault) {
        if pending.count - cut > mostElementBytes { throw Fault.elementTooLarge }
    }

    /// Passes on the elements before the last comma.
    private mutating func handOver(_ body: ([UInt8]) throws -> Void) throws {
        let rest = Array(pending[(cut + 1)...])
        pending.removeSubrange(cut...)
        pending.append(UInt8(ascii: "]"))
        guard pending.dropFirst().dropLast().contains(where: { !Self.isSpace($0) }) else { throw Self.noElement }
        try body(pending)
        pending.removeAll(keepingCapacity: true)
        pending.append(UInt8(ascii: "["))
        pending += rest
        (cut, owesElement) = (0, true)
    }

    private mutating func end(_ body: ([UInt8]) throws -> Void) throws {
        try checkElement()
        if owesElement, !pending.dropFirst().dropLast().contains(where: { !Self.isSpace($0) }) {
            throw Self.noElement
        }
        try body(pending)
        pending = []
    }

    private static let noElement = Fault.malformed("an element is missing")

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            || byte == UInt8(ascii: "\t")
    }
}
