import HubCore

/// The values of the variables for proxies, as Python reads them.
enum ProxySettings {
    /// A proxy's address as libcurl takes it: only the last `@` before the host ends a password, and the others are encoded.
    static func address(_ text: String) -> String {
        let start = text.range(of: "://")?.upperBound ?? text.startIndex
        let end = text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        guard let at = text[start..<end].lastIndex(of: "@") else { return text }
        return text[..<start]
            + text[start..<at].split(separator: "@", omittingEmptySubsequences: false).joined(
                separator: "%40") + text[at...]
    }

    /// Whether a list of hosts that need no proxy names an address: by its host, by a domain above it, with or without a dot
    /// or `*.` before, a port or a scheme. `*` is every host. Networks such as `10.0.0.0/8` are left to libcurl.
    static func isExempt(_ origin: Origin, by list: String) -> Bool {
        list.lowercased().split { $0 == "," || $0.isWhitespace }.contains { matches(origin, String($0)) }
    }

    private static func matches(_ origin: Origin, _ entry: String) -> Bool {
        if entry == "*" { return true }
        var host = entry[...]
        if let scheme = entry.range(of: "://") {
            guard ["all", origin.scheme].contains(String(entry[..<scheme.lowerBound])) else { return false }
            host = entry[scheme.upperBound...]
        }
        let port = host.lastIndex(of: ":").map { host[host.index(after: $0)...] }
        // Of IPv6 addresses only one in brackets can have a port.
        if let port, host.filter({ $0 == ":" }).count == 1 || host.contains("]:") {
            guard Int(port) == origin.port else { return false }
            host = host.dropLast(port.count + 1)
        }
        if host.hasPrefix("*.") { host = host.dropFirst() }
        if host.hasPrefix("[") { host = host.dropFirst().dropLast() }
        let name = host.drop { $0 == "." }
        return !name.isEmpty && (origin.host == name || origin.host.hasSuffix(".\(name)"))
    }
}
