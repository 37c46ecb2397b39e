package import HubCore

/// A route of the Hub. `{id}` is one part or two, so an address can be ambiguous (`/api/models/gpt2/refs`: the refs of
/// gpt2, or the model gpt2/refs); all readings are returned, the likelier first.
package enum HubRoute: Sendable, Hashable {
    case whoami
    case agentHarnesses
    case list(RepositoryKind)
    case info(Repository, revision: String)
    case tree(Repository, revision: String, path: String)
    case refs(Repository)
    case pathsInfo(Repository, revision: String)
    case resolve(Repository, revision: String, path: String)
    /// The Hub's redirect target for a small file: the same file by commit.
    case resolveCache(Repository, commit: String, path: String)

    package var repository: Repository? {
        switch self {
        case .whoami, .agentHarnesses, .list: nil
        case .info(let repository, _), .tree(let repository, _, _), .refs(let repository),
            .pathsInfo(let repository, _), .resolve(let repository, _, _), .resolveCache(let repository, _, _):
            repository
        }
    }

    /// The methods that the route accepts.
    package var methods: [String] {
        if case .pathsInfo = self { ["POST"] } else { ["GET", "HEAD"] }
    }

    package static func readings(_ parts: [String]) -> [HubRoute] {
        guard parts.first == "api" else {
            let kind = RepositoryKind.allCases.first { $0 != .model && $0.plural == parts.first }
            return identified(kind ?? .model, parts.dropFirst(kind == nil ? 0 : 1), resolve)
        }
        switch parts.dropFirst().first {
        case "whoami-v2" where parts.count == 2: return [.whoami]
        case "agent-harnesses" where parts.count == 2: return [.agentHarnesses]
        case "resolve-cache" where parts.count > 3:
            guard let kind = kind(plural: parts[2]) else { return [] }
            return identified(kind, parts.dropFirst(3)) { repository, rest in
                guard let commit = rest.first, rest.count > 1 else { return nil }
                return .resolveCache(repository, commit: commit, path: rest.dropFirst().joined(separator: "/"))
            }
        default:
            guard parts.count > 1, let kind = kind(plural: parts[1]) else { return [] }
            return parts.count == 2 ? [.list(kind)] : identified(kind, parts.dropFirst(2), api)
        }
    }

    private static func kind(plural: String) -> RepositoryKind? {
        RepositoryKind.allCases.first { $0.plural == plural }
    }

    /// The readings of `{id}/rest`, the id of two parts first.
    private static func identified(
        _ kind: RepositoryKind, _ parts: ArraySlice<String>, _ read: (Repository, ArraySlice<String>) -> HubRoute?
    ) -> [HubRoute] {
        [2, 1].compactMap { count in
            guard parts.count >= count, !parts.prefix(count).contains(where: { $0.contains("/") }),
                let id = try? RepositoryID(parts.prefix(count).joined(separator: "/"))
            else { return nil }
            return read(Repository(kind, id), parts.dropFirst(count))
        }
    }

    private static func api(_ repository: Repository, _ rest: ArraySlice<String>) -> HubRoute? {
        guard let action = rest.first else { return .info(repository, revision: "main") }
        let (revision, path) = splitRevision(rest.dropFirst())
        switch action {
        case "refs" where rest.count == 1: return .refs(repository)
        case "revision": return path.isEmpty ? revision.map { .info(repository, revision: $0) } : nil
        case "tree": return revision.map { .tree(repository, revision: $0, path: path) }
        case "paths-info": return path.isEmpty ? revision.map { .pathsInfo(repository, revision: $0) } : nil
        default: return nil
        }
    }

    private static func resolve(_ repository: Repository, _ rest: ArraySlice<String>) -> HubRoute? {
        guard rest.first == "resolve" else { return nil }
        let (revision, path) = splitRevision(rest.dropFirst())
        guard let revision, !path.isEmpty else { return nil }
        return .resolve(repository, revision: revision, path: path)
    }

    /// A revision is one part (`main`, `refs%2Fpr%2F1`), or a full ref written with its slashes.
    private static func splitRevision(_ parts: ArraySlice<String>) -> (revision: String?, path: String) {
        let isRef =
            parts.count >= 3 && parts.first == "refs"
            && ["heads", "tags", "pr", "convert"].contains(parts[parts.startIndex + 1])
        let count = isRef ? 3 : 1
        guard parts.count >= count else { return (nil, "") }
        return (parts.prefix(count).joined(separator: "/"), parts.dropFirst(count).joined(separator: "/"))
    }
}
