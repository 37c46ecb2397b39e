/// Paths as text: no file system is asked. They are taken apart by bytes, as the system does, for to Swift a slash and a
/// mark after it are one character, which is not "/".
package enum Path {
    private static let slash = UInt8(ascii: "/")

    /// `base/name`; an absolute `name` stands for itself.
    package static func join(_ base: String, _ name: String) -> String {
        if name.utf8.first == slash || base.isEmpty { return name }
        return base.utf8.last == slash ? base + name : "\(base)/\(name)"
    }

    /// Everything before the last slash; `/` for a root entry, `.` where there is no slash.
    package static func parent(_ path: String) -> String {
        let bytes = withoutEnd(path).utf8
        guard let last = bytes.lastIndex(of: slash) else { return "." }
        return last == bytes.startIndex ? "/" : String(Substring(bytes[..<last]))
    }

    /// What follows the last slash.
    package static func name(_ path: String) -> String {
        guard let last = path.utf8.lastIndex(of: slash) else { return path }
        return String(Substring(path.utf8[path.utf8.index(after: last)...]))
    }

    /// The path without slashes at its end, as ``name(_:)`` wants it; `/` stays.
    package static func withoutEnd(_ path: String) -> String {
        var bytes = path.utf8[...]
        while bytes.count > 1, bytes.last == slash { bytes.removeLast() }
        return String(Substring(bytes))
    }

    /// What stands between the slashes.
    package static func parts(_ path: some StringProtocol, omittingEmpty: Bool = true) -> [Substring] {
        Substring(path).utf8.split(separator: slash, omittingEmptySubsequences: omittingEmpty).map { Substring($0) }
    }

    /// `.` and `..` and doubled slashes taken out by text alone, links not followed.
    package static func normalized(_ path: String) -> String {
        let isAbsolute = path.utf8.first == slash
        var parts: [Substring] = []
        for part in Self.parts(path) where part != "." {
            if part == "..", let last = parts.last, last != ".." {
                parts.removeLast()
            } else if part != ".." || !isAbsolute {
                parts.append(part)
            }
        }
        let joined = parts.joined(separator: "/")
        return isAbsolute ? "/" + joined : joined.isEmpty ? "." : joined
    }
}
