import HubCore

extension HubEnvironment {
    /// Whether a variable says yes, by the words that the Hub's Python client takes for it; nil if it is not set.
    func flag(_ name: String) -> Bool? { self[name] == nil ? nil : isTrue(name) }

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
