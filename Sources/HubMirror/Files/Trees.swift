import Catalog
import Fetcher
import HubCore
import HubServer

/// The files of one commit, as the transfer and as the protocol know them.
struct KnownTree: Sendable {
    var repository: Repository
    var tree: RepositoryTree
    var served: ServedRevision

    init(_ repository: Repository, _ tree: RepositoryTree) {
        self.repository = repository
        self.tree = tree
        served = ServedRevision(
            repository,
            files: tree.files.map { file in
                var served = ServedFile(
                    path: file.path, digest: file.digest, location: "", identity: FileIdentity(size: file.size))
                // Links do not say git's hash of an LFS file's pointer, so that stays as computed.
                if file.oid.contains(where: { $0 != "0" }) { served.oid = file.oid }
                return served
            }, commit: tree.commit.hash)
    }

    func file(_ path: String) -> RepositoryFile? {
        tree.files.first { ExactText($0.path) == ExactText(path) }
    }
}

/// The trees of commits, which never change: in memory, in the cache and the catalog, else from upstream.
final class Trees: Sendable {
    private struct Key: Hashable {
        var repository: Repository
        var commit: Commit
    }

    private struct State {
        var known: [Key: KnownTree] = [:]
        /// The oldest first.
        var order: [Key] = []
        var running: [Key: Task<KnownTree, any Error>] = [:]
    }

    private let upstream: Upstream
    private let state = Lock(State())
    private static let mostKnown = 256

    init(_ upstream: Upstream) { self.upstream = upstream }

    func tree(of repository: Repository, at commit: Commit, _ exchange: Exchange) async throws -> KnownTree {
        let key = Key(repository: repository, commit: commit)
        if let known = state.withLock({ $0.known[key] }) { return known }
        let task = state.withLock { state in
            if let task = state.running[key] { return task }
            let task = Task { [self] in
                defer { self.state.withLock { $0.running[key] = nil } }
                return try await find(key, exchange.credential)
            }
            state.running[key] = task
            return task
        }
        return try await task.value
    }

    /// Where the trees in memory have a content.
    func place(of sha256: String, in repository: Repository) -> (commit: Commit, path: String)? {
        let known = state.withLock { $0.known.values.filter { $0.repository == repository } }
        for tree in known {
            if let file = tree.tree.files.first(where: { $0.sha256 == sha256 }) {
                return (tree.tree.commit, file.path)
            }
        }
        return nil
    }

    private func find(_ key: Key, _ credential: Credential) async throws -> KnownTree {
        let workspace = upstream.workspace
        let folder = workspace.layout.repository(key.repository)
        let local = try await Blocking.run {
            let known = workspace.dispensable.use { catalog throws(AIError) in
                try catalog.tree(of: key.repository, at: key.commit)
            }
            return try (known ?? nil) ?? folder.readTree(key.commit)
        }
        if let local { return keep(key, local) }
        do {
            let tree = try await upstream.watching {
                try await upstream.puller(credential).tree(of: key.repository, at: key.commit)
            }
            return keep(key, tree)
        } catch let error as AIError where [.offline, .unreachable, .timedOut].contains(error.code) {
            // What another client left in the cache: its links say size and digest. It may be incomplete, so it is not
            // remembered.
            let files = try await Blocking.run { try folder.linkedFiles(of: key.commit) }
            guard !files.isEmpty else { throw error }
            return KnownTree(key.repository, RepositoryTree(commit: key.commit, files: files))
        }
    }

    private func keep(_ key: Key, _ tree: RepositoryTree) -> KnownTree {
        let known = KnownTree(key.repository, tree)
        state.withLock { state in
            guard state.known.updateValue(known, forKey: key) == nil else { return }
            state.order.append(key)
            if state.order.count > Self.mostKnown { state.known[state.order.removeFirst()] = nil }
        }
        return known
    }
}
