extension JSONCursor {
    /// The rest of a document whose first part ends inside a list.
    package struct Rest {
        /// The list's key in its object.
        package let list: Text
        /// More elements of the list, as lists to read in order.
        package let elements: [JSONCursor]
        /// What follows the list in its object.
        package let members: [(key: Text, value: JSONCursor)]
        /// What follows that object in the document's.
        package let rootMembers: [(key: Text, value: JSONCursor)]
    }

    /// As ``read(_:_:)``, but parses a large document on two threads if its middle is in one of the lists `lists` of
    /// the member `object`: the cursor's document then ends inside that list, and the rest continues it.
    ///
    /// If `A]}}` and `{"":{"":[B` are documents, so is `A,B`, with the contents of both. So a comma between two
    /// elements can be guessed; after a wrong guess the whole is parsed. Brackets temporarily overwrite some of the
    /// bytes, which must not be shared, or all would be copied.
    package static func read<Value>(
        _ bytes: inout [UInt8], dividing object: StaticString, _ lists: [StaticString],
        _ body: (JSONCursor, Rest?) throws -> Value
    ) throws -> Value {
        if let cut = Cut(bytes), let parts = Parts(&bytes, cut) {
            defer { withExtendedLifetime(parts) {} }
            if let rest = Rest(parts, object, lists) { return try body(parts.head.root, rest) }
        }
        return try read(bytes) { try body($0, nil) }
    }
}

extension JSONCursor.Rest {
    /// Nil if the parts do not meet in that object, or the rest repeats its key or the list's.
    fileprivate init?(_ parts: Parts, _ object: StaticString, _ lists: [StaticString]) {
        guard let open = parts.head.root.lastMember, open.key.equals(object), let last = open.value.lastMember,
            lists.contains(where: { last.key.equals($0) })
        else { return nil }
        list = last.key
        var outer = parts.tail.root.allMembers
        var inner = outer.removeFirst().value.allMembers
        elements = [parts.between.root, inner.removeFirst().value]
        (members, rootMembers) = (inner, outer)
        guard !outer.contains(where: { $0.key.equals(object) }),
            !inner.contains(where: { $0.key.elementsEqual(last.key) })
        else { return nil }
    }
}

extension JSONCursor {
    fileprivate var allMembers: [(key: Text, value: JSONCursor)] {
        var all: [(key: Text, value: JSONCursor)] = []
        _ = members { key, value in
            all.append((key, value))
            return true
        }
        return all
    }

    fileprivate var lastMember: (key: Text, value: JSONCursor)? {
        var last: (key: Text, value: JSONCursor)?
        _ = members { key, value in
            last = (key, value)
            return true
        }
        return last
    }
}

/// Two commas far enough apart to write brackets between them.
private struct Cut {
    static let closing = Array("]}}".utf8)
    static let opening = Array(#"{"":{"":["#.utf8)
    /// Smaller documents are parsed faster than a thread is woken.
    static let smallest = 1 << 20

    let first: Int
    let second: Int

    /// Nil if the document is small or has no likely place.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.smallest, let first = Self.comma(in: bytes, from: bytes.count / 2),
            let second = Self.comma(
                in: bytes, from: first + Self.closing.count + JSONCursor.padding + Self.opening.count)
        else { return nil }
        (self.first, self.second) = (first, second)
    }

    /// The next comma that looks as if it stood between two lists, or else between two strings.
    private static func comma(in bytes: [UInt8], from start: Int) -> Int? {
        comma(in: bytes, from: start, between: UInt8(ascii: "]"), UInt8(ascii: "["))
            ?? comma(in: bytes, from: start, between: UInt8(ascii: "\""), UInt8(ascii: "\""))
    }

    private static func comma(
        in bytes: [UInt8], from start: Int, between first: UInt8, _ second: UInt8
    ) -> Int? {
        (start..<min(start + window, bytes.count)).first { at in
            guard bytes[at] == UInt8(ascii: ","), bytes[at - 1] == first, bytes[at - 2] != UInt8(ascii: "\\") else {
                return false
            }
            return bytes[(at + 1)...].first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") } == second
        }
    }

    /// The number of bytes to search for a comma.
    private static let window = 4096
}

/// The parts of a document, each a document of its own.
private struct Parts {
    let head: JSONDocument
    let between: JSONDocument
    let tail: JSONDocument

    /// Nil if one of them is invalid. The bytes are restored at the end.
    init?(_ bytes: inout [UInt8], _ cut: Cut) {
        let between = [UInt8(ascii: "[")] + bytes[(cut.first + 1)..<cut.second] + [UInt8(ascii: "]")]
        let end = cut.first + Cut.closing.count
        let start = cut.second + 1 - Cut.opening.count
        // A slice would share the bytes, so writing would copy them all.
        let written = Array(bytes[cut.first...cut.second])
        bytes.replaceSubrange(cut.first..<end, with: Cut.closing)
        bytes.replaceSubrange(start...cut.second, with: Cut.opening)
        let hasRoom = bytes.capacity - bytes.count >= JSONCursor.padding
        defer { bytes.replaceSubrange(cut.first...cut.second, with: written) }
        // Each is written by one thread and read when both have ended.
        nonisolated(unsafe) var parsedHead: JSONDocument?
        nonisolated(unsafe) var parsedTail: JSONDocument?
        bytes.withUnsafeBytes { bytes in
            nonisolated(unsafe) let bytes = bytes
            Parallel.perform(2) { part in
                if part == 0 {
                    parsedHead = try? JSONDocument(UnsafeRawBufferPointer(rebasing: bytes[..<end]), isPadded: true)
                } else {
                    parsedTail = try? JSONDocument(
                        UnsafeRawBufferPointer(rebasing: bytes[start...]), isPadded: hasRoom)
                }
            }
        }
        guard let head = parsedHead, let tail = parsedTail,
            let between = between.withUnsafeBytes({ try? JSONDocument($0) })
        else { return nil }
        (self.head, self.between, self.tail) = (head, between, tail)
    }
}
