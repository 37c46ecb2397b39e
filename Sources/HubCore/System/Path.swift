/// Paths as text: no file system is asked.
package enum Path {
    /// `base/name`; an absolute `name` stands for itself.
    package static func join(_ base: String, _ name: String) -> String {
        if name.hasPrefix("/") || base.isEmpty { return name }
        return base.hasSuffix("/") ? base + name : "\(base)/\(name)"
    }

    /// Everything before the last slash; `/` for a root entry, `.` where there is no slash.
    package static func parent(_ path: String) -> String {
        var bytes = Substring(path)
        while bytes.count > 1, bytes.hasSuffix("/") { bytes.removeLast() }
        guard let slash = bytes.lastIndex(of: "/") else { return bytes == "." ? "." : "." }
        return slash == bytes.startIndex ? "/" : String(bytes[..<slash])
    }

    /// What follows the last slash.
    package static func name(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// `.` and `..` and doubled slashes taken out by text alone, links not followed.
    package static func normalized(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/", omittingEmptySubsequences: true) where part != "." {
            if part == "..", let last = parts.last, last != ".." {
                parts.removeLast()
            } else if part != ".." || !path.hasPrefix("/") {
                parts.append(part)
            }
        }
        let joined = parts.joined(separator: "/")
        return path.hasPrefix("/") ? "/" + joined : joined.isEmpty ? "." : joined
    }
}
