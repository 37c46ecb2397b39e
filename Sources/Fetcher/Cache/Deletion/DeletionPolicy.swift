package import Catalog
package import HubCore

/// The options of `hub gc`: kinds of items (any), conditions on revisions (all), and targets, reached by deleting the
/// least recently used first.
package struct DeletionPolicy: Sendable {
    /// Revisions without a branch or tag.
    package var detached = false
    /// Unfinished downloads.
    package var partials = false
    /// Blobs and payloads without links, and repositories without revisions.
    package var orphans = false
    /// Damaged revisions: a broken link, a file of the wrong size.
    package var damaged = false
    /// Damage found by verification although the size is right.
    package var verified = VerifiedContent()
    /// Revisions not used for this many seconds; 0 means all.
    package var olderThan: Double?
    /// Items to keep in any case.
    package var keep: [ModelReference] = []
    /// Delete until the cache has at most this many bytes.
    package var maxSize: Int64?
    /// Delete until this many bytes are free on the disk.
    package var free: Int64?

    package init() {}

    /// Whether nothing is requested.
    package var isEmpty: Bool {
        !detached && !partials && !orphans && !damaged && olderThan == nil && maxSize == nil && free == nil
    }

    /// A planner's plan with this policy's items added.
    ///
    /// - Parameter diskFree: bytes free on the cache's file system now.
    package func plan(with planner: DeletionPlanner, now: Double, diskFree: Int64) throws(AIError) -> DeletionPlan {
        var planner = planner
        try addLeftovers(to: &planner)
        guard detached || damaged || olderThan != nil || hasTarget else { return planner.plan }
        // A target counts all repositories.
        for repository in planner.state.repositories where maxSize != nil { try planner.ledger.enter(repository) }
        var chosen = try candidates(&planner, now: now)
        let before = planner
        if hasTarget { chosen = try freeing(chosen, after: before) }
        for candidate in chosen {
            if hasTarget, unreached(planner, diskFree).isEmpty { break }
            try planner.add(candidate.revision, of: candidate.repository, reason: candidate.reason)
        }
        if hasTarget {
            let going = chosen.filter { planner.isGoing($0.revision, of: $0.repository) }
            let needed = try freeing(going, after: before)
            if needed.count < going.count {
                planner.takeBack(to: before)
                for candidate in needed {
                    try planner.add(candidate.revision, of: candidate.repository, reason: candidate.reason)
                }
            }
        }
        planner.plan.unreached = unreached(planner, diskFree)
        return planner.plan
    }

    /// Leaves out what frees nothing, even together with the others: something else has its files, or their blocks.
    private func freeing(_ candidates: [Candidate], after planner: DeletionPlanner) throws(AIError) -> [Candidate] {
        var ledger = planner.ledger
        var choices: [DeletionLedger.Choice] = []
        for candidate in candidates {
            choices.append(
                try ledger.choice(candidate.revision.files, of: candidate.repository, isRevision: true))
        }
        for choice in choices { ledger.take(choice) }
        var out: [Candidate] = []
        // Of two that can stay, the more recently used one does.
        for (candidate, choice) in zip(candidates, choices).reversed()
        where ledger.take(choice, back: true).freed.size != 0 {
            ledger.take(choice)
            out.append(candidate)
        }
        return out.reversed()
    }

    private var hasTarget: Bool { maxSize != nil || free != nil }

    /// Partials, orphans and payloads.
    private func addLeftovers(to planner: inout DeletionPlanner) throws(AIError) {
        for repository in planner.state.repositories {
            if partials { try planner.addPartials(of: repository) }
            guard orphans else { continue }
            if repository.revisions.isEmpty, repository.partials.isEmpty {
                try planner.add(repository, reason: "the folder holds no revision")
            } else {
                try planner.addOrphans(of: repository)
            }
        }
        if orphans { planner.addUnusedPayloads() }
    }

    private struct Candidate {
        var repository: CachedRepository
        var revision: CachedRevision
        var reason: String
    }

    /// The revisions that the conditions select, the least recently used first. Those to keep are recorded.
    private func candidates(_ planner: inout DeletionPlanner, now: Double) throws(AIError) -> [Candidate] {
        var candidates: [Candidate] = []
        for repository in planner.state.repositories {
            // Finishing an interrupted deletion counts towards a target too.
            for revision in repository.revisions where !planner.isGoing(revision, of: repository) {
                // A resumable first download is deleted only if unfinished downloads are requested too.
                let isDetached =
                    detached && revision.refs.isEmpty && (partials || !repository.isUnfinishedFirstDownload)
                let damage = damaged ? try repository.damage(of: revision, verified) : nil
                if detached || damaged, !isDetached, damage == nil { continue }
                // Zero means everything, including times in the future from a wrong clock.
                if let olderThan, olderThan > 0, now - revision.lastUsedAt < olderThan { continue }
                if keep.contains(where: { $0.names(revision, of: repository) }) {
                    planner.protect(repository, revision.commit, .kept)
                    continue
                }
                let reason = reason(for: revision, isDetached, damage, now: now)
                candidates.append(Candidate(repository: repository, revision: revision, reason: reason))
            }
        }
        return candidates.sorted { $0.revision.lastUsedAt < $1.revision.lastUsedAt }
    }

    /// The targets that a plan does not reach.
    private func unreached(_ planner: DeletionPlanner, _ diskFree: Int64) -> [DeletionPlan.Unreached] {
        var out: [DeletionPlan.Unreached] = []
        let (size, freed) = (planner.ledger.neededBytes, planner.ledger.freedBytes)
        if let maxSize, size > maxSize { out.append(.size(wanted: maxSize, reached: size)) }
        if let free, diskFree + freed < free { out.append(.free(wanted: free, now: diskFree)) }
        return out
    }

    private func reason(for revision: CachedRevision, _ isDetached: Bool, _ damage: String?, now: Double) -> String
    {
        var parts: [String] = []
        if let damage { parts.append(damage) }
        if isDetached { parts.append("no branch or tag points to it") }
        if olderThan != nil {
            let days = Int((now - revision.lastUsedAt) / 86400)
            parts.append(
                days < 1 ? "last used today" : days == 1 ? "last used yesterday" : "last used \(days) days ago")
        } else if hasTarget {
            parts.append("least recently used")
        }
        let targets = [maxSize.map { "--max-size \(ByteCount($0))" }, free.map { "--free \(ByteCount($0))" }]
        let text = targets.compactMap(\.self).joined(separator: " and ")
        return parts.joined(separator: "; ") + (hasTarget ? ", for \(text)" : "")
    }
}

