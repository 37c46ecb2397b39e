import Libc

/// A text that equals another only byte for byte.
///
/// Swift's own `==` treats a composed letter and its decomposed form as equal. Names of files, keys of JSON and tags
/// are bytes: two that differ only by normalisation are two. As an element of a set or a key, use this.
package struct ExactText: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) {
        var text = text
        text.makeContiguousUTF8()
        self.text = text
    }

    package var description: String { text }

    package static func == (left: ExactText, right: ExactText) -> Bool {
        // Never nil: the bytes were made contiguous above.
        left.text.utf8.withContiguousStorageIfAvailable { one in
            right.text.utf8.withContiguousStorageIfAvailable { two in
                guard one.count == two.count, let first = one.baseAddress, let second = two.baseAddress else {
                    return one.count == two.count
                }
                return memcmp(first, second, one.count) == 0
            } ?? false
        } ?? false
    }

    package func hash(into hasher: inout Hasher) {
        // Never nil: the bytes were made contiguous above.
        _ = text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Whether the bytes of a text come before those of another.
    package static func precedes(_ left: String, _ right: String) -> Bool {
        let known = left.utf8.withContiguousStorageIfAvailable { one in
            right.utf8.withContiguousStorageIfAvailable { two in
                guard let first = one.baseAddress, let second = two.baseAddress else {
                    return one.count < two.count
                }
                let order = memcmp(first, second, min(one.count, two.count))
                return order == 0 ? one.count < two.count : order < 0
            }
        }
        return (known ?? nil) ?? left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}
