import HubCore

/// The git tree objects of a list of files, all of mode 100644.
/// https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
struct GitTree {
    /// The hash of the root tree.
    private(set) var root = ""
    /// Every folder below it, in the order of paths.
    private(set) var folders: [ServedFolder] = []

    /// - Parameter files: in byte order of their paths, as git sorts: a folder sorts as if its name ended in a slash.
    init(_ files: [ServedFile]) {
        root = build(files[...], prefix: 0)
        folders.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// - Parameter prefix: the bytes of the folder's own path with its slash.
    private mutating func build(_ files: ArraySlice<ServedFile>, prefix: Int) -> String {
        var content: [UInt8] = []
        var rest = files
        while let first = rest.first {
            let name = first.path.utf8.dropFirst(prefix)
            guard let slash = name.firstIndex(of: UInt8(ascii: "/")) else {
                content += Array("100644 ".utf8) + name + [0] + Self.bytes(first.oid)
                rest = rest.dropFirst()
                continue
            }
            let path = first.path.utf8[..<slash]
            let inside = first.path.utf8[...slash]
            let end = rest.firstIndex { !$0.path.utf8.starts(with: inside) } ?? rest.endIndex
            let oid = build(rest[..<end], prefix: inside.count)
            folders.append(ServedFolder(path: String(Substring(path)), oid: oid))
            content += Array("40000 ".utf8) + name[..<slash] + [0] + Self.bytes(oid)
            rest = rest[end...]
        }
        return Self.hash("tree", content).hex
    }

    /// git's hash of an object.
    static func hash(_ type: String, _ content: [UInt8]) -> ContentDigest {
        let hasher = ContentHasher(gitSize: Int64(content.count), type: type)
        hasher.update(content)
        return hasher.finish()
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        func value(_ digit: UInt8) -> UInt8 {
            digit > UInt8(ascii: "9") ? digit - UInt8(ascii: "a") + 10 : digit - UInt8(ascii: "0")
        }
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).map { value(digits[$0]) << 4 | value(digits[$0 + 1]) }
    }
}
