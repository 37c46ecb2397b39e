package import HubCore

/// What would free disk space at the least cost, as commands: first what nobody needs, then copies, then revisions that
/// no branch names, then the models that were not used for longest.
package struct StoreSuggestions: Sendable {
    package struct Line: Sendable, Hashable {
        package var command: String
        package var frees: Int64
        /// Why it stands where it stands, in a few words.
        package var reason: String
        /// When what it deletes was last used, seconds since 1970; nil where that does not matter.
        package var lastUsedAt: Double?
    }

    package private(set) var lines: [Line] = []
    private let target: Int64
    /// Bytes that are worth a command.
    private static let least: Int64 = 1_000_000

    /// - Parameter target: bytes; no further line is added once they are reached.
    package init(target: Int64 = 50_000_000_000) { self.target = target }

    package var frees: Int64 { lines.reduce(0) { $0 + $1.frees } }

    /// Adds a command, unless it frees next to nothing or enough is found.
    package mutating func add(
        _ command: String, frees bytes: Int64, _ reason: String, lastUsedAt: Double? = nil
    ) {
        guard bytes >= Self.least, frees < target else { return }
        lines.append(Line(command: command, frees: bytes, reason: reason, lastUsedAt: lastUsedAt))
    }

    /// Adds what deleting from the cache would free, after what was added before.
    package mutating func add(_ state: CacheState, _ protection: Protection, now: Double) throws(AIError) {
        for revisionsOnly in [false, true] {
            var policy = DeletionPolicy()
            if revisionsOnly { policy.detached = true } else { (policy.partials, policy.orphans) = (true, true) }
            let plan = try policy.plan(with: DeletionPlanner(state, protection: protection), now: now, diskFree: 0)
            if revisionsOnly {
                add("hub gc --detached", frees: plan.freedBytes, "no branch or tag names them")
            } else {
                add("hub gc --partials --orphans", frees: plan.freedBytes, "no revision needs them")
            }
        }
        var planner = DeletionPlanner(state, protection: protection)
        let byUse = state.repositories.filter(\.isReadable).sorted { left, right in
            (left.lastUsedAt ?? 0, left.repository.description) < (
                right.lastUsedAt ?? 0, right.repository.description
            )
        }
        for repository in byUse where frees < target {
            let before = planner.plan.freedBytes
            // Detached revisions are counted above.
            for revision in repository.revisions where !revision.refs.isEmpty {
                try planner.add(revision, of: repository, reason: "")
            }
            add(
                "hub rm \(repository.repository)", frees: planner.plan.freedBytes - before, "least recently used",
                lastUsedAt: repository.lastUsedAt)
        }
    }
}

extension CachedRepository {
    /// The last use of any of its revisions.
    var lastUsedAt: Double? { revisions.map(\.lastUsedAt).max() }
}
