/// Checks for names of files and revisions that came from a server or a person.
///
/// Python accepts `a/./b`, `a//b` and the empty name; on disk these are aliases of the same file, so they are rejected
/// here.
package enum RepositoryPath {
    /// Why a path cannot be a file of a repository; nil if it can.
    package static func fault(_ path: String) -> String? {
        if isPlain(path) { return nil }
        if path.isEmpty { return "the name is empty" }
        if path.utf8.count > 1024 { return "the name has more than 1,024 bytes" }
        // Bytes, not characters: to Swift a slash and a combining mark are one character, different from "/".
        if path.utf8.first == UInt8(ascii: "/") { return "the path is absolute" }
        if path.utf8.contains(0) || path.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            return "the name holds control characters"
        }
        // Python rejects these because of Windows, which may share the cache.
        if path.utf8.contains(UInt8(ascii: "\\")) { return "the name holds a backslash" }
        let first = path.utf8.prefix(2)
        if first.count == 2, first.last == UInt8(ascii: ":"), let drive = first.first,
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(drive & 0xDF)
        {
            return "the path names a drive"
        }
        let parts = Path.parts(path, omittingEmpty: false)
        for part in parts {
            if part == ".." { return "the path climbs out of the repository" }
            if part.isEmpty || part == "." { return "the path has an empty or \".\" part" }
            if part.utf8.count > 255 { return "a part of the name has more than 255 bytes" }
        }
        // Legal on disk, but never legitimate, and it would mislead code that splits paths by characters.
        if path.split(separator: "/", omittingEmptySubsequences: false).count != parts.count {
            return "a slash is joined to a mark"
        }
        return nil
    }

    /// Whether a path has backslashes in the place of slashes and no other fault: a file that was uploaded from Windows with
    /// its folder in its name. It is left out, and the rest of its repository fetched.
    package static func hasOnlyBackslashes(_ path: String) -> Bool {
        path.utf8.contains(UInt8(ascii: "\\")) && fault(path.replacing("\\", with: "/")) == nil
    }

    /// The fast path for nearly all paths: short, only visible ASCII, and no part begins with a dot.
    private static func isPlain(_ path: String) -> Bool {
        guard path.utf8.count <= 255 else { return false }
        var beginsPart = true
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "."):
                if beginsPart { return false }
                beginsPart = byte == UInt8(ascii: "/")
            case UInt8(ascii: "\\"), UInt8(ascii: ":"): return false
            case 0x20...0x7E: beginsPart = false
            default: return false
            }
        }
        return !beginsPart
    }

    /// Checks a path from a server.
    ///
    /// - Throws: ``ErrorCode/protocolViolation`` naming the path and the fault.
    package static func check(_ path: String, repository: String) throws(AIError) {
        if let fault = fault(path) {
            throw AIError(
                .protocolViolation, "the server names the file \"\(path.printable)\" in \(repository): \(fault)",
                context: .init(repository: repository))
        }
    }

    /// Checks a revision: a branch, tag, `refs/pr/1` or commit, which becomes a file name below `refs/`.
    ///
    /// - Throws: ``ErrorCode/invalidInput``.
    package static func checkRevision(_ revision: String) throws(AIError) {
        if let fault = fault(revision) {
            throw AIError(.invalidInput, "\"\(revision.printable)\" is not a revision: \(fault)")
        }
    }
}

/// A full commit hash: 40 lower-case hexadecimal digits. Anything else, upper case included, is the name of a branch
/// or tag.
public struct Commit: Sendable, Hashable, CustomStringConvertible {
    /// The 40 digits.
    public let hash: String
    /// nil if `text` is not 40 lower-case hexadecimal digits.
    public init?(_ text: String) {
        guard text.utf8.count == 40, text.utf8.allSatisfy(\.isLowercaseHex) else { return nil }
        hash = text
    }
    /// The 40 digits.
    public var description: String { hash }
    /// The first eight digits.
    public var short: String { String(hash.prefix(8)) }
}
