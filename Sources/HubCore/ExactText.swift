/// A text that equals another only byte for byte.
///
/// Swift's own `==` takes a composed letter and its decomposed form for the same text. Names of files, keys of JSON and
/// tags are bytes: two that differ only by normalisation are two. As an element of a set or a key, use this.
package struct ExactText: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) {
        var text = text
        text.makeContiguousUTF8()
        self.text = text
    }

    package var description: String { text }

    package static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.count == right.text.utf8.count && left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        // Never nil: the bytes were made contiguous above.
        _ = text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
