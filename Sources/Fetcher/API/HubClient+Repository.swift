package import Catalog
package import HubCore

/// The Hub's metadata of a repository at a revision.
package struct RepositoryInfo: Sendable, Hashable {
    package var record: ModelRecord
    /// The commit of the revision.
    package var commit: Commit
    /// The current name, if it was renamed.
    package var newName: String?
    /// The parameters by element type, `["BF16": 1115264]`, as the Hub counts those of safetensors.
    package var parameters: [String: Int64] = [:]
}

extension HubClient {
    /// One repository at a revision; nil means the main branch.
    package func info(_ repository: Repository, revision: String? = nil) async throws -> RepositoryInfo {
        let suffix = revision.map { "/revision/" + PercentEncoding.encode($0) } ?? ""
        let json = try await json(
            apiAddress(repository) + suffix, fault: fault(repository, revision: revision))
        guard let name = json["id"]?.string, let record = ModelRecord(json: json, kind: repository.kind) else {
            throw violation(repository, "the answer about \(repository) names no repository")
        }
        guard let commit = json["sha"]?.string.flatMap(Commit.init) else {
            throw violation(repository, "the answer about \(repository) has no commit")
        }
        var answer = RepositoryInfo(record: record, commit: commit)
        if name != repository.id.name {
            // A renamed repository answers under its new name; the result keeps the requested one.
            log("\(repository) is now called \(name.printable)")
            answer.record.repository = repository
            answer.newName = record.repository.id.name
        }
        for (type, count) in json["safetensors"]?["parameters"]?.object?.members ?? [] {
            if let count = count.int, count > 0 { answer.parameters[type] = count }
        }
        return answer
    }

    /// A repository's page with only one more field, by the Hub's name of it.
    package func expanded(_ repository: Repository, _ field: String) async throws -> JSON {
        try await json(apiAddress(repository) + Self.query([("expand[]", field)]), fault: fault(repository))
    }

    /// Branches and tags.
    package func revisions(_ repository: Repository) async throws -> [KnownRevision] {
        let json = try await json(apiAddress(repository) + "/refs", fault: fault(repository))
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

    /// The next page's address, from a page's link. It may be on another host if a mirror passes on the Hub's links;
    /// the token is not sent there, see ``HTTPClient/authorise(_:)``.
    func nextPage(_ link: String?, after page: String) throws(AIError) -> String? {
        guard let link else { return nil }
        guard let address = SafeAddress.resolve(link, against: page), let next = Origin(address),
            !(next.scheme == "http" && Origin(page)?.scheme == "https")
        else {
            throw AIError(
                .protocolViolation, "\(endpoint.origin) links to a next page whose address cannot be followed")
        }
        return address
    }

    func violation(_ repository: Repository, _ message: String) -> AIError {
        AIError(.protocolViolation, message, context: .init(repository: repository.description))
    }
}
