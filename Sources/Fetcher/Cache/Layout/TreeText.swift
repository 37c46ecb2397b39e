import HubCore

/// The text of `trees/<commit>.json`.
enum TreeText {
    /// One of its files. Its texts are valid during the call.
    struct File {
        var path: String
        var size: Int64
        var oid: JSONCursor.Text
        var sha256: JSONCursor.Text?
        var xetHash: JSONCursor.Text?
    }

    /// Calls `body` for each file; returns false if the text has another version or is invalid, possibly after some
    /// calls.
    static func read(_ bytes: [UInt8], _ body: (File) -> Void) -> Bool {
        let isSound = try? JSONCursor.read(bytes) { document in
            var (hasVersion, hasFiles) = (false, false)
            let isObject = document.members { key, value in
                if key.equals("format_version") { hasVersion = value.int == 1 }
                guard key.equals("files") else { return true }
                hasFiles = files(value, body)
                return hasFiles
            }
            return isObject && hasVersion && hasFiles
        }
        return isSound ?? false
    }

    private static func files(_ list: JSONCursor, _ body: (File) -> Void) -> Bool {
        var total: Int64 = 0
        return list.members { key, entry in
            let path = String(decoding: key, as: UTF8.self)
            // Python lists them.
            if RepositoryPath.hasOnlyBackslashes(path) { return true }
            guard let file = file(path, entry), file.size >= 0,
                file.size <= RepositoryTree.sizeLimit - total
            else { return false }
            total += file.size
            body(file)
            return true
        }
    }

    private static func file(_ path: String, _ entry: JSONCursor) -> File? {
        var (size, sizeInStore): (Int64?, Int64?)
        var (oid, sha256, xetHash): (JSONCursor.Text?, JSONCursor.Text?, JSONCursor.Text?)
        let isObject = entry.members { key, value in
            if key.equals("size") { size = value.int }
            if key.equals("lfs_size") { sizeInStore = value.int }
            if key.equals("blob_id") { oid = value.text }
            if key.equals("lfs_sha256") { sha256 = value.text }
            if key.equals("xet_hash") { xetHash = value.text }
            return true
        }
        guard isObject, RepositoryPath.fault(path) == nil, let size = sizeInStore ?? size, let oid,
            isDigest(oid, digits: 40), sha256.map({ isDigest($0, digits: 64) }) ?? true
        else { return nil }
        return File(path: path, size: size, oid: oid, sha256: sha256, xetHash: xetHash)
    }

    private static func isDigest(_ text: JSONCursor.Text, digits: Int) -> Bool {
        text.count == digits && text.allSatisfy(\.isLowercaseHex)
    }
}

extension RepositoryTree {
    /// Writes a file of `trees/`, which Python uses to check a snapshot's completeness offline. It lists all files of
    /// the repository, fetched or not. Readable by the group, unlike Python's own.
    func write(to path: String) throws(AIError) {
        let members = files.map { file -> (key: String, value: JSON) in
            (
                file.path,
                .object([
                    "size": .int(file.size), "blob_id": .string(file.oid),
                    "lfs_sha256": file.sha256.map { .string($0) },
                    "lfs_size": file.sha256.map { _ in .int(file.size) },
                    "xet_hash": file.xetHash.map { .string($0) },
                ])
            )
        }
        let json = JSON.object(["format_version": 1, "files": .object(JSONObject(members))])
        // Python sorts the paths, as the tree already is, and leaves the members in their own order.
        var style = JSON.Style.pythonTree
        style.sortsKeys = false
        try FileSystem.createDirectories(Path.parent(path))
        try FileSystem.replace(path, with: Array(json.text(style).utf8))
    }
}
