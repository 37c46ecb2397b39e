import Libc

extension String {
    /// Whether the bytes of another text occur in this one. `contains` builds a table per search, which is a hundred
    /// times slower for texts as short as tensor names.
    package func holds(_ other: String) -> Bool {
        withCString { text in other.withCString { strstr(text, $0) != nil } }
    }
}
