extension String {
    /// The range of the first occurrence, byte for byte.
    package func range(of needle: String) -> Range<String.Index>? {
        guard !needle.isEmpty else { return nil }
        var at = startIndex
        while at < endIndex {
            if self[at...].utf8.starts(with: needle.utf8) {
                return at..<utf8.index(at, offsetBy: needle.utf8.count)
            }
            at = utf8.index(after: at)
        }
        return nil
    }
}

extension StringProtocol {
    /// The text after `prefix`; nil without that prefix.
    package func dropping(prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }

    /// Without white space around.
    package var trimmed: String {
        var text = self[...]
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
