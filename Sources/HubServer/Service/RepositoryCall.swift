import HubCore

/// A request about one existing repository that the client may see.
struct RepositoryCall {
    let call: HubCall
    let repository: Repository
    let served: any ServedRepository
    let card: RepositoryCard

    func answer(_ route: HubRoute) throws(HubFault) -> HTTPResponse {
        switch route {
        case .info(_, let name): return try info(name)
        case .tree(_, let name, let path): return try tree(name, path)
        case .refs: return try refs()
        case .pathsInfo(_, let name): return try pathsInfo(name)
        case .resolve(_, let name, let path): return try resolve(name, path, isCached: false)
        case .resolveCache(_, let commit, let path): return try resolve(commit, path, isCached: true)
        case .whoami, .agentHarnesses, .list: throw .page
        }
    }

    func revision(_ name: String) throws(HubFault) -> ServedRevision {
        guard let found = try call.service.reading({ () throws(AIError) in try served.revision(name) }) else {
            throw .revision(name)
        }
        return found
    }

    /// Metadata of a gated repository is open to all, its files are not.
    private func gate() throws(HubFault) {
        if card.isGated, call.identity != .owner { throw .gated(repository, call.identity) }
    }

    private func info(_ name: String) throws(HubFault) -> HTTPResponse {
        let revision = try revision(name)
        let blobs = call.query.flag("blobs")
        var fields = card.fields
        fields["sha"] = .string(revision.commit)
        fields["siblings"] = .array(revision.files.map { $0.sibling(withBlobs: blobs) })
        let expand = call.query.list("expand")
        if !expand.isEmpty { fields = fields.keeping(["_id", "id"] + expand) }
        return .json(.object(fields))
    }

    private func refs() throws(HubFault) -> HTTPResponse {
        let refs = try call.service.reading { () throws(AIError) in try served.refs() }
        func list(_ prefix: String) -> JSON {
            .array(
                refs.filter { $0.ref.hasPrefix(prefix) }.map {
                    .object(["name": .string($0.name), "ref": .string($0.ref), "targetCommit": .string($0.commit)])
                })
        }
        var fields: JSONObject = [
            "branches": list("refs/heads/"), "converts": list("refs/convert/"), "tags": list("refs/tags/"),
        ]
        if call.query.flag("include_prs") { fields["pullRequests"] = list("refs/pr/") }
        return .json(.object(fields))
    }

    private func resolve(_ name: String, _ path: String, isCached: Bool) throws(HubFault) -> HTTPResponse {
        try gate()
        let revision = try revision(name)
        guard let file = revision.file(path) else { throw .entry("Entry not found", commit: revision.commit) }
        let asked = FileRequest(
            repository: repository, commit: revision.commit, file: file, request: call.request, isCached: isCached)
        let response = try call.service.reading { () throws(AIError) in try call.service.delivery.deliver(asked) }
        // The file changed between stat and open; its commit is gone.
        guard let response else { throw .revision(name) }
        return response
    }
}

extension ServedFile {
    /// An item of `siblings`.
    func sibling(withBlobs: Bool) -> JSON {
        var fields: JSONObject = ["rfilename": .string(path)]
        if withBlobs {
            fields["size"] = .int(size)
            fields["blobId"] = .string(oid)
            fields["lfs"] = lfs.map {
                .object(["sha256": .string($0.sha256), "size": .int(size), "pointerSize": .int(Int64($0.size))])
            }
        }
        return .object(fields)
    }

    /// An item of `tree` and `paths-info`, where the hash is called `oid`.
    var treeEntry: JSONObject {
        var fields: JSONObject = [
            "type": "file", "oid": .string(oid), "size": .int(size), "path": .string(path),
        ]
        fields["lfs"] = lfs.map {
            .object(["oid": .string($0.sha256), "size": .int(size), "pointerSize": .int(Int64($0.size))])
        }
        fields["xetHash"] = xetHash.map { .string($0) }
        return fields
    }
}

extension JSONObject {
    /// The members of these names, in this object's order.
    func keeping(_ names: [String]) -> JSONObject { JSONObject(members.filter { names.contains($0.key) }) }
}
