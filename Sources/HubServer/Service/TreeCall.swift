import HubCore

extension RepositoryCall {
    /// `/tree/{rev}[/{path}]`: a folder's entries; with `recursive`, everything below it.
    func tree(_ name: String, _ path: String) throws(HubFault) -> HTTPResponse {
        let revision = try revision(name)
        guard path.isEmpty || revision.folder(path) != nil else {
            throw .entry("\(path) does not exist on \"\(name)\"", commit: revision.commit)
        }
        let prefix = Array((path.isEmpty ? "" : path + "/").utf8)
        let isRecursive = call.query.flag("recursive")
        func isWanted(_ path: String) -> Bool {
            path.utf8.starts(with: prefix)
                && (isRecursive || !path.utf8.dropFirst(prefix.count).contains(UInt8(ascii: "/")))
        }
        // Both lists are in the order of paths; merged, a folder comes before its contents.
        var entries = revision.folders.filter { isWanted($0.path) }.map { ($0.path, $0.treeEntry) }
        entries += revision.files.filter { isWanted($0.path) }.map { ($0.path, $0.treeEntry) }
        entries.sort { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
        let sizes = call.service.pages
        let size = call.query.flag("expand") ? sizes.expandedTree : sizes.tree
        return try call.page(entries.map(\.1), size: size) { entry throws(HubFault) in expanded(entry, revision) }
    }

    /// `/paths-info/{rev}`: the entries of the paths in the body; missing paths are left out.
    func pathsInfo(_ name: String) throws(HubFault) -> HTTPResponse {
        let revision = try revision(name)
        let (paths, expand) = try wanted()
        let entries = paths.compactMap { path -> JSONObject? in
            let path = path.hasSuffix("/") ? String(path.dropLast()) : path
            return revision.file(path)?.treeEntry ?? revision.folder(path)?.treeEntry
        }
        return .json(.array(entries.map { .object(expand ? withCommit($0, revision) : $0) }))
    }

    /// The body as a form (sent by Python) or as JSON (sent by JavaScript).
    private func wanted() throws(HubFault) -> (paths: [String], expand: Bool) {
        let body = call.request.body
        if call.request.headers["Content-Type"]?.lowercased().hasPrefix("application/json") == true {
            guard let json = try? JSON.parse(body), let paths = json["paths"] else {
                throw .badRequest("the body is not a JSON object with paths")
            }
            guard let list = paths.array?.map(\.string) ?? paths.string.map({ [$0] }), !list.contains(nil) else {
                throw .badRequest("paths is a list of strings")
            }
            return (list.compactMap { $0 }, json["expand"]?.bool == true)
        }
        guard let text = String(validating: body, as: UTF8.self) else { throw .badRequest("the body is not UTF-8") }
        do throws(HTTPFault) {
            let form = try HTTPQuery(text)
            return (
                form.items.filter { $0.key == "paths" || $0.key == "paths[]" }.map(\.value), form.flag("expand")
            )
        } catch { throw .malformed(error) }
    }

    private func expanded(_ entry: JSONObject, _ revision: ServedRevision) -> JSONObject {
        call.query.flag("expand") ? withCommit(entry, revision) : entry
    }

    /// Adds the members of `expand`. A served folder has no history, so every entry has the current commit.
    private func withCommit(_ entry: JSONObject, _ revision: ServedRevision) -> JSONObject {
        var out = entry
        out["lastCommit"] = .object([
            "id": .string(revision.commit), "title": "As served", "date": card.fields["lastModified"],
        ])
        return out
    }
}

extension ServedFolder {
    var treeEntry: JSONObject {
        ["type": "directory", "oid": .string(oid), "size": 0, "path": .string(path)]
    }
}
