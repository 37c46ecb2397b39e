import HubCore

/// A scan of one repository folder as text, for the catalog to remember. A text of another version reads as nil, which
/// means: look again.
enum ScanText {
    private static let version: Int64 = 2

    static func write(_ repository: CachedRepository, remarks: [String]) -> String {
        func strings(_ list: [String]) -> JSON { .array(list.map { .string($0) }) }
        let revisions = repository.revisions.map { revision in
            JSON.object([
                "commit": .string(revision.commit.hash), "refs": strings(revision.refs),
                "complete": revision.isComplete.map { .bool($0) }, "downloaded": .double(revision.downloadedAt),
                "used": .double(revision.lastUsedAt),
                "files": .array(
                    revision.files.map { file in
                        .array([
                            .string(file.path), file.blob.map { .string($0) } ?? .null, physical(file.file),
                            .bool(file.isBroken),
                        ])
                    }),
            ])
        }
        func blob(_ blob: CachedBlob) -> JSON {
            .array([
                .string(blob.name), physical(blob.file), blob.sharedHash.map { .string($0) } ?? .null,
                .bool(blob.isForeign),
            ])
        }
        return JSON.object([
            "version": .int(version), "revisions": .array(revisions),
            "blobs": .array(repository.blobs.values.map(blob)), "partials": .array(repository.partials.map(blob)),
            "dangling": strings(repository.danglingRefs), "remarks": strings(remarks),
        ]).text()
    }

    static func read(_ text: String, _ folder: RepositoryFolder, _ repository: Repository) -> (
        repository: CachedRepository, remarks: [String]
    )? {
        guard let json = try? JSON.parse(text), json["version"]?.int == version,
            let revisions = json["revisions"]?.array,
            let blobs = json["blobs"]?.array, let partials = json["partials"]?.array
        else { return nil }
        func strings(_ json: JSON?) -> [String] { json?.array?.compactMap(\.string) ?? [] }
        var out = CachedRepository(
            folder: folder, repository: repository, revisions: [], blobs: [:], partials: [],
            danglingRefs: strings(json["dangling"]))
        for entry in revisions {
            guard let commit = entry["commit"]?.string.flatMap(Commit.init), let files = entry["files"]?.array,
                let downloaded = entry["downloaded"]?.double, let used = entry["used"]?.double
            else { return nil }
            var revision = CachedRevision(
                commit: commit, refs: strings(entry["refs"]), files: [], isComplete: entry["complete"]?.bool,
                downloadedAt: downloaded, lastUsedAt: used)
            for file in files {
                guard let parts = file.array, parts.count == 4, let path = parts[0].string,
                    let broken = parts[3].bool
                else { return nil }
                revision.files.append(
                    CachedFile(path: path, blob: parts[1].string, file: physical(parts[2]), isBroken: broken))
            }
            out.revisions.append(revision)
        }
        func blob(_ json: JSON) -> CachedBlob? {
            guard let parts = json.array, parts.count == 4, let name = parts[0].string,
                let isForeign = parts[3].bool
            else { return nil }
            return CachedBlob(
                name: name, file: physical(parts[1]), sharedHash: parts[2].string, isForeign: isForeign)
        }
        for entry in blobs {
            guard let blob = blob(entry) else { return nil }
            out.blobs[blob.name] = blob
        }
        for entry in partials {
            guard let blob = blob(entry) else { return nil }
            out.partials.append(blob)
        }
        return (out, strings(json["remarks"]))
    }

    private static func physical(_ file: PhysicalFile?) -> JSON {
        guard let file else { return .null }
        // Device and inode as text: they use all 64 bits.
        return .array([
            .int(file.size), .string(String(file.device)), .string(String(file.inode)),
            .int(Int64(clamping: file.links)),
            .double(file.modified), .double(file.accessed),
        ])
    }

    private static func physical(_ json: JSON) -> PhysicalFile? {
        guard let parts = json.array, parts.count == 6, let size = parts[0].int,
            let device = parts[1].string.flatMap({ UInt64($0) }),
            let inode = parts[2].string.flatMap({ UInt64($0) }), let links = parts[3].int,
            let modified = parts[4].double,
            let accessed = parts[5].double
        else { return nil }
        return PhysicalFile(
            size: size, device: device, inode: inode, links: UInt64(clamping: links), modified: modified,
            accessed: accessed)
    }
}
