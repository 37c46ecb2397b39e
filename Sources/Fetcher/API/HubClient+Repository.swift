package import Catalog
package import HubCore

/// What the Hub says of a repository at a revision.
package struct RepositoryInfo: Sendable, Hashable {
    package var record: ModelRecord
    /// The commit that the revision stands for.
    package var commit: Commit
    /// What the Hub calls it now, where that is another name than it was asked by.
    package var newName: String?
    /// The parameters by element type, `["BF16": 1115264]`, as the Hub counts those of safetensors.
    package var parameters: [String: Int64] = [:]
}

extension RepositoryTree {
    /// The most bytes that a tree's files may have together: 2^60.
    static let sizeLimit: Int64 = 1 << 60
}

extension HubClient {
    /// One repository at a revision; nil means the main branch.
    package func info(_ repository: Repository, revision: String? = nil) async throws -> RepositoryInfo {
        let suffix = revision.map { "/revision/" + PercentEncoding.encode($0) } ?? ""
        let (json, _) = try await json(
            apiAddress(repository) + suffix, fault: fault(repository, revision: revision))
        guard let name = json["id"]?.string, let record = ModelRecord(json: json, kind: repository.kind) else {
            throw violation(repository, "the answer about \(repository) names no repository")
        }
        guard let commit = json["sha"]?.string.flatMap(Commit.init) else {
            throw violation(repository, "the answer about \(repository) has no commit")
        }
        var answer = RepositoryInfo(record: record, commit: commit)
        if name != repository.id.name {
            // A renamed repository answers under its new name; what was asked for keeps the name it was asked by.
            log("\(repository) is now called \(name.printable)")
            answer.record.repository = repository
            answer.newName = record.repository.id.name
        }
        for (type, count) in json["safetensors"]?["parameters"]?.object?.members ?? [] {
            if let count = count.int, count > 0 { answer.parameters[type] = count }
        }
        return answer
    }

    /// All files of a commit: page after page, folders left out, every name checked.
    package func tree(_ repository: Repository, at commit: Commit) async throws -> RepositoryTree {
        var address: String? =
            apiAddress(repository) + "/tree/\(commit)"
            + Self.query([("recursive", "true"), ("expand", "false")])
        var files: [RepositoryFile] = []
        var total: Int64 = 0
        var seen: Set<ExactText> = []
        var pages: Set<String> = []
        while let page = address {
            guard pages.insert(page).inserted else {
                throw violation(repository, "the file list of \(repository) runs in a circle")
            }
            let (json, fields) = try await json(page, fault: fault(repository, revision: commit.hash))
            guard let entries = json.array else {
                throw violation(repository, "the file list of \(repository) is no list")
            }
            for entry in entries {
                guard let file = try file(entry, of: repository) else { continue }
                guard seen.insert(ExactText(file.path)).inserted else {
                    throw violation(repository, "the file list of \(repository) names \(file.path) twice")
                }
                // Whoever adds sizes up later must not overflow.
                guard file.size <= RepositoryTree.sizeLimit - total else {
                    throw violation(repository, "the files of \(repository) have more bytes than there can be")
                }
                total += file.size
                files.append(file)
            }
            address = try nextPage(fields, after: page)
        }
        // A name that is a file here and a folder there cannot lie on a disk.
        for file in files {
            var parent = Path.parent(file.path)
            while parent != "." {
                if seen.contains(ExactText(parent)) {
                    throw violation(
                        repository, "the file list of \(repository) has \(parent) as a file and as a folder")
                }
                parent = Path.parent(parent)
            }
        }
        return RepositoryTree(commit: commit, files: files)
    }

    /// One entry of a tree; nil for a folder.
    private func file(_ entry: JSON, of repository: Repository) throws(AIError) -> RepositoryFile? {
        guard let type = entry["type"]?.string, let path = entry["path"]?.string else {
            throw violation(repository, "an entry in the file list of \(repository) has no type or path")
        }
        guard type == "file" else { return nil }
        try RepositoryPath.check(path, repository: repository.description)
        let lfs = entry["lfs"]
        guard let size = (lfs?["size"] ?? entry["size"])?.int, size >= 0 else {
            throw violation(repository, "\(path) in \(repository) has no size")
        }
        guard let oid = entry["oid"]?.string, case .gitSHA1? = ContentDigest(etag: oid) else {
            throw violation(
                repository,
                "\(path) in \(repository) has the digest \"\((entry["oid"]?.string ?? "").printable)\", which is none"
            )
        }
        var sha256: String?
        if let lfs {
            guard let hash = lfs["oid"]?.string?.dropping(prefix: "sha256:") ?? lfs["oid"]?.string,
                case .sha256? = ContentDigest(etag: hash)
            else {
                throw violation(
                    repository,
                    "\(path) in \(repository) has the digest \"\((lfs["oid"]?.string ?? "").printable)\", which is none"
                )
            }
            sha256 = hash
        }
        // Redacted where access is not granted; then it is simply not known.
        let xet = entry["xetHash"]?.string.flatMap { hash -> String? in
            if case .sha256? = ContentDigest(etag: hash.lowercased()) { hash.lowercased() } else { nil }
        }
        return RepositoryFile(path: path, size: size, oid: oid, sha256: sha256, xetHash: xet)
    }

    /// Branches and tags.
    package func revisions(_ repository: Repository) async throws -> [KnownRevision] {
        let (json, _) = try await json(apiAddress(repository) + "/refs", fault: fault(repository))
        var out: [KnownRevision] = []
        for (key, kind) in [("branches", KnownRevision.Kind.branch), ("tags", .tag), ("converts", .convert)] {
            for entry in json[key]?.array ?? [] {
                guard let name = (kind == .convert ? entry["ref"] ?? entry["name"] : entry["name"])?.string,
                    let commit = entry["targetCommit"]?.string.flatMap(Commit.init),
                    RepositoryPath.fault(name) == nil
                else {
                    throw violation(repository, "an entry in the branches and tags of \(repository) is malformed")
                }
                out.append(KnownRevision(name: name, kind: kind, commit: commit))
            }
        }
        return out
    }

    /// The next page's address from a `Link` header. It may name another host, as a mirror passes the Hub's own links
    /// on; the token stays behind then, see ``HTTPClient/authorise(_:)``.
    func nextPage(_ fields: HTTPFields, after page: String) throws(AIError) -> String? {
        guard let link = fields.link("next") else { return nil }
        guard let address = SafeAddress.resolve(link, against: page), let next = Origin(address),
            !(next.scheme == "http" && Origin(page)?.scheme == "https")
        else {
            throw AIError(
                .protocolViolation, "\(endpoint.origin) links to a next page that is no address to follow")
        }
        return address
    }

    func violation(_ repository: Repository, _ message: String) -> AIError {
        AIError(.protocolViolation, message, context: .init(repository: repository.description))
    }
}
