#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The environment variables. One that is set but empty counts as not set.
struct Environment: Sendable {
    private let variables: [String: String]?

    /// Those of this process.
    static let process = Environment(variables: nil)

    private init(variables: [String: String]?) { self.variables = variables }
    /// Those given, for tests.
    init(_ variables: [String: String]) { self.variables = variables }

    /// The value of a variable.
    subscript(_ name: String) -> String? {
        let value = variables.map { $0[name] } ?? getenv(name).map { String(cString: $0) }
        return value == "" ? nil : value
    }

    /// Whether a variable says yes, by the words that the Hub's Python client takes for it; nil where it is not set.
    func flag(_ name: String) -> Bool? {
        self[name].map { ["1", "ON", "YES", "TRUE"].contains($0.uppercased()) }
    }

    /// Whether the locale can be expected to show more than ASCII. One that names no character set is taken for
    /// UTF-8, except the C locale when someone asked for it.
    var isUnicode: Bool {
        guard let locale = self["LC_ALL"] ?? self["LC_CTYPE"] ?? self["LANG"] else { return true }
        let name = locale.uppercased()
        if name == "C" || name == "POSIX" { return false }
        guard let dot = name.firstIndex(of: ".") else { return true }
        return name[dot...].hasPrefix(".UTF-8") || name[dot...].hasPrefix(".UTF8")
    }
}