extension CachedRepository {
    /// Whether its first download was interrupted and can be resumed: the ref is written after all files.
    package var isUnfinishedFirstDownload: Bool {
        !revisions.isEmpty && revisions.allSatisfy(\.refs.isEmpty)
            && partials.contains { $0.name.hasSuffix(".hub.incomplete") }
    }

    /// The damage of a revision, by links, sizes and verification; nil for none. Files that were never requested are
    /// not damage.
    package func damage(of revision: CachedRevision, _ verified: VerifiedContent) throws(AIError) -> String? {
        if let broken = revision.files.first(where: \.isBroken) { return "\(broken.path) is a broken link" }
        let tree = try folder.readTree(revision.commit)
        let sizes = Dictionary((tree?.files ?? []).map { (ExactText($0.path), $0.size) }) { first, _ in first }
        for file in revision.files {
            guard let wanted = sizes[ExactText(file.path)],
                let found = (file.file ?? file.blob.flatMap { blobs[$0]?.file })?.size, found != wanted
            else { continue }
            return "\(file.path) has \(found) bytes, not \(wanted)"
        }
        return try revision.knownDamage(verified, in: folder).map { "hub verify found \($0) damaged" }
    }
}

extension CacheState {
    /// Whether a reference matches a cached revision.
    package func holds(_ reference: ModelReference) -> Bool {
        repositories.contains { repository in
            repository.revisions.contains { reference.names($0, of: repository) }
        }
    }
}

extension ModelReference {
    /// Whether this reference matches a cached revision: by repository, by ref, or by commit (at least seven digits).
    package func names(_ revision: CachedRevision, of repository: CachedRepository) -> Bool {
        names(revision.commit, refs: revision.refs, of: repository.repository)
    }

    /// Whether this reference matches a revision with these refs.
    package func names(_ commit: Commit, refs: [String], of repository: Repository) -> Bool {
        guard repository == self.repository else { return false }
        guard let wanted = revision else { return true }
        return refs.contains(wanted) || commit.hash == wanted
            || (wanted.utf8.count >= 7 && wanted.utf8.allSatisfy(\.isLowercaseHex) && commit.hash.hasPrefix(wanted))
    }
}
