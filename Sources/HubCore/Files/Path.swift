/// Paths as text, without file system access. They are split by bytes, because to Swift a slash and a combining mark
/// are one character, different from "/".
package enum Path {
    private static let slash = UInt8(ascii: "/")

    /// `base/name`; an absolute `name` replaces `base`.
    package static func join(_ base: String, _ name: String) -> String {
        if name.utf8.first == slash || base.isEmpty { return name }
        return base.utf8.last == slash ? base + name : "\(base)/\(name)"
    }

    /// Everything before the last slash; `/` for a root entry, `.` if there is no slash.
    package static func parent(_ path: String) -> String {
        let bytes = withoutEnd(path).utf8
        guard let last = bytes.lastIndex(of: slash) else { return "." }
        return last == bytes.startIndex ? "/" : String(Substring(bytes[..<last]))
    }

    /// The part after the last slash.
    package static func name(_ path: String) -> String {
        guard let last = path.utf8.lastIndex(of: slash) else { return path }
        return String(Substring(path.utf8[path.utf8.index(after: last)...]))
    }

    /// The path without trailing slashes, for ``name(_:)``; `/` stays.
    package static func withoutEnd(_ path: String) -> String {
        var bytes = path.utf8[...]
        while bytes.count > 1, bytes.last == slash { bytes.removeLast() }
        return String(Substring(bytes))
    }

    /// The parts between the slashes.
    package static func parts(_ path: some StringProtocol, omittingEmpty: Bool = true) -> [Substring] {
        Substring(path).utf8.split(separator: slash, omittingEmptySubsequences: omittingEmpty).map { Substring($0) }
    }

    /// Removes `.`, `..` and doubled slashes textually, without following links.
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
