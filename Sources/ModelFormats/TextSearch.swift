#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension String {
    /// Whether the bytes of another text occur in this one. `contains` builds a table for each search, which takes a hundred
    /// times as long for texts as short as a tensor's name.
    package func holds(_ other: String) -> Bool {
        withCString { text in other.withCString { strstr(text, $0) != nil } }
    }
}
