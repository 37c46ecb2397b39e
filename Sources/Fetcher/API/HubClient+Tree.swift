package import HubCore

extension HubClient {
    /// All files of a commit: page after page, folders left out, every name checked.
    package func tree(_ repository: Repository, at commit: Commit) async throws -> RepositoryTree {
        var address: String? =
            apiAddress(repository) + "/tree/\(commit)"
            + Self.query([("recursive", "true"), ("expand", "false")])
        let name = "the file list of \(repository)"
        let reader = TreeReader(repository: repository, token: http.token)
        let intake = ListIntake<RepositoryFile>(name, read: reader.read)
        var bounds = ListBounds(name)
        while let page = address {
            try bounds.begin(page)
            let before = intake.count
            let fields = try await self.page(page, into: intake, fault: fault(repository, revision: commit.hash))
            try bounds.add(intake.count - before)
            address = try nextPage(fields.link("next"), after: page)
        }
        let tree = RepositoryTree(commit: commit, files: intake.takeEntries())
        try check(tree, of: repository)
        let leftOut = Set(reader.leftOut.withLock { $0 }).sorted()
        if let first = leftOut.first {
            let more = leftOut.count > 1 ? " and \(leftOut.count - 1) more" : ""
            notice(
                "\(repository): left out \(first.printable)\(more): a name with a backslash cannot be stored"
            )
        }
        return tree
    }

    /// Rejects a tree that cannot be stored on disk, or whose sizes overflow.
    private func check(_ tree: RepositoryTree, of repository: Repository) throws(AIError) {
        let name = "the file list of \(repository)"
        var total: Int64 = 0
        var last: String?
        var parent: String?
        for file in tree.files {
            if let last, ExactText(last) == ExactText(file.path) {
                throw violation(repository, "\(name) names \(file.path) twice")
            }
            last = file.path
            guard file.size <= RepositoryTree.sizeLimit - total else {
                throw violation(repository, "the files of \(repository) have more bytes than there can be")
            }
            total += file.size
            // The files of a folder are adjacent.
            var folder = Path.parent(file.path)
            guard folder != parent else { continue }
            parent = folder
            while folder != "." {
                if tree.hasFile(folder) {
                    throw violation(repository, "\(name) has \(folder) as a file and as a folder")
                }
                folder = Path.parent(folder)
            }
        }
    }
}

extension RepositoryTree {
    /// Whether there is a file of this path.
    fileprivate func hasFile(_ path: String) -> Bool {
        var range = files.indices
        while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
            if ExactText(files[middle].path) == ExactText(path) { return true }
            range =
                ExactText.precedes(files[middle].path, path)
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return false
    }
}

/// Parses the entries of a tree.
private struct TreeReader: Sendable {
    let repository: Repository
    let token: AccessToken?
    /// Files that cannot be stored, while the others can.
    let leftOut = Lock<[String]>([])

    /// Reads a list of entries; returns their number, folders included.
    func read(_ document: [UInt8], into files: inout [RepositoryFile]) throws -> Int {
        var fault: AIError?
        return try JSONCursor.read(document) { list in
            _ = list.elements { entry in
                do throws(AIError) {
                    if let file = try file(entry) { files.append(file) }
                    return true
                } catch {
                    fault = error
                    return false
                }
            }
            if let fault { throw fault }
            return list.count
        }
    }

    /// The members of an entry.
    private struct Entry {
        var type: JSONCursor.Text?
        var path: JSONCursor.Text?
        var size: Int64?
        var oid: JSONCursor.Text?
        var lfs: JSONCursor?
        var xetHash: JSONCursor.Text?

        init(_ json: JSONCursor) {
            _ = json.members { key, value in
                if key.equals("type") { type = value.text }
                if key.equals("path") { path = value.text }
                if key.equals("size") { size = value.int }
                if key.equals("oid") { oid = value.text }
                if key.equals("lfs") { lfs = value.isNull ? nil : value }
                if key.equals("xetHash") { xetHash = value.text }
                return true
            }
        }
    }

    /// nil for a folder, and for a file that is left out.
    private func file(_ json: JSONCursor) throws(AIError) -> RepositoryFile? {
        let entry = Entry(json)
        guard let type = entry.type, let bytes = entry.path else {
            throw violation("an entry in the file list of \(repository) has no type or path")
        }
        guard type.equals("file") else { return nil }
        let path = text(bytes)
        guard !RepositoryPath.hasOnlyBackslashes(path) else {
            leftOut.withLock { $0.append(path) }
            return nil
        }
        try RepositoryPath.check(path, repository: repository.description)
        var (size, sha256) = (entry.size, JSONCursor.Text?.none)
        if let lfs = entry.lfs {
            let object = Entry(lfs)
            size = object.size ?? size
            sha256 = object.oid.map { Self.withoutPrefix($0) }
            guard let sha256, Self.isDigest(sha256, 64) else { throw noDigest(path, object.oid) }
        }
        guard let size, size >= 0 else { throw violation("\(path) in \(repository) has no size") }
        guard let oid = entry.oid, Self.isDigest(oid, 40) else { throw noDigest(path, entry.oid) }
        // Redacted without access; then it is unknown.
        var xetHash = entry.xetHash.map { String(decoding: $0, as: UTF8.self).lowercased() } ?? ""
        return xetHash.withUTF8 { xet in
            RepositoryFile(
                path: path, size: size, oid: oid, sha256: sha256, xetHash: Self.isDigest(xet, 64) ? xet : nil)
        }
    }

    private func text(_ bytes: JSONCursor.Text) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return token?.masked(in: text) ?? text
    }

    private func noDigest(_ path: String, _ digest: JSONCursor.Text?) -> AIError {
        violation(
            "\(path) in \(repository) has the digest \"\((digest.map(text) ?? "").printable)\", which is not one")
    }

    private func violation(_ message: String) -> AIError {
        AIError(.protocolViolation, message, context: .init(repository: repository.description))
    }

    private static func withoutPrefix(_ digest: JSONCursor.Text) -> JSONCursor.Text {
        let prefix = "sha256:".utf8
        return digest.starts(with: prefix) ? JSONCursor.Text(rebasing: digest.dropFirst(prefix.count)) : digest
    }

    private static func isDigest(_ text: JSONCursor.Text, _ digits: Int) -> Bool {
        text.count == digits && text.allSatisfy(\.isLowercaseHex)
    }
}
