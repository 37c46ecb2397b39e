package import HubCore

/// One cached branch: a ref that leads to a snapshot.
package struct CachedBranch: Sendable, Hashable {
    package var repository: Repository
    /// The name below `refs/`: `main`, `refs/pr/1`.
    package var name: String
    /// What it leads to.
    package var revision: CachedRevision

    /// As it is typed: `org/name`, `org/name@dev`.
    package var reference: ModelReference { ModelReference(repository, revision: name == "main" ? nil : name) }
}

extension CachedRepository {
    /// The branches and tags whose snapshots are here, by name.
    package var branches: [CachedBranch] {
        revisions.flatMap { revision in
            revision.refs.map { CachedBranch(repository: repository, name: $0, revision: revision) }
        }.sorted { $0.name < $1.name }
    }
}

/// What the Hub says of a cached branch.
package struct BranchAnswer: Sendable {
    package var branch: CachedBranch
    /// What the Hub says of the repository at the branch; nil where it could not be said.
    package var info: RepositoryInfo?
    /// What pulling the branch would do, where it has moved.
    package var plan: PullPlan?
    /// Why there is no plan though it has moved: the Hub has not got what earlier pulls chose any more.
    package var choiceFault: AIError?
    package var error: AIError?

    /// Whether the branch stands for another commit now.
    package var hasMoved: Bool { info.map { $0.commit != branch.revision.commit } ?? false }

    /// Whether the Hub said that what was fetched once cannot be fetched any more. An answer, not a failure to get one.
    package var isGone: Bool {
        let codes: [ErrorCode] = [.repositoryNotFound, .revisionNotFound, .gated, .disabled]
        return error.map { codes.contains($0.code) } ?? false
    }
}

/// Holds cached branches against the Hub: one request for each, and the tree of what has moved.
package struct BranchCheck: Sendable {
    private let puller: Puller
    /// Branches that are asked about at once.
    private static let width = 8

    package init(_ puller: Puller) { self.puller = puller }

    /// What the Hub says of each branch, in their order. Once the Hub cannot be reached, no more is asked of it, and the
    /// branches that are left have that error.
    ///
    /// - Throws: only where the task was cancelled.
    package func answers(_ branches: [CachedBranch]) async throws -> [BranchAnswer] {
        var answers: [Int: BranchAnswer] = [:]
        try await withThrowingTaskGroup(of: (Int, BranchAnswer).self) { group in
            var away: AIError?
            func take(_ index: Int, _ answer: BranchAnswer) {
                answers[index] = answer
                if let error = answer.error, [.unreachable, .timedOut].contains(error.code) {
                    away = away ?? error
                }
            }
            for (index, branch) in branches.enumerated() {
                if index >= Self.width, let (done, answer) = try await group.next() { take(done, answer) }
                if let away {
                    answers[index] = BranchAnswer(branch: branch, error: away)
                } else {
                    group.addTask { (index, try await answer(branch)) }
                }
            }
            for try await (done, answer) in group { take(done, answer) }
        }
        return branches.indices.compactMap { answers[$0] }
    }

    private func answer(_ branch: CachedBranch) async throws -> BranchAnswer {
        var answer = BranchAnswer(branch: branch)
        do {
            let info = try await puller.info(branch.reference)
            answer.info = info
            guard info.commit != branch.revision.commit else { return answer }
            let tree = try await puller.tree(of: branch.repository, at: info.commit)
            var reference = branch.reference
            reference.revision = branch.name
            var options = Puller.Options()
            options.earlierChoice = .isFollowed
            do {
                answer.plan = try await puller.plan(.init(reference: reference, tree: tree), options)
            } catch let error as AIError where [.nothingMatches, .invalidInput].contains(error.code) {
                answer.choiceFault = error
            }
        } catch {
            let error = AIError.wrapping(error)
            guard error.code != .cancelled else { throw error }
            answer.error = error
        }
        return answer
    }
}
